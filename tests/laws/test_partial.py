"""The law of partial states: a head read decides as the whole stream would.

The same calls go to the verbs, on a store in memory, and to the pure decider, which holds
everything. Events, faults, attempt rows and the summary must agree one for one; and a call repeated
must get the very bytes of its first reply, whatever is sent along.
"""

import msgspec
from hypothesis import given, settings

from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.loading import admit, load
from headway.application.recording import attempt_row, record, summarise
from headway.application.requests import CheckpointWorkflow, ContinueWorkflow, StartWorkflow
from headway.application.requests import ResumeSession as Resume
from headway.application.resume_session import resume_session
from headway.application.start_workflow import start_workflow
from headway.domain.commands import Advance, Command, Facts, SaveCheckpoint, Start, StartFacts
from headway.domain.decide import decide
from headway.domain.decision import Accepted, Decision
from headway.domain.errors import Fault
from headway.domain.events import GateDecided, StepAdvanced
from headway.domain.ids import AttemptId, SessionId, WorkflowHash, session_stream
from headway.domain.texts import cut_text
from headway.domain.tokens import TokenKind, nonce_of, sign
from headway.domain.workflow import Workflow
from headway.ports.sessions import SessionQuery
from tests.support.engines import WORKSPACE, engine_for
from tests.support.played import Move, Played, moves, starts
from tests.support.workflows import Sent, sendings, workflows

SHOWN = ("status", "step_id", "step_title", "nonce", "depth")


class Mirrored(Played):
    """A session decided twice: from the whole state here, and by the verbs on a store."""

    def __init__(self, workflow: Workflow, start: Start) -> None:
        super().__init__(workflow)
        self.engine: Engine = engine_for(workflow, start.gates)
        self.session = SessionId("")
        self.replies: dict[AttemptId, bytes] = {}
        told = self._started(start)
        if told is not None:
            same_fault(self.start(start), told)
            return
        self.session = self.engine.sessions.find(SessionQuery()).rows[0].session
        entry = self.engine.catalogue.find(workflow.id, WORKSPACE)
        assert entry is not None
        facts = StartFacts(
            session=self.session,
            workflow=WorkflowHash(entry.hash),
            workflow_source=entry.source,
            workspace=WORKSPACE,
        )
        self.start(start, facts)
        self.compare()

    def send(self, command: Command) -> Decision | Fault:
        here = super().send(command)
        there = self._sent(command)
        same_fault(here, there)
        self.compare()
        return here

    def mint(self, attempt: AttemptId) -> AttemptId:
        token = self.token("ct", attempt)
        asked = ContinueWorkflow(continue_token=token, intent="rehydrate")
        fresh = continue_workflow(self.engine, asked)["continueToken"]
        rows = self.engine.ledger.attempts_on(self.session, self.attempt(attempt).node)
        return next(row.attempt for row in rows if self.token("ct", row.attempt) == fresh)

    def token(self, kind: TokenKind, attempt: AttemptId) -> str:
        return sign(kind, nonce_of(self.session, attempt), self.engine.keyring.keys().current)

    def reply(self, command: Advance) -> bytes:
        """Return what the verb answers, as bytes."""
        request = ContinueWorkflow(
            continue_token=self.token("ct", command.attempt),
            intent="advance",
            notes=command.notes,
            artifacts=command.artifacts,
            context=command.context,
        )
        return msgspec.json.encode(continue_workflow(self.engine, request))

    def compare(self) -> None:
        recorded = self.engine.ledger.scan(session_stream(self.session))
        assert [each.event for each in recorded] == self.events
        for name in self.known:
            head = self.engine.ledger.head(nonce_of(self.session, name))
            assert head is not None
            assert head.row == attempt_row(self.session, self.state, name)
            assert head.version == self.state.version
        found = self.engine.sessions.summary(self.session)
        whole = summarise(self.session, self.state, self.workflow)
        assert [getattr(found, name) for name in SHOWN] == [getattr(whole, name) for name in SHOWN]
        assert found is not None
        assert found.recap == cut_text(self.newest_notes(), 1_600)

    def newest_notes(self) -> str:
        for event in reversed(self.events):
            if isinstance(event, StepAdvanced) and event.output.notes:
                return self.sent[event.attempt].notes or ""
        return ""

    def _started(self, start: Start) -> Fault | None:
        request = StartWorkflow(
            workflow_id=self.workflow.id,
            workspace_path=WORKSPACE,
            goal=start.goal,
            context=start.context,
            preferences=start.preferences,
        )
        try:
            start_workflow(self.engine, request)
        except Fault as fault:
            return fault
        return None

    def _sent(self, command: Command) -> Fault | None:
        try:
            match command:
                case Advance():
                    reply = self.reply(command)
                    self.replies.setdefault(command.attempt, reply)
                case SaveCheckpoint(attempt=attempt):
                    request = CheckpointWorkflow(checkpoint_token=self.token("ck", attempt))
                    first = checkpoint_workflow(self.engine, request)
                    assert checkpoint_workflow(self.engine, request) == first
                case Start():
                    raise AssertionError
                case _:
                    self._recorded(command, command.attempt)
        except Fault as fault:
            return fault
        return None

    def _recorded(self, command: Command, attempt: AttemptId) -> None:
        """Decide and record a command of a person or the runner, the way its verb does."""
        loaded = load(self.engine, admit(self.engine, nonce_of(self.session, attempt)))
        scene = loaded.scene
        decision = decide(scene.state, command, Facts(workflow=scene.workflow))
        if isinstance(decision, Accepted):
            record(self.engine, scene, decision)


def same_fault(here: Decision | Fault, there: Fault | None) -> None:
    if isinstance(here, Fault) or there is not None:
        assert isinstance(here, Fault)
        assert there is not None
        assert (here.code, here.message, here.details) == (there.code, there.message, there.details)


@settings(max_examples=60)
@given(
    workflows(),
    starts(autonomous=False),
    moves("send", "rehydrate", "checkpoint", "checks", "gate", "preferences"),
)
def test_a_head_read_decides_as_the_whole_stream_would(
    workflow: Workflow, start: Start, calls: list[Move]
) -> None:
    session = Mirrored(workflow, start)
    for move in calls:
        if session.known:
            session.play(move)
    if session.session:
        offered = resume_session(session.engine, Resume(workspace_path=WORKSPACE))
        assert offered["totalEligible"] == bool(session.known)


@settings(max_examples=40)
@given(
    workflows(),
    starts(autonomous=False),
    moves("send", "rehydrate", "checkpoint", "checks", "gate", "preferences"),
    sendings(),
)
def test_a_repeated_advance_gets_the_bytes_of_its_first_reply(
    workflow: Workflow, start: Start, calls: list[Move], sent: Sent
) -> None:
    session = Mirrored(workflow, start)
    for move in calls:
        if session.known:
            session.play(move)
    answered = {event.attempt for event in session.events if isinstance(event, GateDecided)}
    for name, first in session.replies.items():
        again = session.reply(session.advance(name, sent))
        assert again == session.reply(session.advance(name, Sent()))
        assert again == first or name in answered
    if session.session:
        session.compare()
