"""A worker with fifty runs, whose tools take every thread there is for longer than a lease."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync
from msgspec.structs import replace as changed

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.agent import working
from headway.agent.crew import Crew
from headway.agent.working import Bounds, Means, Worker
from headway.application.abort_run import abort_run
from headway.application.runs import Held, LeaseTerms, Runs
from headway.application.steer_run import steer_run
from headway.domain.errors import EngineUnavailable, InvalidInput
from headway.domain.ids import RunId, SessionId, task_id
from headway.domain.runs.acting import LOSSES_MAX
from headway.domain.runs.events import Owner, RunSubmitted
from headway.domain.runs.messages import ToolCall, ToolResult, ToolSpec
from headway.ports.engine import SessionWanted
from headway.ports.models import KEY_MISSING
from headway.ports.queue import Claiming, Task
from tests.fakes.crew import PlayedEngine, PlayedModel, Turn, World, a_crew
from tests.fakes.places import StandingPlaces
from tests.support.hitting import hit_file
from tests.support.patience import SECONDS_MAX
from tests.support.walked import engine_of

RUNS = 50
THREADS = 40  # as many as anyio gives to whoever asks for one
TTL_MS = 3_000
TURNS: tuple[Turn, ...] = (("write",), ("done",), ("done",))
RIVAL = Owner(host="h", boot="b", pid=2, started="s")


class Mine:
    """This process holds every lease, and lives."""

    def me(self) -> Owner:
        return Owner(host="h", boot="b", pid=1, started="s")

    def is_gone(self, owner: Owner) -> bool:
        return False

    def end_work_of(self, run: RunId, fence: int) -> int:
        raise AssertionError((run, fence))


class Hold:
    """Holds every thread it is given; once it has as many as it wants, for longer than a lease."""

    def __init__(self, wanted: int) -> None:
        self._held = threading.Barrier(wanted, action=self._release_later)
        self._released = threading.Event()

    def take(self) -> None:
        if not self._released.is_set():
            self._held.wait(SECONDS_MAX)
            self._released.wait(SECONDS_MAX)

    def _release_later(self) -> None:
        threading.Timer(1.5 * TTL_MS / 1_000, self._released.set).start()


class SlowTools:
    """Tools that hold a thread, as a search of a large folder does."""

    def __init__(self, crew: Crew, hold: Hold) -> None:
        self._tools = crew.tools("")
        self._hold = hold

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        if call.name == "write":
            await run_sync(self._hold.take)
        return await self._tools.run(call)


class AwayEngine(PlayedEngine):
    """An engine elsewhere, which is away at first."""

    def __init__(self, world: World, office: "Office") -> None:
        super().__init__(world)
        self._office = office

    async def start(self, wanted: SessionWanted) -> SessionId:
        if self._office.away:
            self._office.away -= 1
            raise EngineUnavailable("It is away.", remedy="Begin it.")
        return await super().start(wanted)


@dataclass
class Office:
    """A store in a file, with runs that wait, and what the worker on it said."""

    store: Store
    runs: Runs
    hold: Hold = field(default_factory=lambda: Hold(1))
    said: list[str] = field(default_factory=list)
    broken: frozenset[RunId] = frozenset()
    # What others do to a run while its model is found not to be had.
    meanwhile: Callable[[Runs, Held], None] | None = None
    away: int = 0  # so often the engine is away when it is asked where a session stands

    def crew(self, held: Held) -> Crew:
        if held.run in self.broken:
            raise RuntimeError("no crew can be had like this")
        if self.meanwhile is not None:
            self.meanwhile(self.runs, held)
            raise InvalidInput("No key.", remedy="Set it.", details={"kind": KEY_MISSING})
        world = World()
        crew = a_crew(world, PlayedModel(TURNS))
        return Crew(
            model=crew.model,
            tools=lambda _: SlowTools(crew, self.hold),
            engine=AwayEngine(world, self),
            place=crew.place,
        )

    def work(self, here: int) -> None:
        bell = self.store.bell()
        means = Means(
            runs=self.runs,
            bell=bell,
            crew=self.crew,
            say=lambda run, text: self.said.append(f"{run} {text}"),
            tell=lambda *_: None,
            bounds=Bounds(here=here),
            grace_seconds=1,
        )

        async def main() -> None:
            await Worker(means).run(until_idle=True)

        anyio.run(main)
        bell.close()


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    store = open_sqlite(tmp_path / "headway.db", SystemClock(), SystemEntropy())
    terms = LeaseTerms(ttl_ms=TTL_MS, heartbeat_ms=TTL_MS // 4)
    engine = engine_of(store)
    yield Office(
        store,
        Runs(engine=engine, queue=store.queue, owners=Mine(), places=StandingPlaces(), terms=terms),
    )
    store.close()


def submit(office: Office, count: int) -> list[RunId]:
    begun = RunSubmitted(workflow_id="w", workspace="/w", goal="g", model="m")
    ids = [task_id(number.to_bytes(16, "big")) for number in range(count)]
    for run in ids:
        task = Task(run=run, workflow_id="w", workspace="/w", goal="g")
        office.store.queue.submit(task, (begun,), ())
    return ids


def test_fifty_runs_at_once_keep_their_leases_while_tools_take_every_thread(
    office: Office,
) -> None:
    ids = submit(office, RUNS)
    office.hold = Hold(THREADS)
    ended, stolen = threading.Event(), list[Task]()

    def rival() -> None:
        claiming = Claiming(owner=RIVAL, ttl_ms=TTL_MS)
        while not ended.wait(0.05):
            lapsed = [
                task
                for task in office.store.queue.tasks(("claimed",), RUNS).rows
                if task.lease_until <= SystemClock().now_ms()
            ]
            taken = (
                office.store.queue.claim(changed(claiming, run=lapsed[0].run)) if lapsed else None
            )
            stolen.extend([taken] if taken else [])

    with ThreadPoolExecutor(1) as pool:
        looks = pool.submit(rival)
        try:
            office.work(RUNS)
        finally:
            ended.set()
        looks.result()
    assert stolen == []
    tasks = office.store.queue.tasks(("ended",), RUNS).rows
    assert {(task.outcome, task.fence) for task in tasks} == {("success", 1)}
    assert len(tasks) == len(ids)


def test_an_engine_that_is_away_for_long_is_waited_for_and_costs_no_worker(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "STORE_SECONDS", 0.01)
    submit(office, 1)
    office.away = 2 * LOSSES_MAX
    office.work(1)
    (task,) = office.store.queue.tasks(("ended",), 9).rows
    assert (task.outcome, task.fence) == ("success", 1)
    assert sum("waits: It is away." in text for text in office.said) == 1


def test_what_is_said_to_a_run_while_its_model_cannot_be_had_counts(office: Office) -> None:
    steered, aborted = submit(office, 2)

    def meanwhile(runs: Runs, held: Held) -> None:
        if held.run == steered:
            steer_run(runs, held.run, "Mind the tests.", "me")
        else:
            abort_run(runs, held.run, "me", "enough")

    office.meanwhile = meanwhile
    office.work(1)
    (rests,) = office.store.queue.tasks(("resting",), 9).rows
    assert (rests.run, rests.outcome, rests.reason) == (steered, "paused", "credential_missing")
    assert any("is paused (credential_missing): No key. Set it." in text for text in office.said)
    (ended,) = office.store.queue.tasks(("ended",), 9).rows
    assert (ended.run, ended.outcome) == (aborted, "cancelled")


def test_a_bug_that_one_run_meets_ends_that_run_alone(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    ids = submit(office, 4)
    office.broken = frozenset(ids[1:2])
    office.work(2)
    outcomes = {task.run: task.outcome for task in office.store.queue.tasks(("ended",), 9).rows}
    assert [outcomes[run] for run in ids] == ["success", "error", "success", "success"]
    (spoken,) = [text for text in office.said if "a bug of Headway" in text]
    assert "RuntimeError: no crew can be had like this" in spoken
    assert "RuntimeError" in caplog.text


def test_a_run_whose_row_is_damaged_is_set_aside_aloud_and_costs_no_other_its_turn(
    office: Office, tmp_path: Path
) -> None:
    damaged, *others = submit(office, 3)
    hit_file(tmp_path / "headway.db", "UPDATE tasks SET goal = X'ff' WHERE run = ?", (damaged,))
    office.work(1)
    ended = office.store.queue.tasks(("ended",), 9)
    assert {task.run: task.outcome for task in ended.rows} == dict.fromkeys(others, "success")
    assert ended.unreadable == (damaged,)
    (spoken,) = [text for text in office.said if "set aside" in text]
    assert spoken.startswith(damaged)
