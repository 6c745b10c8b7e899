"""Record a run: what its model said, as the transcript of a scripted model that says it again.

`docs/scripted-models.md` has the form. Paths in the run's own worktree become relative ones, since
whoever plays the record works in another.
"""

import json
from collections.abc import Iterator, Sequence

import msgspec

from headway.application.naming_runs import named_run
from headway.application.requests import Json, Reply
from headway.application.runs import Runs, folded, text_of
from headway.domain.errors import PreconditionFailed
from headway.domain.runs.events import (
    ConversationCompacted,
    ModelErred,
    ModelReplied,
    RunEvent,
    RunResumed,
)
from headway.domain.runs.messages import Reply as Said
from headway.domain.runs.messages import ToolCall
from headway.domain.runs.outcomes import in_words
from headway.domain.writing.yaml_writing import yaml_text


def record_run(runs: Runs, name: str) -> str:
    """Return a transcript in YAML.

    Raises NotFound or InvalidInput, PreconditionFailed for a run whose model was never asked.
    """
    task = named_run(runs, name)
    recorded = runs.queue.scan(task.run)
    now = folded(recorded)
    path = now.worktree.path if now.worktree else None
    turns = list(_turns(runs, [each.event for each in recorded], path))
    if not turns:
        raise PreconditionFailed(
            f"The model of the run {task.run} has said nothing yet.",
            remedy=f"Wait for its first turn: `headway runs follow {task.run}`.",
            details={"kind": "nothing_said", "run": task.run},
        )
    model = now.submitted.model if now.submitted else "an unknown model"
    ended = in_words(now.outcome) if now.outcome else "goes on"
    about = f"{task.run} of {task.workflow_id} by {model}, which {ended}"
    script: Reply = {"turns": turns} | _summary(runs, [each.event for each in recorded])
    return f"# Recorded from {' '.join(about.split())}.\n{yaml_text(script)}"


def _turns(runs: Runs, events: Sequence[RunEvent], path: str | None) -> Iterator[Reply]:
    """Yield each reply, with the failures before it; failures that none followed stand alone.

    Those before the run was resumed are left out: what was amiss then was mended outside of it.
    """
    failures: list[ModelErred] = []
    for event in events:
        if isinstance(event, ModelErred):
            failures.append(event)
        elif isinstance(event, ModelReplied):
            said = msgspec.json.decode(runs.engine.ledger.blob(event.reply), type=Said)
            yield _failed(failures) | _said(said, path)
            failures = []
        elif isinstance(event, RunResumed):
            failures = []
    if failures:
        yield _failed(failures)


def _summary(runs: Runs, events: Sequence[RunEvent]) -> Reply:
    """Return the first summary of the run: where the record is too long, it is asked for one."""
    summaries = (each.summary for each in events if isinstance(each, ConversationCompacted))
    first = next(summaries, None)
    return {} if first is None else {"summary": text_of(runs, first)}


def _failed(failures: Sequence[ModelErred]) -> Reply:
    if not failures:
        return {}
    last = failures[-1]
    failure: Reply = {"problem": last.problem, "message": last.message, "times": len(failures)}
    return {"fail": failure}


def _said(said: Said, path: str | None) -> Reply:
    turn: Reply = {}
    if said.text and not said.answered:  # the text of an answer is its call
        turn["text"] = said.text
    if said.calls:
        turn["calls"] = [{call.name: _arguments(call, path)} for call in said.calls]
    if said.stop != ("tools" if said.calls else "end"):
        turn["stop"] = said.stop
    if usage := msgspec.to_builtins(said.usage):  # without what is zero or not known
        turn["usage"] = usage
    return turn


def _arguments(call: ToolCall, path: str | None) -> Json:
    """Return what a call was sent with: an object, or the text itself where it is none."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return call.arguments
    if not isinstance(value, dict):
        return call.arguments
    return value if path is None else {name: _relative(each, path) for name, each in value.items()}


def _relative(value: Json, path: str) -> Json:
    if isinstance(value, str):
        return value.replace(f"{path}/", "").replace(path, ".")
    if isinstance(value, dict):
        return {name: _relative(each, path) for name, each in value.items()}
    if isinstance(value, list):
        return [_relative(each, path) for each in value]
    return value
