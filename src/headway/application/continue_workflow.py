"""Continue a session: hand in the work on a step, or read the step again."""

from typing import assert_never

from headway.application.checking import MayTakeLong, settle_checked
from headway.application.engine import Engine
from headway.application.loading import Loaded, load, open_allowed, or_purged
from headway.application.recording import record
from headway.application.rehydrating import binding_drift, rehydrate
from headway.application.replaying import log_replay
from headway.application.replies import advanced_reply, blocked_reply, gate_reply
from headway.application.requests import ContinueWorkflow, Reply
from headway.application.scene import Scene
from headway.domain.commands import Advance, Facts
from headway.domain.decide import decide
from headway.domain.decision import Accepted, Replayed
from headway.domain.events import AdvanceBlocked, GateOpened, StepAdvanced
from headway.domain.state import Outcome


def continue_workflow(engine: Engine, request: ContinueWorkflow) -> Reply:
    """Advance or rehydrate, as the request's intent says.

    Repeating an advance is safe: an attempt has one outcome, and it is told again. Raises
    TokenFault, InvalidInput, PreconditionFailed, SessionNotHealthy, SessionBusy; after any of them
    nothing has changed and the token is as good as before.
    """
    if request.intent == "rehydrate":
        admitted = open_allowed(engine, request.continue_token, frozenset({"ct", "st"}))
        with or_purged(engine, admitted.nonce):
            return rehydrate(engine, load(engine, admitted))
    return _hand_in(engine, request, patient=True)


def continue_soon(engine: Engine, request: ContinueWorkflow) -> Reply | None:
    """Advance as `continue_workflow` does; None, and nothing is done, where that may take long.

    It may where a step's checks are run, and where a workspace is looked into.
    """
    try:
        return _hand_in(engine, request, patient=False)
    except MayTakeLong:
        return None


def _hand_in(engine: Engine, request: ContinueWorkflow, *, patient: bool) -> Reply:
    admitted = open_allowed(engine, request.continue_token, frozenset({"ct"}))

    def advance(loaded: Loaded) -> Reply:
        if loaded.scene.workflow.bindings and not patient:
            raise MayTakeLong
        return _advance(engine, loaded, request)

    return settle_checked(engine, admitted, request, advance, patient=patient)


def _advance(engine: Engine, loaded: Loaded, request: ContinueWorkflow) -> Reply:
    name, scene = loaded.row.attempt, loaded.scene
    ended = scene.state.attempts[name].outcome is not None
    command = Advance(
        attempt=name,
        notes=request.notes,
        artifacts=request.artifacts,
        context=request.context,
        drift=() if ended else binding_drift(engine, loaded),
    )
    decision = decide(scene.state, command, Facts(workflow=scene.workflow))
    if isinstance(decision, Accepted):
        scene = record(engine, scene, decision)
    outcome = scene.state.attempts[name].outcome
    assert outcome is not None
    if isinstance(decision, Replayed):
        log_replay(loaded, request, outcome)
    return outcome_reply(scene, outcome)


def outcome_reply(scene: Scene, outcome: Outcome) -> Reply:
    """Return the reply to an attempt with this outcome."""
    match outcome:
        case StepAdvanced():
            return advanced_reply(scene, outcome)
        case AdvanceBlocked():
            return blocked_reply(scene, outcome)
        case GateOpened():
            return gate_reply(scene, outcome)
        case _:
            assert_never(outcome)
