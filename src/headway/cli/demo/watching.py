"""A run, told as its events come in: who has it, what its model says and does, what comes of it.

Everything told here stands in the ledger; what the model was shown is read from its blobs.
"""

from typing import Final

import msgspec

from headway.application.runs import Runs, text_of
from headway.cli.demo.telling import Teller
from headway.cli.run_calls import arguments_of
from headway.domain.ids import Digest, RunId
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import (
    ModelErred,
    ModelReplied,
    RunClaimed,
    RunEnded,
    RunEvent,
    StepReached,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
    WorktreePlanned,
)
from headway.domain.runs.messages import Reply, ToolCall
from headway.domain.runs.outcomes import Success, in_words

HAND_IN: Final = "complete_step"
COMMAND: Final = "bash"
TARGETS: Final = ("path", "pattern", "name")  # what a call is about, the first that it has
EXAMPLE: Final = " Example: "  # what follows is for the model, and long
SAID_LINES_MAX: Final = 3
OUTPUT_LINES_MAX: Final = 2
REFUSAL_LINES_MAX: Final = 4


class Watcher:
    """Tells what was recorded of a run since it last looked."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self.run: RunId | None = None
        self.now = Conversation()
        self._calls: dict[str, ToolCall] = {}
        self._owner = 0

    def catch_up(self, runs: Runs) -> None:
        """Tell what is new of the one run there is, once there is one. Raises Fault."""
        if self.run is None:
            self.run = next((task.run for task in runs.queue.find("", 1).rows), None)
        if self.run is None:
            return
        for recorded in runs.queue.scan(self.run, self.now.version):
            self.now = evolve(self.now, recorded.event)
            self._tell(runs, recorded.event)

    def whereabouts(self) -> str:
        """Return what was under way, as far as it was recorded."""
        running = [each.asked for each in self.now.calls if each.state == "running"]
        if running:
            return f"in the middle of {running[0].name}"
        return "while the model was thinking" if self.now.asked else "between two turns"

    def _tell(self, runs: Runs, event: RunEvent) -> None:
        says = self._teller.tells
        match event:
            case RunClaimed(owner=owner):
                self._claimed(owner.pid)
            case WorktreePlanned(branch=branch) if branch is not None:
                says("worker", "works in a worktree of its own, on branch")
                says("", branch)
            case StepReached(title=title, step=step, number=number, total=total):
                self._teller.title(f"Step {number} of {total}. {title}", f"({step})")
            case ModelReplied(reply=reply):
                self._replied(runs, reply)
            case ModelErred(problem=problem, message=message):
                says("model", f"{problem}: {message}", "red", SAID_LINES_MAX)
            case ToolStarted(call=call):
                self._started(self._calls[call])
            case ToolEnded():
                self._ended(event, text_of(runs, event.text))
            case WorkflowCompleted():
                says("headway", "the workflow is complete", "green")
            case RunEnded(outcome=outcome):
                good = isinstance(outcome, Success)
                says("headway", f"the run {in_words(outcome)}", "green" if good else "red")
            case _:
                pass

    def _claimed(self, pid: int) -> None:
        if self._owner:
            told = f"recovered by another worker: process {pid} goes on where {self._owner} was"
            self._teller.tells("worker", told, "green")
        else:
            self._teller.tells("worker", f"process {pid} has the run")
        self._owner = pid

    def _replied(self, runs: Runs, name: Digest) -> None:
        reply = msgspec.json.decode(runs.engine.ledger.blob(name), type=Reply)
        self._calls = {call.id: call for call in reply.calls}
        if reply.text.strip():
            self._teller.tells("model", " ".join(reply.text.split()), "", SAID_LINES_MAX)

    def _started(self, call: ToolCall) -> None:
        arguments = arguments_of(call)
        command = arguments.get("command")
        if call.name == COMMAND and isinstance(command, str):
            self._teller.says("model", [f"$ {' '.join(command.split())}"], "cyan")
            return
        if call.name == HAND_IN:
            notes = str(arguments.get("notes", "")).strip().splitlines()
            self._teller.says("model", [f"hands in: {notes[0] if notes else ''}"], "cyan")
            return
        about = next((str(arguments[each]) for each in TARGETS if each in arguments), "")
        self._teller.says("model", [f"{call.name} {about}".rstrip()], "cyan")

    def _ended(self, event: ToolEnded, text: str) -> None:
        call = self._calls[event.call]
        lines = [line.rstrip() for line in text.splitlines() if line.strip(" -=.")]
        if call.name == HAND_IN and event.failed:
            shown = [line.partition(EXAMPLE)[0] for line in lines[:-1] or lines]
            self._teller.tells("headway", " ".join(shown), "red", REFUSAL_LINES_MAX)
        elif call.name == HAND_IN:
            took = f"in {event.duration_ms} ms"
            self._teller.tells("headway", f"accepted and safe on disk, {took}", "green")
        elif call.name == COMMAND or event.failed:
            self._teller.says("", lines[-OUTPUT_LINES_MAX:], "yellow" if event.failed else "dim")
