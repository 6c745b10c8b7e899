"""A world: a few agents on a few sessions of an engine on which everything goes wrong.

One step after another is drawn. A step is a call of an agent, or something that befalls all of
them: the clock jumps, the disk is full, the keys are rotated, the process dies. A call may be cut
into by other calls at the border to the ledger (faults.py); that is all that concurrency can do to
a verb, since a verb touches the shared world nowhere else. At the end everything calms down, and
every session must be found whole and must be finished.
"""

from typing import Final, Literal, TypeAlias

from headway.domain.errors import Fault
from headway.domain.events import GateMode
from headway.domain.ids import session_stream
from headway.domain.preferences import Preferences
from headway.domain.values import Json
from headway.domain.workflow import Item, Loop
from headway.ports.sessions import SessionQuery
from simulation.acting import Acting
from simulation.agents import PASSING_NOTES, Sent, draw_sent, finishing
from simulation.choices import CUT, SENT, STEP, Choices
from simulation.faults import ProcessDied, Violation
from simulation.invariants import check_session
from simulation.keepers import Keepers
from simulation.model import Attempt, Session
from simulation.people import People
from simulation.process import Process, Setting
from simulation.surroundings import DAY_MS
from simulation.workflows import FILLED, draw_entry

Act: TypeAlias = Literal[
    "stop", "advance", "repeat", "rehydrate", "checkpoint", "checks", "gate", "preferences",
    "resume", "start", "token", "read", "purge", "export", "import", "verify", "rotate", "jump",
    "restart", "full", "late",
]  # fmt: skip
_SHARES: Final[dict[Act, int]] = {
    "stop": 1, "advance": 150, "repeat": 24, "rehydrate": 16, "checkpoint": 10, "checks": 8,
    "gate": 12, "preferences": 5, "resume": 5, "start": 3, "token": 3, "read": 1, "purge": 2,
    "export": 2, "import": 3, "verify": 1, "rotate": 1, "jump": 3, "restart": 2, "full": 2,
    "late": 4,
}  # fmt: skip
ACTS: Final[tuple[Act, ...]] = tuple(act for act, share in _SHARES.items() for _ in range(share))

SESSIONS_MAX: Final = 3
CUTS_DEEP_MAX: Final = 2
FINISHING_MAX: Final = 400
CHECKED_EVENTS_MAX: Final = 120  # a longer session is checked whole only at the end
_BACK: Final = (0, 0, 0, 0, 0, 1, 2, 5)  # which attempt is meant, counted from the newest
_BOLD: Final = Preferences(autonomy="full_auto_never_stop")
_CAREFUL: Final = Preferences(autonomy="full_auto_stop_on_user_deps", risk_policy="balanced")
_PREFERENCES: Final = (None, None, _BOLD, _CAREFUL)
_GATES: Final[tuple[GateMode, ...]] = ("advisory", "enforce")
_MADE_UP: Final = ("", "ct_", "ct_" + "A" * 24, "ck_" + "b" * 24, "😀" * 27, "ct_\0" + "A" * 23)
_JUMPS: Final = (3_600_000, DAY_MS, -DAY_MS, -1, -2)


class World:
    """One world; `history` is told line by line when it is to be read."""

    def __init__(self, choices: Choices, setting: Setting, *, telling: bool = False) -> None:
        self.choices = choices
        self.history: list[str] = []
        self.telling = telling
        self._cuts = 0
        self._among: list[Session] = []  # whose calls are at work, the innermost last
        entries = tuple(draw_entry(choices, n) for n in range(1, 2 + choices.below(2)))
        self.process = Process(
            choices=choices,
            disk=setting.disk(),
            plant=setting.plant,
            entries=entries,
            gates=choices.of(_GATES),
            cut_in=self._cut_in,
        )
        self.acting = Acting(self.process, self._say)
        self.people = People(self.acting)
        self.keepers = Keepers(self.acting)
        for entry in entries:
            assert entry.workflow is not None
            self._say(f"{entry.id}: {outline(entry.workflow.steps)}")

    def run(self) -> None:
        """Live through it all. Raises Violation, or whatever a bug raises."""
        with self.choices.span(STEP):
            self._step(ACTS.index("start"))
        going_on = True
        while going_on:
            with self.choices.span(STEP):
                drawn = self.choices.below(len(ACTS))
                going_on = bool(drawn)
                if going_on:
                    self._step(drawn)
        self._settle()
        self.process.disk.close()

    def _step(self, drawn: int) -> None:
        try:
            self._act(ACTS[drawn])
        except ProcessDied:
            self._restart()

    def _act(self, act: Act) -> None:
        if act == "start" or not self.acting.sessions:
            self._start()
            return
        if act in ("import", "verify", "rotate", "jump", "restart", "full", "late"):
            self._befall(act)
            return
        session = self._whose()
        self._among.append(session)
        try:
            self._call(act, session)
        finally:
            self._among.pop()

    def _call(self, act: Act, session: Session) -> None:
        choices, acting = self.choices, self.acting
        if act in ("read", "purge", "export"):
            self._whole(act, session)
            return
        if act == "resume" or not session.attempts:
            acting.resume(session)
            return
        attempt = session.attempts[-1 - min(choices.of(_BACK), len(session.attempts) - 1)]
        match act:
            case "advance":
                self._advance(session, attempt)
            case "repeat":
                acting.advance(session, self._older(session), Sent(notes=PASSING_NOTES))
            case "rehydrate":
                acting.rehydrate(session, self._older(session), saved=choices.rarely(2))
            case "checkpoint":
                acting.checkpoint(attempt)
            case "checks":
                declared = bool(session.steps[attempt.step].checks)
                exit_code = choices.of((0, 0, 0, 1, 2, None))
                self.people.run_checks(attempt, declared=declared, exit_code=exit_code)
            case "gate":
                self._decide(attempt)
            case "preferences":
                chosen = choices.of((Preferences(), _BOLD, _CAREFUL))
                where = None if choices.rarely(4) else attempt
                self.people.change_preferences(session, where, chosen)
            case _:
                acting.try_token(choices.of((*_MADE_UP, attempt.token[:-1] + "!")))

    def _whole(self, act: Act, session: Session) -> None:
        """Do something with a session as a whole."""
        match act:
            case "read":
                self.acting.read(session)
            case "purge":
                self.keepers.purge(session)
            case _:
                self.keepers.export(session)

    def _start(self) -> None:
        if len(self._alive()) >= SESSIONS_MAX:
            return
        choices = self.choices
        context: dict[str, Json] = dict(FILLED)
        if choices.rarely(4):
            del context[choices.of(tuple(FILLED))]
        entry = choices.of(self.process.entries)
        self.acting.start(entry, context, choices.of(_PREFERENCES))

    def _advance(self, session: Session, attempt: Attempt) -> None:
        if attempt.gate and not attempt.answers:
            self._decide(attempt)
        elif attempt.told is not None and not self.choices.rarely(4):
            self.acting.rehydrate(session, self._older(session))  # all is done: a branch
        else:
            step = session.steps[attempt.step]
            with self.choices.span(SENT):
                sent = draw_sent(self.choices, step)
            self.acting.advance(session, attempt, sent)

    def _decide(self, newest: Attempt) -> None:
        """Let a person look for a gate that waits, look at what it shows, and answer."""
        choices, people = self.choices, self.people
        waiting = people.waiting()
        attempt = waiting[-1 - choices.below(len(waiting))] if waiting else newest
        if choices.rarely(3):
            people.show(attempt)
        self._answer(attempt)

    def _answer(self, attempt: Attempt) -> None:
        approve = not self.choices.rarely(4)
        blind = not attempt.shown or self.choices.rarely(8)
        self.people.decide(attempt, approve=approve, blind=blind)

    def _older(self, session: Session) -> Attempt:
        return session.attempts[-1 - self.choices.below(len(session.attempts))]

    def _whose(self) -> Session:
        """Return whose turn it is: within a call of another, mostly the same session's."""
        if self._among and not self.choices.rarely(3):
            return self._among[-1]
        alive = self._alive()
        all_of_them = not alive or self.choices.rarely(8)
        return self.choices.of(self.acting.sessions if all_of_them else alive)

    def _alive(self) -> list[Session]:
        return [each for each in self.acting.sessions if not self.acting.gone(each)]

    def _befall(self, act: Act) -> None:
        process = self.process
        match act:
            case "import":
                self._import()
            case "verify":
                self.keepers.verify()
            case "rotate":
                self.keepers.rotate()
            case "jump":
                by = self.choices.of(_JUMPS)
                self._say(f"the clock jumps by {by} ms")
                process.counts["jumps"] += 1
                process.clock.jump(by)
            case "full":
                process.ledger.no_space_for = 1 + self.choices.below(20)
                self._say(f"the disk is full for {process.ledger.no_space_for} writes")
            case "late":
                if process.ledger.delayed:
                    landed = process.ledger.land_delayed()
                    self._say(f"a delayed write arrives{'' if landed else ' too late'}")
            case _:
                raise ProcessDied

    def _import(self) -> None:
        choices, keepers = self.choices, self.keepers
        if not keepers.bundles:
            return
        session, lines = choices.of(keepers.bundles)
        how = choices.below(4)
        if how == 2:
            keepers.import_again(session, lines)
        elif how == 3:
            number = choices.below(len(lines))
            keepers.import_damaged(lines, number, choices.below(1_000))
        elif len(self._alive()) < SESSIONS_MAX:
            keepers.import_as_new(session, lines)

    def _restart(self) -> None:
        self._say("the process dies and another begins")
        self._cuts = 0
        self._among.clear()
        self.people.deciding.clear()
        self.process.restart()
        if self.process.counts["restarts"] % 4 == 0:
            for session in self._alive():
                if len(session.attempts) < CHECKED_EVENTS_MAX:
                    self._check(session)

    def _cut_in(self) -> None:
        """Let other calls run to their end while the one at work waits."""
        if self._cuts >= CUTS_DEEP_MAX:
            return
        self._cuts += 1
        self._say("  meanwhile:")
        with self.choices.span(CUT):
            drawn = self.choices.below(len(ACTS))
            if drawn and self.people.deciding and self.choices.rarely(3):
                self._answer(self.people.deciding[-1])  # two people at one gate
            elif drawn:
                self._act(ACTS[drawn])
        self._cuts -= 1

    def _settle(self) -> None:
        """Let all calm down, and hold everything against what was promised."""
        self._say("all calms down")
        process = self.process
        process.ledger.no_space_for = 0
        process.calm = True
        while process.ledger.delayed:
            process.ledger.land_delayed()
        process.restart()
        known = {session.id: session for session in self.acting.sessions}
        self.people.waiting()
        found = process.engine.sessions.find(SessionQuery(limit=100)).rows
        for summary in found:
            session = known.get(summary.session)
            if session is None:  # its start was never answered: found all the same
                entry = next(e for e in process.entries if e.id == summary.workflow_id)
                session = Session(name="Lost", id=summary.session, entry=entry)
            for attempt in list(session.attempts):
                if attempt.told is not None:
                    self.acting.advance(session, attempt, Sent(notes="something else"))
            if summary.nonce:
                self._finish(session)
            self._check(session)
            process.counts["sessions"] += 1
        if {each.id for each in self._alive()} - {each.session for each in found}:
            raise Violation("a session that was answered is not to be found")
        for session in self.acting.sessions:
            if self.acting.gone(session):
                self._check_gone(session)
        self.keepers.verify()

    def _finish(self, session: Session) -> None:
        """Follow a session to its end as an agent does that does all it is asked."""
        attempt = self.acting.resume(session)
        for _ in range(FINISHING_MAX):
            assert attempt is not None
            step = session.steps[attempt.step]
            if step.checks:
                self.people.run_checks(attempt, declared=True, exit_code=0)
            reply = self.acting.advance(session, attempt, finishing(step))
            if isinstance(reply, Fault):
                raise Violation(f"good work on {attempt.name} was refused: {reply.message}")
            if reply["kind"] == "gate_checkpoint":
                self.people.show(attempt)
                self.people.decide(attempt, approve=True)
                continue
            if reply["kind"] == "blocked":
                raise Violation(f"good work on {attempt.name} was blocked: {reply['blockers']}")
            if reply["isComplete"]:
                return
            attempt = session.by_key[str(reply["continueToken"])[3:19]]
        raise Violation(f"session {session.name} is not finished after {FINISHING_MAX} steps")

    def _check(self, session: Session) -> None:
        known = session if session.attempts else None
        check_session(self.process.engine, self.process.ledger, session.id, known)

    def _check_gone(self, session: Session) -> None:
        """Check that a purged session left a tombstone and nothing else."""
        engine = self.process.engine
        if engine.custody.tombstone(session.id) is None:
            raise Violation(f"session {session.name} is gone and has no tombstone")
        if engine.ledger.scan(session_stream(session.id)) or engine.sessions.summary(session.id):
            raise Violation(f"session {session.name} was purged, and something of it is there")
        for attempt in session.attempts:
            self.acting.rehydrate(session, attempt)  # is told so

    def _say(self, line: str) -> None:
        if self.telling:
            self.history.append("    " * self._cuts + line)


def outline(items: tuple[Item, ...]) -> str:
    """Return a workflow's shape on one line."""
    told = []
    for item in items:
        when = "?" if item.run_condition else ""
        if isinstance(item, Loop):
            told.append(
                f"{item.id}{when}[{item.kind}<={item.max_iterations}: {outline(item.body)}]"
            )
        else:
            contract = f" {item.output_contract.ref}" if item.output_contract else ""
            gate = f" {item.confirmation.kind}" if item.confirmation else ""
            told.append(f"{item.id}{when}{contract}{gate}")
    return ", ".join(told)
