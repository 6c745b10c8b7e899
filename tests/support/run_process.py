"""A process that drives a run as `headway run` does, and may be killed at a given moment.

`python -m tests.support.run_process RUN FOLDER MOMENT` works on the store in FOLDER/home. RUN is
`new` or an id. MOMENT is `event:N` (once N events are recorded), `before:N` or `after:N` (around
the N-th effect on the world), or `never`. Each effect is written to FOLDER/effects, which is
outside the store, as it is about to be had. What came of the run is told on stdout.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from headway.agent.crew import Crew, Workplace
from headway.agent.driving import drive
from headway.agent.tooling import Tools
from headway.application.claim_run import claim_run
from headway.application.resume_run import resume_run
from headway.application.runs import Runs
from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import crew_for, model_named, open_runs
from headway.config import process_settings
from headway.domain.ids import RunId
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent, WorktreePlanned
from headway.domain.runs.messages import ToolCall, ToolResult, ToolSpec
from headway.domain.runs.outcomes import kind_of

WORKFLOW = "two-steps"


class Moment:
    """The moment to die at; and the log of effects."""

    def __init__(self, folder: Path, told: str) -> None:
        self._log = folder / "effects"
        self._kind, _, number = told.partition(":")
        self._number = int(number or 0)
        self._effects = 0

    def event(self, now: Conversation, _: RunEvent) -> None:
        if self._kind == "event" and now.version >= self._number:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, name: str) -> None:
        self._effects += 1
        if self._kind == "before" and self._effects == self._number:
            os.kill(os.getpid(), signal.SIGKILL)
        with self._log.open("a") as log:
            log.write(name + "\n")

    def after(self) -> None:
        if self._kind == "after" and self._effects == self._number:
            os.kill(os.getpid(), signal.SIGKILL)


class WatchedTools:
    """Tools whose every call is an effect."""

    def __init__(self, tools: Tools, moment: Moment) -> None:
        self._tools = tools
        self._moment = moment

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        self._moment.before(f"call {call.id}")
        result = await self._tools.run(call)
        self._moment.after()
        return result


class WatchedPlace:
    """A place whose making and committing are effects."""

    def __init__(self, place: Workplace, moment: Moment) -> None:
        self._place = place
        self._moment = moment

    async def plan(self) -> WorktreePlanned:
        return await self._place.plan()

    async def make(self, planned: WorktreePlanned) -> str | None:
        self._moment.before("make")
        made = await self._place.make(planned)
        self._moment.after()
        return made

    async def commit(self, now: Conversation) -> str | None:
        self._moment.before("commit")
        commit = await self._place.commit(now)
        self._moment.after()
        return commit


def watched(crew: Crew, moment: Moment) -> Crew:
    return replace(
        crew,
        tools=lambda path: WatchedTools(crew.tools(path), moment),
        place=WatchedPlace(crew.place, moment),
    )


def the_run(runs: Runs, name: str, folder: Path) -> RunId:
    if name != "new":
        return resume_run(runs, name, "test").run
    request = SubmitRun(
        workflow_id=WORKFLOW,
        workspace=str(folder / "repo"),
        goal="Make check.py pass",
        model=f"scripted:{folder / 'script.yaml'}",
    )
    return submit_run(runs, request).run


def main(name: str, folder: Path, told: str) -> None:
    settings = process_settings()
    model = model_named(f"scripted:{folder / 'script.yaml'}", folder)
    moment = Moment(folder, told)
    with open_runs(settings) as runs:
        run = the_run(runs, name, folder)
        print(run, flush=True)  # noqa: T201 - what the test reads
        held = claim_run(runs, run)
        assert held is not None
        crew = watched(crew_for(settings, runs, held, model), moment)
        outcome = anyio.run(drive, runs, held, crew, moment.event)
    print(kind_of(outcome) if outcome else "lost")  # noqa: T201 - as above


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
