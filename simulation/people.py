"""The calls people and their tools make: gates answered, checks run, preferences changed.

Several people answer one gate, at once or one after the other, and repeat an answer whose own
answer was lost: the first that was recorded stands, and everyone is told whose it was.
"""

from itertools import count
from typing import Final

from headway.application.change_preferences import change_preferences
from headway.application.decide_gate import decide_gate
from headway.application.list_gates import list_gates
from headway.application.record_checks import record_checks
from headway.application.requests import (
    ChangePreferences,
    CheckRun,
    DecideGate,
    RecordChecks,
    Reply,
    ShowGate,
)
from headway.application.show_gate import show_gate
from headway.domain.errors import Code, Fault
from headway.domain.ids import Digest, gate_id, gate_nonce
from headway.domain.preferences import Preferences
from headway.domain.tokens import sign
from headway.domain.values import Json
from simulation.acting import WRONG_INPUT, WRONG_PLACE, Acting, nonce_in
from simulation.faults import Violation
from simulation.model import Answer, Attempt, Session

GATES_LISTED_MAX: Final = 200
DECLARED: Final = "unit"  # the one check that drawn steps declare
_NO_GATE: Final = frozenset({Code.NOT_FOUND})
_SHOWS_NOTHING: Final = Digest("sha256:" + "1" * 64)


class People:
    """Makes calls beside the agents', and keeps the same model of their sessions."""

    def __init__(self, acting: Acting) -> None:
        self.acting = acting
        self.deciding: list[Attempt] = []  # whose gates are being decided, the innermost last
        self._numbers = count(1)

    def waiting(self) -> list[Attempt]:
        """List the gates that wait, and return the attempts that opened them."""
        self.acting.say("list the gates")
        sessions = [each for each in self.acting.sessions if not self.acting.gone(each)]
        own = {each.id for each in self.acting.sessions if not each.copied}
        known = {key: each for one in sessions for key, each in one.by_key.items()}
        closed = {key for key, each in known.items() if each.decided}
        open_before = {key for key, each in known.items() if each.gate and not each.answers}
        told = self.acting.call(frozenset(), lambda engine: list_gates(engine, GATES_LISTED_MAX))
        if isinstance(told, Fault):
            return []
        listed = {_key(gate): gate for gate in _objects(told["gates"])}
        if closed & listed.keys():
            raise Violation("a gate that was decided is listed")
        purged = self.acting.process.ledger.purged
        missed = [known[key] for key in open_before - listed.keys()]
        if any(not each.answers and each.session not in purged for each in missed):
            raise Violation("a gate that waits is not listed")
        found = []
        for key, gate in listed.items():
            if "problem" in gate:
                raise Violation(f"a gate cannot be read: {gate}")
            if key in known and known[key].sent:
                _see(known[key], gate)
                found.append(known[key])
            elif gate["sessionId"] in own:
                raise Violation(f"a gate is listed that nobody asked for: {gate}")
        return found

    def show(self, attempt: Attempt) -> None:
        """Look at the gate of an attempt, if it has one."""
        self.acting.say(f"show the gate of {attempt.name}")
        stands, seen = attempt.decided, bool(attempt.shown)
        request = ShowGate(gate=_gate_of(attempt))
        told = self.acting.call(
            _NO_GATE, lambda engine: show_gate(engine, request), attempt.session
        )
        if isinstance(told, Fault):
            self._check_unknown(attempt, told, seen=seen)
            return
        _see(attempt, told)
        if told["notes"] not in [sent.notes for sent in attempt.sent]:
            raise Violation(f"the gate of {attempt.name} shows notes that nobody sent")
        if told["status"] != "open":
            _settled(attempt, told["decision"])
        elif stands:
            raise Violation(f"the gate of {attempt.name} was decided and is shown as open")

    def decide(self, attempt: Attempt, *, approve: bool, blind: bool = False) -> None:
        """Answer a gate, for what it shows or `blind` for what was never shown."""
        answer = Answer(approve=approve, by=f"person {next(self._numbers)}")
        verb = "approves" if approve else "rejects"
        self.acting.say(f"{answer.by} {verb} {attempt.name}{' blindly' * blind}")
        stands, seen = attempt.decided, bool(attempt.shown)
        if not blind:
            attempt.answers.append(answer)
        request = DecideGate(
            gate=_gate_of(attempt),
            approve=approve,
            decided_by=answer.by,
            shown=_SHOWS_NOTHING if blind else attempt.shown or _SHOWS_NOTHING,
        )
        self.deciding.append(attempt)
        try:
            told = self.acting.call(
                WRONG_PLACE | _NO_GATE, lambda engine: decide_gate(engine, request), attempt.session
            )
        finally:
            self.deciding.pop()
        if isinstance(told, Fault):
            self._check_unknown(attempt, told, seen=seen)
            _check_refused(attempt, told, blind=blind)
        elif blind:
            raise Violation(f"{attempt.name}: a gate was answered for what was never shown")
        elif stands:
            raise Violation(f"{attempt.name}: decided by {stands.by}, and then by {answer.by}")
        else:
            _settled(attempt, told)

    def run_checks(self, attempt: Attempt, *, declared: bool, exit_code: int | None) -> None:
        """Hand in what a check gave; `declared`: the attempt's step has it."""
        self.acting.say(f"the check of {attempt.name} gave {exit_code}")
        output = b"" if exit_code is None else f"told {exit_code}".encode()
        run = CheckRun(check=DECLARED, exit_code=exit_code, output=output)
        token = self.acting.fresh(attempt.token)
        request = RecordChecks(continue_token=token, runs=(run,))
        told = self.acting.call(
            WRONG_INPUT, lambda engine: record_checks(engine, request), attempt.session
        )
        if not isinstance(told, Fault):
            if not declared:
                raise Violation(f"{attempt.name}: a check was recorded that its step lacks")
        elif told.code == Code.VALIDATION_ERROR and declared:
            raise Violation(f"{attempt.name}: a declared check was refused: {told}")
        elif told.code == Code.PRECONDITION_FAILED and not attempt.sent:
            raise Violation(f"{attempt.name}: nothing was handed in and it is said to have ended")

    def change_preferences(
        self, session: Session, attempt: Attempt | None, preferences: Preferences
    ) -> None:
        """Set preferences at the step of an attempt, or with none where the session stands."""
        place = attempt.name if attempt else session.name
        self.acting.say(f"preferences of {place}: {preferences.autonomy}")
        request = ChangePreferences(
            session=None if attempt else session.id,
            token=self.acting.fresh(attempt.token) if attempt else None,
            autonomy=preferences.autonomy,
            risk_policy=preferences.risk_policy,
        )
        told = self.acting.call(
            WRONG_PLACE, lambda engine: change_preferences(engine, request), session.id
        )
        if isinstance(told, Fault):
            if told.code == Code.PRECONDITION_FAILED and attempt and not attempt.sent:
                raise Violation(f"{attempt.name}: nothing was handed in and its step is left")
        elif told["preferences"] != {
            "autonomy": preferences.autonomy,
            "riskPolicy": preferences.risk_policy,
        }:
            raise Violation(f"other preferences were set than asked for: {told}")
        elif told["changed"] != (told["before"] != told["preferences"]):
            raise Violation(f"preferences changed that did not, or the reverse: {told}")

    def _check_unknown(self, attempt: Attempt, fault: Fault, *, seen: bool) -> None:
        """Check why a gate is not found that was `seen` before the call."""
        purged = attempt.session in self.acting.process.ledger.purged
        if fault.code == Code.NOT_FOUND and seen and not purged:
            raise Violation(f"{attempt.name}: its gate was seen and is not found")


def _check_refused(attempt: Attempt, fault: Fault, *, blind: bool) -> None:
    """Check why an answer was not taken."""
    if fault.code == Code.PRECONDITION_FAILED:
        kind = fault.details["kind"]
        if kind == "gate_decided":
            _settled(attempt, fault.details)
        elif kind != "gate_shown_differs" or not blind:
            raise Violation(f"{attempt.name}: a good answer was refused: {fault}")


def _see(attempt: Attempt, told: Reply) -> None:
    """Take what a gate shows: never anything else than before."""
    shown = str(told["shown"])
    if attempt.shown and attempt.shown != shown:
        raise Violation(f"the gate of {attempt.name} shows {shown}, and showed {attempt.shown}")
    attempt.shown = shown


def _settled(attempt: Attempt, told: Json) -> None:
    """Take a decision that was told: one that somebody made, and the same for ever."""
    assert isinstance(told, dict)
    stands = Answer(approve=told["verdict"] == "approved", by=str(told["decidedBy"]))
    if stands not in attempt.answers:
        raise Violation(f"{attempt.name}: a decision is told that nobody made: {stands}")
    if attempt.decided is not None and attempt.decided != stands:
        raise Violation(f"{attempt.name}: decided by {attempt.decided}, and by {stands}")
    attempt.decided = stands


def _objects(told: Json) -> list[Reply]:
    assert isinstance(told, list)
    return [each for each in told if isinstance(each, dict)]


def _gate_of(attempt: Attempt) -> str:
    return gate_id(nonce_in(attempt.token))


def _key(gate: Reply) -> str:
    """Return the part of the tokens of the attempt that opened a gate."""
    nonce = gate_nonce(str(gate["gateId"]))
    assert nonce is not None
    return sign("ct", nonce, b"")[3:19]
