"""The work: a workflow, the agents that follow it, and what they were told."""

import json
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from headway.application.requests import Json, JsonObject

WORKFLOW = "crash-steps"
STEPS = 12


class Wrong(Exception):
    """A promise was broken; the text says which and where."""


class Client(Protocol):
    def call(self, tool: str, arguments: JsonObject, key: str) -> dict[str, Json]:
        """Return the structured answer, however often the call must be repeated for it."""


@dataclass
class Tally:
    """What all agents together met, and per session the notes of each acknowledged advance."""

    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    longest_wait: tuple[float, str] = (0.0, "none")  # seconds; which call, and why
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def waited(self, seconds: float, told: str) -> None:
        with self.lock:
            self.longest_wait = max(self.longest_wait, (seconds, told))


def write_workflow(folder: Path) -> None:
    """Write the workflow that every agent follows."""
    steps = [
        {"id": f"s{n}", "title": f"Step {n}", "prompt": f"Do {n}."} for n in range(1, STEPS + 1)
    ]
    workflow = {"id": WORKFLOW, "name": "Crash", "description": "Steps.", "version": "1.0.0"}
    folder.mkdir(parents=True)
    (folder / f"{WORKFLOW}.json").write_text(json.dumps({**workflow, "steps": steps}), "utf-8")


class Agent:
    """Follows one session after the other until told to stop; then ends the one it is in."""

    def __init__(self, name: str, client: Client, workspace: Path, tally: Tally) -> None:
        self._name = name
        self._client = client
        self._workspace = str(workspace)
        self._tally = tally
        self._chance = random.Random(name)

    def work(self, enough: threading.Event) -> None:
        """Work until it is enough; what goes wrong is noted."""
        number = 0
        try:
            while not enough.is_set() or number == 0:
                number += 1
                self._session(f"{self._name} session {number}")
        except Wrong as wrong:
            with self._tally.lock:
                self._tally.problems.append(f"{self._name}: {wrong}")

    def _session(self, goal: str) -> None:
        notes = self._tally.acknowledged.setdefault(goal, [])
        at = self._client.call(
            "start_workflow",
            {"workflowId": WORKFLOW, "workspacePath": self._workspace, "goal": goal},
            self._key(),
        )
        for number in range(1, STEPS + 1):
            _expect(at, number)
            token = at["continueToken"]
            if self._chance.random() < 0.1:
                ck = {"checkpointToken": at["checkpointToken"]}
                self._client.call("checkpoint_workflow", ck, self._key())
            text = f"{goal}: step {number}"
            output: JsonObject = {"notesMarkdown": text}
            arguments: JsonObject = {
                "continueToken": token,
                "intent": "advance",
                "output": output,
            }
            at = self._client.call("continue_workflow", arguments, self._key())
            notes.append(text)
            self._tally.count("acknowledged advances")
        if at.get("isComplete") is not True:
            raise Wrong(f"{goal} is not complete after its last step: {at}")
        self._tally.finished.add(goal)
        self._tally.count("sessions finished")

    def _key(self) -> str:
        return f"{self._chance.getrandbits(128):032x}"


def _expect(at: dict[str, Json], number: int) -> None:
    pending = at.get("pending")
    step = pending.get("stepId") if isinstance(pending, dict) else None
    if step != f"s{number}":
        raise Wrong(f"step {number} was to come, but the answer was {json.dumps(at)[:500]}")
