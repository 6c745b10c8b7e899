"""A process that drives runs as `headway run` and `headway worker` do, and may die at a moment.

`python -m tests.support.run_process RUN FOLDER MOMENT` works on the store in FOLDER/home. RUN is
`new`, an id, or `any`: then it is a worker that drives what it can claim until there is nothing
left. MOMENT is one of `dying.py`. Each effect is written to FOLDER/effects, which is outside the
store, as it is about to be had. What came of a run is told on stdout.
"""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import anyio

from headway.agent.crew import Crew, Workplace
from headway.agent.driving import drive
from headway.agent.tooling import Tools
from headway.agent.working import Bounds, Means, Worker
from headway.application.claim_run import claim_run
from headway.application.naming_runs import named_run
from headway.application.runs import Held, Runs
from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import crew_for, model_named, open_work
from headway.config import Settings, process_settings
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import WorktreePlanned
from headway.domain.runs.messages import ToolCall, ToolResult, ToolSpec
from headway.domain.runs.outcomes import kind_of
from headway.ports.models import Model
from headway.ports.queue import Bell, Task
from tests.support.dying import Moment, watch_commits
from tests.support.patience import SECONDS_MAX

WORKFLOW = "two-steps"
RUNS_AT_ONCE = 3
LOOK_SECONDS = 0.05


class Effects:
    """Knows of every effect on the world: writes it down, and tells the moment."""

    def __init__(self, folder: Path, run: RunId, moment: Moment) -> None:
        self._log = folder / "effects"
        self._run = run
        self._moment = moment

    def before(self, name: str) -> None:
        self._moment.before()
        with self._log.open("a") as log:
            log.write(f"{self._run} {name}\n")

    def after(self) -> None:
        self._moment.after()


class WatchedTools:
    """Tools whose every call is an effect."""

    def __init__(self, tools: Tools, effects: Effects) -> None:
        self._tools = tools
        self._effects = effects

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        self._effects.before(f"call {call.id}")
        result = await self._tools.run(call)
        self._effects.after()
        return result


class WatchedPlace:
    """A place whose making and committing are effects."""

    def __init__(self, place: Workplace, effects: Effects) -> None:
        self._place = place
        self._effects = effects

    async def plan(self) -> WorktreePlanned:
        return await self._place.plan()

    async def is_there(self, planned: WorktreePlanned) -> bool:
        return await self._place.is_there(planned)

    async def make(self, planned: WorktreePlanned) -> str | None:
        self._effects.before("make")
        made = await self._place.make(planned)
        self._effects.after()
        return made

    async def forget(self, planned: WorktreePlanned) -> str:
        return await self._place.forget(planned)

    async def commit(self, now: Conversation) -> str | None:
        self._effects.before("commit")
        commit = await self._place.commit(now)
        self._effects.after()
        return commit


class Process:
    """What this process works with."""

    def __init__(self, folder: Path, told: str, settings: Settings) -> None:
        self.folder = folder
        self.moment = Moment(folder, told)
        self.settings = settings
        self.model: Model = model_named(settings, f"scripted:{folder / 'script.yaml'}", folder)
        watch_commits(self.moment)
        (folder / "pid").write_text(str(os.getpid()))

    def crew(self, runs: Runs, held: Held) -> Crew:
        crew = crew_for(self.settings, runs, held, self.model)
        effects = Effects(self.folder, held.run, self.moment)
        return replace(
            crew,
            tools=lambda path: WatchedTools(crew.tools(path), effects),
            place=WatchedPlace(crew.place, effects),
        )

    def event(self, now: Conversation, *_: object) -> None:
        self.moment.event(now.version)

    def submitted(self, runs: Runs, name: str) -> Task:
        """Return the run of a name; one that is `new` is submitted once, however often we die."""
        if name != "new":
            return named_run(runs, name)
        request = SubmitRun(
            workflow_id=WORKFLOW,
            workspace=str(self.folder / "repo"),
            goal="Make check.py pass",
            model=self.model.name,
            dedupe="the one",
        )
        return submit_run(runs, request)

    def drive_one(self, runs: Runs, name: str) -> None:
        task = self.submitted(runs, name)
        print(task.run, flush=True)  # noqa: T201 - what the test reads
        if task.state == "ended":
            print(task.outcome)  # noqa: T201 - as above
            return
        held = self.claimed(runs, task.run)
        outcome = anyio.run(drive, runs, held, self.crew(runs, held), self.event)
        print(kind_of(outcome) if outcome else "lost")  # noqa: T201 - as above

    def claimed(self, runs: Runs, run: RunId) -> Held:
        """Claim a run, once its lease has run out if somebody stands still on it."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            held = claim_run(runs, run)
            if held is not None:
                return held
            time.sleep(LOOK_SECONDS)
        raise AssertionError("the run was not to be had")

    def work(self, runs: Runs, bell: Bell) -> None:
        means = Means(
            runs=runs,
            bell=bell,
            crew=lambda held: self.crew(runs, held),
            say=lambda run, text: print(run, text, flush=True),  # noqa: T201 - as above
            tell=lambda _, now, event, call: self.event(now, event, call),
            bounds=Bounds(here=RUNS_AT_ONCE),
            grace_seconds=0,
        )

        async def work() -> None:
            await Worker(means).run(until_idle=True)

        anyio.run(work)


def main(name: str, folder: Path, told: str) -> None:
    settings = process_settings()
    process = Process(folder, told, settings)
    with open_work(settings) as (runs, bell):
        if name == "any":
            process.work(runs, bell)
        else:
            process.drive_one(runs, name)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
