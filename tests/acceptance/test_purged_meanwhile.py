"""A session that another process purges while it is looked at: told as a purge, never as damage."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from headway.application.change_preferences import change_preferences
from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.list_gates import list_gates
from headway.application.purge_session import purge_session
from headway.application.read_session import read_session
from headway.application.requests import (
    ChangePreferences,
    CheckpointWorkflow,
    ContinueWorkflow,
    DecideGate,
    ShowGate,
    StartWorkflow,
)
from headway.application.show_gate import show_gate
from headway.application.start_workflow import start_workflow
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, Fault
from headway.domain.ids import Digest, RunId, SessionId, StreamId
from headway.domain.workflow import Confirmation, Step
from headway.ports.custody import Records, Standing, StoredEvent, StoredTask
from headway.ports.ledger import Ledger, Recorded
from tests.simulation.plants import Through
from tests.support.building import workflow
from tests.support.engines import WORKSPACE, engine_for


class Purges(Through):
    """Lets another process purge a session right before a read of its events."""

    def __init__(self, inner: Ledger, purge: Callable[[], None]) -> None:
        super().__init__(inner)
        self.purge = purge

    def read(self, stream: StreamId, versions: Sequence[int]) -> tuple[Recorded, ...]:
        self.purge()
        return super().read(stream, versions)

    def scan(self, stream: StreamId, after: int = 0) -> tuple[Recorded, ...]:
        self.purge()
        return super().scan(stream, after)


class PurgesRecords:
    """Implements `ports.custody.Records`; another process purges a session before its events."""

    def __init__(self, inner: Records, purge: Callable[[], None]) -> None:
        self.inner = inner
        self.purge = purge

    def streams(self) -> tuple[StreamId, ...]:
        return self.inner.streams()

    def standing(self, stream: StreamId) -> Standing | None:
        return self.inner.standing(stream)

    def blobs(self) -> tuple[Digest, ...]:
        return self.inner.blobs()

    def blob(self, digest: Digest) -> bytes | None:
        return self.inner.blob(digest)

    def task(self, run: RunId) -> StoredTask | None:
        return self.inner.task(run)

    def strays(self) -> tuple[str, ...]:
        return self.inner.strays()

    def events(self, stream: StreamId, after: int, limit: int) -> Sequence[StoredEvent]:
        self.purge()
        return self.inner.events(stream, after, limit)


class Waiting:
    """A session whose first step waits at a gate, and an engine on which it is about to go."""

    def __init__(self) -> None:
        gated = Step(
            id="plan",
            title="Plan",
            prompt="Plan it.",
            confirmation=Confirmation(kind="human_approval"),
        )
        self.calm = engine_for(workflow(gated), gates="enforce")
        begun = StartWorkflow(workflow_id="by-hand", workspace_path=WORKSPACE, goal="Try it")
        reply = start_workflow(self.calm, begun)
        self.token = str(reply["continueToken"])
        self.checkpoint = str(reply["checkpointToken"])
        told = continue_workflow(self.calm, self.sending("advance"))
        self.gate, self.shown = str(told["gateId"]), str(told["shown"])
        gates = list_gates(self.calm, 1)["gates"]
        assert isinstance(gates, list)
        assert isinstance(gates[0], dict)
        self.session = SessionId(str(gates[0]["sessionId"]))
        self._gone = False

    def sending(self, intent: str) -> ContinueWorkflow:
        if intent == "rehydrate":
            return ContinueWorkflow(continue_token=self.token, intent="rehydrate")
        return ContinueWorkflow(continue_token=self.token, intent="advance", notes="Planned.")

    def about_to_go(self) -> Engine:
        return replace(
            self.calm,
            ledger=Purges(self.calm.ledger, self._purge),
            records=PurgesRecords(self.calm.records, self._purge),
        )

    def _purge(self) -> None:
        if not self._gone:
            self._gone = True
            purge_session(self.calm, self.session, "no longer needed")


Call = Callable[[Engine, Waiting], object]
WITH_A_TOKEN: dict[str, Call] = {
    "advance": lambda engine, w: continue_workflow(engine, w.sending("advance")),
    "rehydrate": lambda engine, w: continue_workflow(engine, w.sending("rehydrate")),
    "checkpoint": lambda engine, w: checkpoint_workflow(
        engine, CheckpointWorkflow(checkpoint_token=w.checkpoint)
    ),
    "preferences": lambda engine, w: change_preferences(
        engine, ChangePreferences(token=w.token, autonomy="full_auto_never_stop")
    ),
}
BY_NAME: dict[str, Call] = {
    "show the gate": lambda engine, w: show_gate(engine, ShowGate(gate=w.gate)),
    "decide the gate": lambda engine, w: decide_gate(
        engine, DecideGate(gate=w.gate, approve=True, decided_by="Ada", shown=w.shown)
    ),
    "read": lambda engine, w: read_session(engine, w.session),
    "export": lambda engine, w: list(export_session(engine, w.session).lines),
}


@pytest.mark.parametrize("name", WITH_A_TOKEN)
def test_a_token_whose_session_goes_during_the_call_says_that_it_was_purged(name: str) -> None:
    waiting = Waiting()
    with pytest.raises(Fault, match=r"was purged on .*no longer needed") as met:
        WITH_A_TOKEN[name](waiting.about_to_go(), waiting)
    assert met.value.code == Code.TOKEN_UNKNOWN_NODE


@pytest.mark.parametrize("name", BY_NAME)
def test_a_session_or_gate_that_goes_during_the_call_is_not_found(name: str) -> None:
    waiting = Waiting()
    with pytest.raises(Fault, match=r"was purged on .*no longer needed") as met:
        BY_NAME[name](waiting.about_to_go(), waiting)
    assert met.value.code == Code.NOT_FOUND


def test_the_gate_of_a_session_purged_before_says_so_too() -> None:
    waiting = Waiting()
    purge_session(waiting.calm, waiting.session, "no longer needed")
    with pytest.raises(Fault, match=rf"gate .* went with the session {waiting.session}, which was"):
        show_gate(waiting.calm, ShowGate(gate=waiting.gate))


def test_a_list_of_gates_leaves_out_one_whose_session_goes_meanwhile() -> None:
    waiting = Waiting()
    assert list_gates(waiting.about_to_go(), 5) == {"gates": [], "more": False, "unreadable": []}


def test_verify_finds_no_damage_in_a_session_that_goes_meanwhile() -> None:
    waiting = Waiting()
    report = verify_store(waiting.about_to_go())
    assert report.problems == ()
    assert waiting.calm.custody.tombstone(waiting.session)


def test_of_two_purges_at_once_the_second_says_who_was_first() -> None:
    waiting = Waiting()

    class Slower(PurgesRecords):
        """Finds the session, and then the other process is there."""

        def standing(self, stream: StreamId) -> Standing | None:
            found = self.inner.standing(stream)
            self.purge()
            return found

    def first() -> None:
        purge_session(waiting.calm, waiting.session, "the first")

    slower = replace(waiting.calm, records=Slower(waiting.calm.records, first))
    with pytest.raises(Fault, match=r"was purged on .*the first") as met:
        purge_session(slower, waiting.session, "the second")
    assert met.value.code == Code.NOT_FOUND


def test_a_bundle_stays_out_when_its_session_goes_while_it_is_taken_in() -> None:
    waiting = Waiting()
    lines = list(export_session(waiting.calm, waiting.session).lines)

    class Later(PurgesRecords):
        """Lets the session go right before it is looked for."""

        def standing(self, stream: StreamId) -> Standing | None:
            self.purge()
            return self.inner.standing(stream)

    def gone() -> None:
        purge_session(waiting.calm, waiting.session, "no longer needed")

    later = replace(waiting.calm, records=Later(waiting.calm.records, gone))
    with pytest.raises(Fault, match=r"was purged on .*no longer needed") as met:
        import_session(later, lines)
    assert met.value.code == Code.PRECONDITION_FAILED
    assert waiting.calm.records.streams() == ()
