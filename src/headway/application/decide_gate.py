"""Decide a gate: approve or reject what an attempt handed in (D11).

No tool of an agent leads here: whoever did the work never judges it.
"""

from typing import Final

from headway.application.engine import Engine
from headway.application.gate_records import already_decided, gate_named, gate_record
from headway.application.loading import Loaded, admit
from headway.application.recording import record
from headway.application.replies import show_step
from headway.application.requests import DecideGate, Reply
from headway.application.settling import settle
from headway.domain.commands import DecideGate as Command
from headway.domain.commands import Facts
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import InvalidInput
from headway.domain.events import StepAdvanced
from headway.domain.ids import Digest, gate_id

__all__ = ["decide_gate"]

DECIDED_BY_BYTES_MAX: Final = 256
RATIONALE_BYTES_MAX: Final = 8_192


def decide_gate(engine: Engine, request: DecideGate) -> Reply:
    """Record the answer and let the session go on: to the next step, or back to this one.

    The attempt's own token tells the agent which, whenever it asks. Raises NotFound, InvalidInput,
    and PreconditionFailed when somebody decided before or the answer is to something else than the
    gate shows; then nothing has changed.
    """
    _check(request)
    gate = admit(engine, gate_named(engine, request.gate))
    return settle(engine, gate, lambda loaded: _decide(engine, loaded, request))


def _decide(engine: Engine, loaded: Loaded, request: DecideGate) -> Reply:
    name = gate_id(loaded.row.nonce)
    decided = gate_record(engine, loaded).decided
    if decided is not None:
        raise already_decided(name, decided)
    scene = loaded.scene
    command = Command(
        attempt=loaded.row.attempt,
        approve=request.approve,
        decided_by=request.decided_by.strip(),
        shown=Digest(request.shown),
        rationale=request.rationale.strip(),
    )
    decision = decide(scene.state, command, Facts(workflow=scene.workflow))
    assert isinstance(decision, Accepted)
    scene = record(engine, scene, decision)
    outcome = scene.state.attempts[loaded.row.attempt].outcome
    opened = outcome.opened if isinstance(outcome, StepAdvanced) else loaded.opened
    step = show_step(scene, opened) if opened else None
    return {
        "gateId": name,
        "sessionId": scene.session,
        "verdict": "approved" if request.approve else "rejected",
        "decidedBy": command.decided_by,
        "rationale": command.rationale,
        "isComplete": opened is None,
        "nextStep": step.title if step else None,
    }


def _check(request: DecideGate) -> None:
    who = request.decided_by.strip()
    if not who or len(who.encode("utf-8", "surrogatepass")) > DECIDED_BY_BYTES_MAX:
        raise InvalidInput(
            f"Who decides must be told in 1 to {DECIDED_BY_BYTES_MAX} bytes.",
            remedy="Give a name that others will recognise.",
            details={"kind": "decided_by", "max": DECIDED_BY_BYTES_MAX},
        )
    size = len(request.rationale.encode("utf-8", "surrogatepass"))
    if size > RATIONALE_BYTES_MAX:
        raise InvalidInput(
            f"The rationale has {size} bytes; at most {RATIONALE_BYTES_MAX} are kept.",
            remedy="Say it shorter, or name a document that says it.",
            details={"kind": "rationale", "measured": size, "max": RATIONALE_BYTES_MAX},
        )
