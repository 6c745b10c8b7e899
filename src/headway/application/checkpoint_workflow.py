"""Save a checkpoint: mark progress at a step without leaving it."""

from headway.application.continue_workflow import APPEND_ATTEMPTS_MAX
from headway.application.engine import Engine
from headway.application.loading import load, open_allowed
from headway.application.recording import record
from headway.application.replies import rehydrate_call
from headway.application.requests import CheckpointWorkflow, Reply
from headway.domain.commands import Facts, SaveCheckpoint
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import SessionBusy
from headway.domain.ids import checkpoint_node
from headway.ports.ledger import Conflict


def checkpoint_workflow(engine: Engine, request: CheckpointWorkflow) -> Reply:
    """Save a checkpoint and return a token to resume from it; repeating the call changes nothing.

    Raises TokenFault, SessionNotHealthy, SessionBusy.
    """
    nonce = open_allowed(engine, request.checkpoint_token, frozenset({"ck"}))
    for _ in range(APPEND_ATTEMPTS_MAX):
        loaded = load(engine, nonce)
        scene = loaded.scene
        command = SaveCheckpoint(attempt=loaded.row.attempt)
        decision = decide(scene.state, command, Facts(workflow=scene.workflow))
        try:
            if isinstance(decision, Accepted):
                record(engine, scene, decision)
        except Conflict:
            continue
        token = scene.token("ct", loaded.row.attempt)
        return {
            "checkpointNodeId": checkpoint_node(loaded.row.attempt),
            "resumeToken": scene.token("st", loaded.row.attempt),
            "nextCall": rehydrate_call(token, loaded.started.workspace),
        }
    raise SessionBusy(
        f"Other calls changed this session {APPEND_ATTEMPTS_MAX} times while this one waited.",
        remedy="Repeat the call with the same token; it is safe.",
    )
