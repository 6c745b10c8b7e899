"""Runs: what a turn costs beside its model and its tools, at turn 10 and at turn 500.

Long runs of a played model, which answers at once, on a real repository, with the real tools. What
lies between a reply and the next request, less the tool's own time, is the run's own. So are the
bytes that the file grows by, less those of what was said and found. Then many runs at once in one
worker, whose model takes its time: each must keep its lease.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast

import anyio
import msgspec

from bench.advances import spread
from bench.figures import Figure
from bench.machine import settle
from bench.sizes import Sizes
from bench.timing import MILLISECONDS
from headway.agent.crew import Crew
from headway.agent.driving import drive
from headway.agent.tooling import Tools
from headway.agent.working import Bounds, Means, Worker
from headway.application.claim_run import claim_run
from headway.application.runs import Held, Runs
from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import DATABASE_NAME, crew_for, open_work
from headway.config import Settings
from headway.domain.ids import RunId
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import ModelRequest, Reply, ToolCall, ToolResult, ToolSpec
from headway.domain.values import JsonObject
from headway.ports.models import Heard, Traits, unheard
from headway.ports.queue import Bell, Queue

OWN_MAX_MS = 15.0
FLAT_MAX = 1.2
BEYOND_MAX = 2_048
FIRST_MAX_MS = 150.0
LEASE_MAX = 1.0
TURNS_A_STEP = 25  # a run that stays longer on one step counts as stuck
AROUND = 10  # turns on either side that a figure of a turn is the median of
LEASE_MS = 8_000
TURNS_AT_ONCE = 5
NOTES = "Read what there is on this and found nothing that would stand in the way of the next step."
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")
NO_LIMITS = Limits(turns=None, seconds=None)

Pause = Callable[[int], None]


@dataclass
class Spans:
    """When the model was asked and had replied, and what the tools took, in seconds."""

    asked: list[float] = field(default_factory=list)
    replied: list[float] = field(default_factory=list)
    tools: list[float] = field(default_factory=list)
    bytes: int = 0  # of what was said and found

    def own_ms(self, turn: int) -> float:
        """Return what a turn took between its reply and the next request, without its tool."""
        between = self.asked[turn] - self.replied[turn - 1]
        return (between - self.tools[turn - 1]) * MILLISECONDS

    def around(self, turn: int) -> list[float]:
        """Return the same of some turns around one, but for those that hand a step in."""
        first, last = max(1, turn - AROUND), min(turn + AROUND, len(self.asked) - 1)
        return [self.own_ms(at) for at in range(first, last + 1) if at % TURNS_A_STEP]


class PlayedModel:
    """Implements `ports.models.Model`: reads at each turn, now and then hands a step in."""

    name = "bench:played"
    traits = Traits()

    def __init__(
        self,
        spans: Spans,
        turns_a_step: int = TURNS_A_STEP,
        *,
        seconds: float = 0.0,
        pause: Pause | None = None,
    ) -> None:
        self._spans = spans
        self._turns_a_step = turns_a_step
        self._seconds = seconds
        self._pause = pause

    async def reply(self, _request: ModelRequest, heard: Heard = unheard, /) -> Reply:
        heard()
        self._spans.asked.append(time.perf_counter())
        turn = len(self._spans.asked)
        if self._seconds:
            await anyio.sleep(self._seconds)
        if self._pause is not None:
            self._pause(turn)
        name = "read_file"
        arguments: JsonObject = {"path": "some.txt", "offset": turn % 50 + 1, "limit": 5}
        if turn % self._turns_a_step == 0:
            name, arguments = "complete_step", {"notes": f"{NOTES} ({turn})"}
        call = ToolCall(id=f"call_{turn}", name=name, arguments=json.dumps(arguments))
        said = Reply(text=f"On to {turn}.", stop="tools", model=self.name, calls=(call,))
        self._spans.bytes += len(msgspec.json.encode(said))
        self._spans.replied.append(time.perf_counter())
        return said


class TimedTools:
    """Implements `tooling.Tools`: the real ones, timed."""

    def __init__(self, tools: Tools, spans: Spans) -> None:
        self._tools = tools
        self._spans = spans

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        began = time.perf_counter()
        result = await self._tools.run(call)
        self._spans.tools.append(time.perf_counter() - began)
        self._spans.bytes += len(result.text.encode())
        return result


@dataclass(frozen=True)
class Field:
    """Where runs are driven."""

    settings: Settings
    runs: Runs
    repository: Path

    def submitted(self, steps: int) -> RunId:
        request = SubmitRun(
            workflow_id=f"bench.steps-{steps}",
            workspace=str(self.repository),
            goal="Read on",
            model=PlayedModel.name,
            limits=NO_LIMITS,
        )
        return submit_run(self.runs, request).run

    def crew(self, held: Held, spans: Spans, model: PlayedModel) -> Crew:
        crew = crew_for(self.settings, self.runs, held, model)
        return replace(crew, tools=lambda path: TimedTools(crew.tools(path), spans))


def measure_runs(settings: Settings, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield what runs cost in a home of their own."""
    _, late = sizes.turns
    steps = late // TURNS_A_STEP + 2
    for count in (1, steps):
        _write_workflow(folder / "workflows", count)
    home = replace(settings, home=folder / "runs-home", lease_ms=LEASE_MS)
    repository = _repository(folder / "runs-repository")
    with open_work(home) as (runs, bell):
        place = Field(home, runs, repository)
        yield from _turns(place, steps, sizes)
        yield _first_request(place, sizes)
        yield _at_once(place, bell, sizes)


def _turns(place: Field, steps: int, sizes: Sizes) -> Iterator[Figure]:
    group = "a turn of a run, beside model and tool"
    early, late = sizes.turns
    database = place.settings.home / DATABASE_NAME
    marks: dict[int, tuple[int, int]] = {}
    spans = Spans()

    def pause(turn: int) -> None:
        if turn in (early, late):
            marks[turn] = settle(database), spans.bytes

    _drive(place, steps, spans, PlayedModel(spans, pause=pause))
    own: list[tuple[float, float]] = []
    for _ in range(sizes.blocks):
        again = Spans()
        _drive(place, steps, again, PlayedModel(again))
        first, last = (statistics.median(again.around(turn)) for turn in sizes.turns)
        own.append((first, last))
    for turn, column, target in ((early, 0, OWN_MAX_MS), (late, 1, None)):
        took = statistics.median(pair[column] for pair in own)
        yield Figure(group=group, name=f"turn {turn}", value=took, unit="ms", target=target)
    ratios = [last / first for first, last in own]
    yield Figure(
        group=group,
        name=f"turn {late} / turn {early}",
        value=statistics.median(ratios),
        unit="times",
        target=FLAT_MAX,
        note=spread(ratios),
    )
    (first_size, first_said), (last_size, last_said) = marks[early], marks[late]
    said = (last_said - first_said) / (late - early)
    beyond = (last_size - first_size) / (late - early) - said
    yield Figure(
        group=group,
        name="bytes beyond those said and found",
        value=beyond,
        unit="bytes",
        target=BEYOND_MAX,
        note=f"of {beyond + said:,.0f} a turn, from turn {early} to turn {late}",
    )


def _first_request(place: Field, sizes: Sizes) -> Figure:
    took = []
    for _ in range(max(2, sizes.repeats // 3)):
        run, spans = place.submitted(1), Spans()
        began = time.perf_counter()
        held = claim_run(place.runs, run)
        assert held is not None
        anyio.run(drive, place.runs, held, place.crew(held, spans, PlayedModel(spans)), _silent)
        took.append((spans.asked[0] - began) * MILLISECONDS)
    return Figure(
        group="a run",
        name="from its claim to its first request",
        value=statistics.median(took[1:]),
        unit="ms",
        target=FIRST_MAX_MS,
        note="with its worktree and its session",
    )


def _drive(place: Field, steps: int, spans: Spans, model: PlayedModel) -> None:
    held = claim_run(place.runs, place.submitted(steps))
    assert held is not None
    outcome = anyio.run(drive, place.runs, held, place.crew(held, spans, model), _silent)
    assert outcome is not None


def _at_once(place: Field, bell: Bell, sizes: Sizes) -> Figure:
    """Drive many runs at once in one worker; each must end well, under the claim it began with."""
    count = sizes.runs_at_once
    watched = _Watched(place.runs.queue)
    runs = replace(place.runs, queue=cast("Queue", watched))
    there = replace(place, runs=runs)

    def crew(held: Held) -> Crew:
        spans = Spans()
        return there.crew(
            held, spans, PlayedModel(spans, TURNS_AT_ONCE, seconds=sizes.reply_seconds)
        )

    submitted = [place.submitted(1) for _ in range(count)]
    means = Means(
        runs=runs,
        bell=bell,
        crew=crew,
        say=_unheard,
        tell=watched.lives,
        bounds=Bounds(here=count),
        grace_seconds=0.0,
    )
    began = time.perf_counter()
    anyio.run(partial(Worker(means).run, until_idle=True))
    took = time.perf_counter() - began
    for run in submitted:
        (row,) = place.runs.queue.find(run, 1).rows
        last = place.runs.queue.scan(run)[-1].event
        assert (row.outcome, row.fence) == ("success", 1), last
    longest = max(watched.gaps(submitted))
    return Figure(
        group="a run",
        name=f"longest without a heartbeat, {count} at once in one worker",
        value=longest / (LEASE_MS / MILLISECONDS),
        unit="leases",
        target=LEASE_MAX,
        note=f"{longest:.1f} s of {LEASE_MS / MILLISECONDS:g} s; all ended after {took:.0f} s",
    )


class _Watched:
    """A queue that notes when each lease was prolonged; all else passes through."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._renewed: dict[RunId, list[float]] = {}
        self._lived: dict[RunId, float] = {}

    def renew(self, run: RunId, fence: int, ttl_ms: int) -> None:
        self._queue.renew(run, fence, ttl_ms)
        self._renewed.setdefault(run, []).append(time.perf_counter())

    def lives(self, run: RunId, *_: object) -> None:
        self._lived[run] = time.perf_counter()

    def gaps(self, runs: Sequence[RunId]) -> Iterator[float]:
        """Yield the seconds between two heartbeats, and from the last to the end."""
        for run in runs:
            moments = [*self._renewed[run], self._lived[run]]
            yield from (later - earlier for earlier, later in pairwise(moments))

    def __getattr__(self, name: str) -> object:
        return getattr(self._queue, name)


def _unheard(_run: RunId | None, _sentence: str) -> None:
    """Say it to nobody."""


def _silent(*_: object) -> None:
    """Tell nobody."""


def _write_workflow(folder: Path, steps: int) -> None:
    document = {
        "id": f"bench.steps-{steps}",
        "name": "Steps",
        "description": "As many steps as it takes.",
        "version": "1.0.0",
        "steps": [
            {"id": f"read-{number}", "title": "Read", "prompt": f"Read part {number}."}
            for number in range(steps)
        ],
    }
    (folder / f"steps-{steps}.json").write_text(json.dumps(document), "utf-8")


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "some.txt").write_text("A line of a file that is read.\n" * 100, "utf-8")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Begin")):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder
