"""Save a checkpoint: mark progress at a step without leaving it."""

from headway.application.engine import Engine
from headway.application.loading import Loaded, open_allowed
from headway.application.recording import record
from headway.application.replies import rehydrate_call
from headway.application.requests import CheckpointWorkflow, Reply
from headway.application.settling import settle
from headway.domain.commands import Facts, SaveCheckpoint
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.ids import checkpoint_node


def checkpoint_workflow(engine: Engine, request: CheckpointWorkflow) -> Reply:
    """Save a checkpoint and return a token to resume from it; repeating the call changes nothing.

    Raises TokenFault, SessionNotHealthy, SessionBusy.
    """
    admitted = open_allowed(engine, request.checkpoint_token, frozenset({"ck"}))
    return settle(engine, admitted, lambda loaded: _save(engine, loaded))


def _save(engine: Engine, loaded: Loaded) -> Reply:
    scene = loaded.scene
    command = SaveCheckpoint(attempt=loaded.row.attempt)
    decision = decide(scene.state, command, Facts(workflow=scene.workflow))
    if isinstance(decision, Accepted):
        record(engine, scene, decision)
    token = scene.token("ct", loaded.row.attempt)
    return {
        "checkpointNodeId": checkpoint_node(loaded.row.attempt),
        "resumeToken": scene.token("st", loaded.row.attempt),
        "nextCall": rehydrate_call(token, loaded.started.workspace),
    }
