"""The calls agents make, and what each must be answered.

Every answer is held against the model. A fault is taken for one only where it may come; a call that
was told of a store's illness may have been kept or not, and is repeated sooner or later.
"""

import base64
from collections.abc import Callable
from typing import Final, TypeVar

from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.read_session import read_session
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    Reply,
    ResumeSession,
    StartWorkflow,
)
from headway.application.resume_session import resume_session
from headway.application.start_workflow import start_workflow
from headway.domain.errors import Code, Fault
from headway.domain.ids import SessionId
from headway.domain.preferences import Preferences
from headway.domain.tokens import TokenKind, sign
from headway.domain.values import JsonObject
from headway.ports.catalogue import Entry
from simulation.agents import Sent
from simulation.faults import Violation
from simulation.model import Attempt, Session, check_same, hear, pending_step
from simulation.process import Process
from simulation.surroundings import WORKSPACE
from simulation.workflows import FILLED

T = TypeVar("T")

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


class Acting:
    """Makes calls to a process for agents, and keeps the model of their sessions."""

    def __init__(self, process: Process, say: Callable[[str], None]) -> None:
        self.process = process
        self.say = say
        self.sessions: list[Session] = []
        self.rotated = False

    def call(
        self,
        allowed: frozenset[Code],
        verb: Callable[[Engine], T],
        about: SessionId | None = None,
    ) -> T | Fault:
        """Make a call (see `Process.call`) and tell what came of it."""
        answer = self.process.call(allowed, verb, about)
        if isinstance(answer, Fault):
            self.say(f"  -> {answer.code}: {answer.message}")
        elif isinstance(answer, dict) and "isComplete" in answer and "kind" in answer:
            kind = "complete" if answer["isComplete"] else answer["kind"]
            self.say(f"  -> {kind}" if kind != "ok" else f"  -> {pending_step(answer)}")
        return answer

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
        reply = self.call(WRONG_INPUT, lambda engine: start_workflow(engine, request))
        if not isinstance(reply, Fault) and not reply["isComplete"]:
            token = str(reply["continueToken"])
            session = self.know(entry, self._begun(token))
            session.learn(token, pending_step(reply), str(reply["checkpointToken"]))

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
        was_decided = attempt.decided is not None
        allowed = WRONG_INPUT if attempt.told is None or attempt.answers else NOTHING
        reply = self.call(allowed, lambda engine: continue_workflow(engine, request), session.id)
        if not isinstance(reply, Fault):
            hear(session, attempt, reply, rotated=self.rotated, was_decided=was_decided)
        return reply

    def rehydrate(self, session: Session, attempt: Attempt, *, saved: bool = False) -> None:
        token = attempt.resume_token if saved and attempt.resume_token else attempt.token
        request = ContinueWorkflow(continue_token=self.fresh(token), intent="rehydrate")
        self.say(f"rehydrate {attempt.name}{' from its checkpoint' if saved else ''}")
        reply = self.call(NOTHING, lambda engine: continue_workflow(engine, request), session.id)
        if not isinstance(reply, Fault):
            if pending_step(reply) != attempt.step:
                raise Violation(f"{attempt.name} is on {attempt.step}, not {pending_step(reply)}")
            session.learn(str(reply["continueToken"]), attempt.step, str(reply["checkpointToken"]))

    def checkpoint(self, attempt: Attempt) -> None:
        if not attempt.checkpoint_token:
            return
        request = CheckpointWorkflow(checkpoint_token=self.fresh(attempt.checkpoint_token))
        self.say(f"checkpoint {attempt.name}")
        reply = self.call(
            NOTHING, lambda engine: checkpoint_workflow(engine, request), attempt.session
        )
        if not isinstance(reply, Fault):
            attempt.checkpoint_told = check_same(
                attempt.checkpoint_told, reply, f"the checkpoint of {attempt.name}"
            )
            attempt.resume_token = str(reply["resumeToken"])

    def resume(self, session: Session) -> Attempt | None:
        """Find a session and take up its tip."""
        request = ResumeSession(workspace_path=WORKSPACE, session_id=session.id)
        self.say(f"resume {session.name}")
        found = self.call(NOTHING, lambda engine: resume_session(engine, request))
        if isinstance(found, Fault):
            return None
        candidates = found["candidates"]
        if self.gone(session):
            return None
        if not isinstance(candidates, list) or not candidates:
            raise Violation(f"session {session.name} is not found by its id")
        token = str(candidates[0]["resumeToken"])
        again = ContinueWorkflow(continue_token=token, intent="rehydrate")
        reply = self.call(NOTHING, lambda engine: continue_workflow(engine, again), session.id)
        if isinstance(reply, Fault):
            return None
        return session.learn(
            str(reply["continueToken"]), pending_step(reply), str(reply["checkpointToken"])
        )

    def try_token(self, token: str) -> None:
        """Send a token that nobody was given."""
        self.say(f"send the made-up token {token!r}")
        request = ContinueWorkflow(continue_token=token, intent="advance", notes="ok")
        reply = self.call(WRONG_TOKEN, lambda engine: continue_workflow(engine, request))
        if not isinstance(reply, Fault):
            raise Violation(f"the made-up token {token!r} was taken")

    def read(self, session: Session) -> None:
        self.say(f"read {session.name}")
        self.call(NOTHING, lambda engine: read_session(engine, session.id), session.id)

    def gone(self, session: Session) -> bool:
        """Tell whether a session is purged."""
        return session.id in self.process.ledger.purged

    def know(self, entry: Entry, name: SessionId) -> Session:
        """Return the session of an id, new to everyone."""
        session = Session(name=chr(ord("A") + len(self.sessions)), id=name, entry=entry)
        self.sessions.append(session)
        return session

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

    def _begun(self, token: str) -> SessionId:
        head = self.process.ledger.inner.head(nonce_in(token))
        if head is None:
            raise Violation("a session was started and its token means nothing")
        return head.row.session


def _brief(sent: Sent) -> str:
    notes = sent.notes if sent.notes is None or len(sent.notes) < 30 else f"{sent.notes[:20]}..."
    context = f" {_brief_context(sent.context)}" if sent.context else ""
    artifacts = f" {list(sent.artifacts[:3])}"[:160] if sent.artifacts else ""
    return f"{notes!r}{artifacts}{context}"


def _brief_context(context: JsonObject) -> str:
    return "the usual context" if context == FILLED else f"{dict(context)}"[:80]


def nonce_in(token: str) -> bytes:
    """Return the part of a token that all tokens of its attempt share."""
    return base64.urlsafe_b64decode(token[3:19])


def _resigned(token: str, key: bytes) -> str:
    kind: TokenKind = "ct" if token[:2] == "ct" else "ck" if token[:2] == "ck" else "st"
    return sign(kind, nonce_in(token), key)


def _opens(token: str, key: bytes) -> bool:
    return _resigned(token, key) == token
