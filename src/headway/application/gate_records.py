"""A gate as it stands in the records: what it showed, and its decision if there is one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headway.application.engine import Engine
from headway.application.loading import Loaded
from headway.application.naming import purged_words
from headway.domain.errors import (
    Fault,
    InvalidInput,
    NotFound,
    PreconditionFailed,
    SessionNotHealthy,
    TokenFault,
)
from headway.domain.events import AdvanceBlocked, GateDecided, GateOpened, StepAdvanced
from headway.domain.ids import gate_id, gate_nonce, session_stream
from headway.domain.values import Value
from headway.ports.ledger import Recorded

PREFIX: Final = "gate_"
WAITING_SEARCHED_MAX: Final = 10_000
CANDIDATES_SHOWN_MAX: Final = 5


class GateRecord(Value):
    """A gate's opening and its decision, each None where it did not come to that."""

    opened: GateOpened
    opened_at_ms: int
    decided: GateDecided | None = None
    decided_at_ms: int | None = None


def gate_named(engine: Engine, name: str) -> bytes:
    """Return the nonce of a gate by its id, or by a beginning that no other waiting gate has.

    Raises NotFound, and InvalidInput when several begin like this.
    """
    nonce = gate_nonce(name)
    if nonce is not None:
        if engine.ledger.head(nonce) is None:
            _refuse_purged(engine, nonce)
            raise _unknown(name)
        return nonce
    beginning = name if name.startswith(PREFIX) else PREFIX + name
    waiting = engine.sessions.gates(WAITING_SEARCHED_MAX)
    found = [row.nonce for row in waiting.rows if gate_id(row.nonce).startswith(beginning)]
    if not found:
        raise _unknown(name)
    if len(found) > 1:
        ids = [gate_id(each) for each in found[:CANDIDATES_SHOWN_MAX]]
        raise InvalidInput(
            f"{len(found)} waiting gates begin with {name!r}: {', '.join(ids)}.",
            remedy="Give more of the id.",
            details={"gate": name, "candidates": list(ids)},
        )
    return found[0]


def gate_record(engine: Engine, loaded: Loaded) -> GateRecord:
    """Return the gate that an attempt opened. Raises NotFound when it opened none."""
    row = loaded.row
    outcome = loaded.scene.state.attempts[row.attempt].outcome
    at, answer = row.outcome_at, None
    if isinstance(outcome, StepAdvanced) and outcome.gate is not None:
        answer = _read(engine, loaded, outcome.gate)
    elif isinstance(outcome, AdvanceBlocked) and row.outcome_at and row.outcome_at > 1:
        answer = _read(engine, loaded, row.outcome_at - 1)
    decided = answer.event if answer and isinstance(answer.event, GateDecided) else None
    if decided is not None and decided.attempt == row.attempt:
        at = decided.opened_gate
    opened = _read(engine, loaded, at) if at is not None else None
    if opened is None or not isinstance(opened.event, GateOpened):
        raise _unknown(gate_id(row.nonce))
    return GateRecord(
        opened=opened.event,
        opened_at_ms=opened.recorded_at,
        decided=decided,
        decided_at_ms=answer.recorded_at if answer and decided else None,
    )


@contextmanager
def or_gate_purged(engine: Engine, nonce: bytes) -> Iterator[None]:
    """Tell a gate that goes while it is looked at as NotFound, when its session was purged."""
    try:
        yield
    except (TokenFault, SessionNotHealthy):
        _refuse_purged(engine, nonce)
        raise


def already_decided(name: str, decided: GateDecided) -> Fault:
    """Return the fault of answering a gate that somebody answered before."""
    return PreconditionFailed(
        f"The gate {name} was {decided.verdict} by {decided.decided_by}"
        + (f": {decided.rationale}" if decided.rationale else "."),
        remedy="The first answer stands. See what became of it: headway gates show " + name,
        details={
            "kind": "gate_decided",
            "gateId": name,
            "verdict": decided.verdict,
            "decidedBy": decided.decided_by,
            "rationale": decided.rationale,
        },
    )


def _read(engine: Engine, loaded: Loaded, version: int) -> Recorded:
    return engine.ledger.read(session_stream(loaded.row.session), [version])[0]


def _refuse_purged(engine: Engine, nonce: bytes) -> None:
    tombstone = engine.custody.tombstone_of(nonce)
    if tombstone is not None:
        raise NotFound(
            f"The gate {gate_id(nonce)} went with the session {tombstone.session}, "
            f"which {purged_words(tombstone)}.",
            remedy="`headway gates list` shows the gates that wait.",
            details={"gate": gate_id(nonce), "session": tombstone.session},
        )


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"There is no gate {name!r}.",
        remedy="`headway gates list` shows the gates that wait.",
        details={"gate": name},
    )
