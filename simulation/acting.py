"""The calls agents make, and what each must be answered.

Every answer is held against the model. A fault is taken for one only where it may come; a call that
was told of a store's illness may have been kept or not, and is repeated sooner or later.
"""

import base64
from collections.abc import Callable
from typing import Final

from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.loading import load, open_allowed
from headway.application.read_session import read_session
from headway.application.recording import record
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    Reply,
    ResumeSession,
    StartWorkflow,
)
from headway.application.resume_session import resume_session
from headway.application.settling import APPEND_ATTEMPTS_MAX
from headway.application.start_workflow import start_workflow
from headway.domain.commands import ChangePreferences, DecideGate, Facts, RecordChecks
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import Code, Fault
from headway.domain.events import CheckResult
from headway.domain.ids import AttemptId, Digest
from headway.domain.preferences import Preferences
from headway.domain.tokens import TokenKind, sign
from headway.domain.values import JsonObject
from headway.ports.catalogue import Entry
from headway.ports.ledger import Conflict
from simulation.agents import Sent
from simulation.faults import Violation
from simulation.model import Attempt, Session, check_same, hear, pending_step
from simulation.process import Process
from simulation.surroundings import WORKSPACE
from simulation.workflows import FILLED

NOTHING: Final[frozenset[Code]] = frozenset()
WRONG_PLACE: Final = frozenset({Code.PRECONDITION_FAILED})
WRONG_INPUT: Final = frozenset({Code.PRECONDITION_FAILED, Code.VALIDATION_ERROR})
WRONG_TOKEN: Final = frozenset(
    {
        Code.TOKEN_INVALID_FORMAT,
        Code.TOKEN_BAD_SIGNATURE,
        Code.TOKEN_SCOPE_MISMATCH,
        Code.TOKEN_UNKNOWN_NODE,
    }
)
_SHOWS_NOTHING: Final = Digest("sha256:" + "1" * 64)
_ALL_KINDS: Final[frozenset[TokenKind]] = frozenset({"ct", "ck", "st"})


class Acting:
    """Makes calls to a process for agents, and keeps the model of their sessions."""

    def __init__(self, process: Process, say: Callable[[str], None]) -> None:
        self.process = process
        self.say = say
        self.sessions: list[Session] = []
        self.rotated = False

    def start(self, entry: Entry, context: JsonObject, preferences: Preferences | None) -> None:
        request = StartWorkflow(
            workflow_id=entry.id,
            workspace_path=WORKSPACE,
            goal="Try it",
            context=context,
            preferences=preferences,
        )
        name = chr(ord("A") + len(self.sessions))
        bold = f", {preferences.autonomy}" if preferences else ""
        self.say(f"start {name} of {entry.id} with {_brief_context(context)}{bold}")
        reply = self.process.call(WRONG_INPUT, lambda engine: start_workflow(engine, request))
        if not isinstance(reply, Fault) and not reply["isComplete"]:
            self._know(entry, str(reply["continueToken"])).learn(
                str(reply["continueToken"]), pending_step(reply), str(reply["checkpointToken"])
            )
        self._heard(reply)

    def advance(self, session: Session, attempt: Attempt, sent: Sent) -> Reply | Fault:
        """Hand in work. An attempt that was answered is answered the same, whatever is sent."""
        request = ContinueWorkflow(
            continue_token=self.fresh(attempt.token),
            intent="advance",
            notes=sent.notes,
            artifacts=sent.artifacts,
            context=sent.context,
        )
        attempt.sent.append(sent)
        self.say(f"advance {attempt.name} ({attempt.step}) with {_brief(sent)}")
        was_decided = attempt.decided
        allowed = WRONG_INPUT if attempt.told is None or attempt.maybe_decided else NOTHING
        reply = self.process.call(allowed, lambda engine: continue_workflow(engine, request))
        if not isinstance(reply, Fault):
            hear(session, attempt, reply, rotated=self.rotated, was_decided=was_decided)
        self._heard(reply)
        return reply

    def rehydrate(self, session: Session, attempt: Attempt, *, saved: bool = False) -> None:
        token = attempt.resume_token if saved and attempt.resume_token else attempt.token
        request = ContinueWorkflow(continue_token=self.fresh(token), intent="rehydrate")
        self.say(f"rehydrate {attempt.name}{' from its checkpoint' if saved else ''}")
        reply = self.process.call(NOTHING, lambda engine: continue_workflow(engine, request))
        if not isinstance(reply, Fault):
            if pending_step(reply) != attempt.step:
                raise Violation(f"{attempt.name} is on {attempt.step}, not {pending_step(reply)}")
            session.learn(str(reply["continueToken"]), attempt.step, str(reply["checkpointToken"]))
        self._heard(reply)

    def checkpoint(self, attempt: Attempt) -> None:
        if not attempt.checkpoint_token:
            return
        request = CheckpointWorkflow(checkpoint_token=self.fresh(attempt.checkpoint_token))
        self.say(f"checkpoint {attempt.name}")
        reply = self.process.call(NOTHING, lambda engine: checkpoint_workflow(engine, request))
        if not isinstance(reply, Fault):
            attempt.checkpoint_told = check_same(
                attempt.checkpoint_told, reply, f"the checkpoint of {attempt.name}"
            )
            attempt.resume_token = str(reply["resumeToken"])
        self._heard(reply)

    def resume(self, session: Session) -> Attempt | None:
        """Find a session and take up its tip."""
        request = ResumeSession(workspace_path=WORKSPACE, session_id=session.id)
        self.say(f"resume {session.name}")
        found = self.process.call(NOTHING, lambda engine: resume_session(engine, request))
        if isinstance(found, Fault):
            return None
        candidates = found["candidates"]
        if not isinstance(candidates, list) or not candidates:
            raise Violation(f"session {session.name} is not found by its id")
        token = str(candidates[0]["resumeToken"])
        again = ContinueWorkflow(continue_token=token, intent="rehydrate")
        reply = self.process.call(NOTHING, lambda engine: continue_workflow(engine, again))
        self._heard(reply)
        if isinstance(reply, Fault):
            return None
        return session.learn(
            str(reply["continueToken"]), pending_step(reply), str(reply["checkpointToken"])
        )

    def decide_gate(self, attempt: Attempt, *, approve: bool, blind: bool = False) -> None:
        shown = _SHOWS_NOTHING if blind else Digest(attempt.gate)
        self.say(f"{'approve' if approve else 'reject'} {attempt.name}{' blindly' * blind}")
        if not blind:
            attempt.maybe_decided = True

        def command(name: AttemptId) -> DecideGate:
            return DecideGate(attempt=name, approve=approve, decided_by="simulation", shown=shown)

        done = self._decided(attempt, command, WRONG_PLACE)
        if not isinstance(done, Fault):
            if blind:
                raise Violation(f"{attempt.name}: a gate was answered for what was never shown")
            attempt.decided = True
        self._heard(done)

    def record_checks(self, attempt: Attempt, *, passed: bool) -> None:
        self.say(f"checks of {attempt.name} {'passed' if passed else 'failed'}")
        results = (CheckResult(check="unit", exit_code=0 if passed else 1),)
        self._heard(
            self._decided(
                attempt, lambda name: RecordChecks(attempt=name, results=results), WRONG_INPUT
            )
        )

    def change_preferences(
        self, session: Session, attempt: Attempt, preferences: Preferences
    ) -> None:
        self.say(f"preferences of {attempt.name}: {preferences.autonomy}")
        session.preferences_changed = True
        self._heard(
            self._decided(
                attempt,
                lambda name: ChangePreferences(attempt=name, preferences=preferences),
                WRONG_PLACE,
            )
        )

    def try_token(self, token: str) -> None:
        """Send a token that nobody was given."""
        self.say(f"send the made-up token {token!r}")
        request = ContinueWorkflow(continue_token=token, intent="advance", notes="ok")
        reply = self.process.call(WRONG_TOKEN, lambda engine: continue_workflow(engine, request))
        if not isinstance(reply, Fault):
            raise Violation(f"the made-up token {token!r} was taken")

    def read(self, session: Session) -> None:
        self.say(f"read {session.name}")
        self._heard(self.process.call(NOTHING, lambda engine: read_session(engine, session.id)))

    def rotate(self) -> None:
        self.say("rotate the keys")
        self.process.counts["rotations"] += 1
        self.process.engine.keyring.rotate()
        self.rotated = True

    def fresh(self, token: str) -> str:
        """Return a token as it would be told today: its key may have been rotated away."""
        if not self.rotated:
            return token
        keys = self.process.engine.keyring.keys()
        live = [keys.current] if keys.previous is None else [keys.current, keys.previous]
        opened_by = [key for key in live if _opens(token, key)]
        if opened_by:
            return token
        self.try_token(token)
        return _resigned(token, keys.current)

    def _know(self, entry: Entry, token: str) -> Session:
        head = self.process.ledger.inner.head(_nonce(token))
        if head is None:
            raise Violation("a session was started and its token means nothing")
        session = Session(name=chr(ord("A") + len(self.sessions)), id=head.row.session, entry=entry)
        self.sessions.append(session)
        return session

    def _decided(
        self,
        attempt: Attempt,
        command: Callable[[AttemptId], DecideGate | RecordChecks | ChangePreferences],
        allowed: frozenset[Code],
    ) -> Fault | None:
        """Decide and record a command the way every verb does."""
        token = self.fresh(attempt.token)

        def verb(engine: Engine) -> None:
            admitted = open_allowed(engine, token, _ALL_KINDS)
            for _ in range(APPEND_ATTEMPTS_MAX):
                loaded = load(engine, admitted)
                scene = loaded.scene
                facts = Facts(workflow=scene.workflow)
                decision = decide(scene.state, command(loaded.row.attempt), facts)
                try:
                    if isinstance(decision, Accepted):
                        record(engine, scene, decision)
                except Conflict:
                    continue
                return
            raise Violation("a command met nothing but conflicts")

        return self.process.call(allowed, verb)

    def _heard(self, answer: object) -> None:
        if isinstance(answer, Fault):
            self.say(f"  -> {answer.code}: {answer.message}")
        elif isinstance(answer, dict) and "isComplete" in answer:
            kind = "complete" if answer["isComplete"] else answer["kind"]
            self.say(f"  -> {kind}" if kind != "ok" else f"  -> {pending_step(answer)}")


def _brief(sent: Sent) -> str:
    notes = sent.notes if sent.notes is None or len(sent.notes) < 30 else f"{sent.notes[:20]}..."
    context = f" {_brief_context(sent.context)}" if sent.context else ""
    artifacts = f" {list(sent.artifacts[:3])}"[:160] if sent.artifacts else ""
    return f"{notes!r}{artifacts}{context}"


def _brief_context(context: JsonObject) -> str:
    return "the usual context" if context == FILLED else f"{dict(context)}"[:80]


def _nonce(token: str) -> bytes:
    return base64.urlsafe_b64decode(token[3:19])


def _resigned(token: str, key: bytes) -> str:
    kind: TokenKind = "ct" if token[:2] == "ct" else "ck" if token[:2] == "ck" else "st"
    return sign(kind, _nonce(token), key)


def _opens(token: str, key: bytes) -> bool:
    return _resigned(token, key) == token
