"""Running: cases one after another, until time is up or the promise is broken."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

from fuzz.cases import Cases
from fuzz.doors import Door, RunsHttp, open_http, open_runs, open_stdio
from fuzz.judging import Broken
from headway.domain.values import JsonObject

CHECKED_EVERY: Final = 50  # cases between two good calls
DOORS: Final[dict[str, Callable[[Path], AbstractContextManager[Door]]]] = {
    "stdio": open_stdio,
    "http": open_http,
    "runs": open_runs,
}


@dataclass(frozen=True)
class Outcome:
    """How many cases were put to a door, and what broke the promise, if anything did."""

    door: str
    seed: int
    cases: int
    problem: str | None = None
    last: tuple[bytes, ...] = ()

    def told(self) -> str:
        """Return the outcome in words, with the bytes that led to it."""
        if self.problem is None:
            return f"{self.door}: {self.cases:,} cases, every promise held (seed {self.seed})."
        cases = "\n".join(f"  {each!r}" for each in self.last)
        return (
            f"{self.door}: case {self.cases} of seed {self.seed} broke a promise: {self.problem}\n"
            f"the last cases, the newest at the end:\n{cases}"
        )


def fuzz(door: str, seed: int, seconds: float, root: Path, cases_max: int = 10**9) -> Outcome:
    """Put cases to a server of this kind for a time; `root` is a folder of its own for it."""
    until = monotonic() + seconds
    with DOORS[door](root) as opened:
        chance = Random(f"{door} {seed}")
        cases = Cases(
            chance,
            _run_calls(opened, root) if isinstance(opened, RunsHttp) else _good_calls(opened, root),
        )
        last: list[bytes] = []
        number = 0
        try:
            while number < cases_max and monotonic() < until:
                number += 1
                last = [*last[-2:], opened.draw(cases)]
                opened.put(last[-1])
                if number % CHECKED_EVERY == 0:
                    _serves_on(opened, root)
            _serves_on(opened, root)
        except Broken as broken:
            return Outcome(door, seed, number, str(broken), tuple(last))
        return Outcome(door, seed, number)


def _serves_on(door: Door, root: Path) -> None:
    """Hold that a session can be started and gone on with, and that the log tells of no bug."""
    begun = _start(door, root)
    output: JsonObject = {"notesMarkdown": "Done."}
    token = begun.get("continueToken")
    call: JsonObject = {"continueToken": token, "intent": "advance", "output": output}
    if door.call("continue_workflow", call).get("kind") != "ok":
        raise Broken("a good advance was not answered as one")
    if "Traceback" in door.log():
        raise Broken(f"the log tells of a bug: {door.log()[-2_000:]}")


def _start(door: Door, root: Path) -> JsonObject:
    place: JsonObject = {"workspacePath": str(root), "workflowId": "hw.bug-fix", "goal": "Mend it"}
    return door.call("start_workflow", place)


def _good_calls(door: Door, root: Path) -> list[tuple[str, JsonObject]]:
    """Return a call of every tool; none of them attaches a folder, lest a case attach the disk."""
    place = str(root)
    begun = _start(door, root)
    token, checkpoint = begun.get("continueToken"), begun.get("checkpointToken")
    artifact: JsonObject = {"kind": "bug_fix_report", "rootCause": "The remainder was dropped."}
    output: JsonObject = {"notesMarkdown": "Done.", "artifacts": [artifact]}
    return [
        ("list_workflows", {"workspacePath": place, "tags": ["coding"], "includeSources": True}),
        ("inspect_workflow", {"workflowId": "hw.bug-fix", "workspacePath": place}),
        (
            "start_workflow",
            {
                "workflowId": "hw.bug-fix",
                "workspacePath": place,
                "goal": "Mend it",
                "context": {"a": 1},
                "preferences": {"autonomy": "guided"},
            },
        ),
        (
            "continue_workflow",
            {
                "continueToken": token,
                "intent": "advance",
                "output": output,
                "context": {"n": [1, {"b": None}]},
            },
        ),
        ("continue_workflow", {"continueToken": token, "intent": "rehydrate"}),
        ("checkpoint_workflow", {"checkpointToken": checkpoint}),
        ("resume_session", {"workspacePath": place, "query": "mend", "gitBranch": "main"}),
        ("manage_workflow_source", {"action": "detach", "path": f"{place}/none"}),
    ]


def _run_calls(door: RunsHttp, root: Path) -> list[tuple[str, JsonObject]]:
    """Return a request of every kind about runs: one that waits, one that ended, one unknown."""
    wanted: JsonObject = {
        "workflow": "hw.bug-fix",
        "goal": "Mend it",
        "workspace": str(root),
        "model": "scripted:script.yaml",
        "limits": {"turns": 5, "onLimit": "park"},
        "priority": 1,
        "dedupe": "one",
    }
    waits = door.submit(wanted)
    ended = door.submit({**wanted, "dedupe": "another"})
    who: JsonObject = {"by": "Ann"}
    verbs: list[tuple[str, JsonObject]] = [
        ("steer", {**who, "text": "Look left."}),
        ("pause", who),
        ("resume", {**who, "limits": {"turns": 5, "money": 10}}),
        ("retry", {}),
    ]
    named = [waits, ended, "task_" + "a" * 26]
    return [
        ("POST /v1/runs", wanted),
        ("GET /v1/runs?state=queued&workflow=hw.bug-fix&unfinished=true&limit=3", {}),
        (f"POST /v1/runs/{ended}/abort", {**who, "reason": "Enough."}),
        *((f"GET /v1/runs/{run}", {}) for run in named),
        *((f"GET /v1/runs/{run}/events?after=0&limit=5&texts=true", {}) for run in named),
        *((f"POST /v1/runs/{run}/{verb}", body) for run in named for verb, body in verbs),
    ]
