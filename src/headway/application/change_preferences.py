"""Change preferences: how far a session may go by itself, from its open step on (D13)."""

from headway.application.engine import Engine
from headway.application.loading import Admitted, Loaded, admit, open_allowed
from headway.application.read_session import named_session
from headway.application.recording import record
from headway.application.requests import ChangePreferences, Reply
from headway.application.settling import settle
from headway.domain.commands import ChangePreferences as Command
from headway.domain.commands import Facts
from headway.domain.cursor import locate
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.events import Gap, GapRecorded
from headway.domain.preferences import Preferences

__all__ = ["change_preferences"]


def change_preferences(engine: Engine, request: ChangePreferences) -> Reply:
    """Record an operator's choice; asking for what is in force already records nothing.

    Every attempt on the step sees it, and every step that follows. Raises TokenFault, NotFound or
    InvalidInput for a session or token that cannot be found, PreconditionFailed when its step was
    left.
    """
    return settle(engine, _meant(engine, request), lambda loaded: _change(engine, loaded, request))


def _meant(engine: Engine, request: ChangePreferences) -> Admitted:
    if request.token is not None:
        return open_allowed(engine, request.token, frozenset({"ct", "st"}))
    if request.session is None:
        raise InvalidInput(
            "Neither a session nor a token was named.",
            remedy="Name the session whose preferences are to change.",
            details={"kind": "session_missing"},
        )
    summary = named_session(engine, request.session)
    if not summary.nonce:
        raise PreconditionFailed(
            "None of the steps of this session applied; it is complete.",
            remedy="Start another session with the preferences you want.",
            details={"kind": "step_left"},
        )
    return admit(engine, summary.nonce)


def _change(engine: Engine, loaded: Loaded, request: ChangePreferences) -> Reply:
    scene, before = loaded.scene, loaded.opened.preferences
    chosen = Preferences(
        autonomy=request.autonomy or before.autonomy,
        risk_policy=request.risk_policy or before.risk_policy,
    )
    gaps: tuple[Gap, ...] = ()
    asked = request.autonomy is not None or request.risk_policy is not None
    if asked:
        command = Command(attempt=loaded.row.attempt, preferences=chosen)
        decision = decide(scene.state, command, Facts(workflow=scene.workflow))
        assert isinstance(decision, Accepted)
        if chosen != before:
            record(engine, scene, decision)
            recorded = [event for event in decision.events if isinstance(event, GapRecorded)]
            gaps = tuple(gap for event in recorded for gap in event.gaps)
    step = locate(scene.workflow, loaded.opened.cursor).step
    return {
        "sessionId": scene.session,
        "stepId": step.id,
        "changed": chosen != before,
        "preferences": {"autonomy": chosen.autonomy, "riskPolicy": chosen.risk_policy},
        "before": {"autonomy": before.autonomy, "riskPolicy": before.risk_policy},
        "warnings": [gap.summary for gap in gaps],
    }
