"""Read the log of a run: its events in the wire's names, with the texts they name where wanted."""

from typing import Final

import msgspec

from headway.application.list_runs import state_of
from headway.application.naming_runs import named_run
from headway.application.requests import Json, Reply
from headway.application.runs import Runs, text_of
from headway.domain.errors import Fault
from headway.domain.ids import Digest
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    ModelReplied,
    RunEvent,
    RunSteered,
    SessionJoined,
    TextTold,
    ToolEnded,
)
from headway.domain.runs.messages import Reply as Said
from headway.domain.runs.messages import ToolCall
from headway.domain.values import Value
from headway.ports.queue import RunRecorded

LINES_MAX: Final = 1_000


class LogPage(Value):
    """Which lines are asked for: at most `limit` after the version; all of them for None."""

    after: int = 0
    limit: int | None = None
    texts: bool = False


def read_run_log(runs: Runs, name: str, page: LogPage) -> Reply:
    """Return a page of a run's log; `next` is what to ask after for the one that follows.

    Raises NotFound or InvalidInput, SessionNotHealthy.
    """
    task = named_run(runs, name)
    recorded = runs.queue.scan(task.run, max(page.after, 0))
    shown = recorded if page.limit is None else recorded[: page.limit]
    return {
        "run": task.run,
        "state": state_of(runs, task),
        "outcome": task.outcome,
        "events": [told_line(runs, each, texts=page.texts) for each in shown],
        "next": shown[-1].version if shown else page.after,
        "more": len(shown) < len(recorded),
    }


def told_line(runs: Runs, recorded: RunRecorded, *, texts: bool) -> Reply:
    """Return an event as a line of the log: version, time, kind, and its fields."""
    line: Reply = {"version": recorded.version, "at": recorded.recorded_at}
    line |= _wire_struct(recorded.event)
    return line | {"told": event_text(runs, recorded.event)} if texts else line


def event_text(runs: Runs, event: RunEvent) -> str | None:
    """Return the text that an event names: what was told, said or answered; None for none."""
    match event:
        case TextTold(text=name) | RunSteered(text=name) | ToolEnded(text=name):
            return text_of(runs, name)
        case SessionJoined(system=name):
            return text_of(runs, name)
        case ModelReplied(reply=name):
            return _said(runs, name)
        case _:
            return None


def asked_call(runs: Runs, now: Conversation, call: str) -> ToolCall | None:
    """Return a call of the last reply, with its arguments; None where they cannot be read."""
    assert now.said is not None, "a call is one of a reply"
    try:
        said = msgspec.json.decode(runs.engine.ledger.blob(now.said.reply), type=Said)
    except Fault:  # the line is told without it, and `headway verify` says what is wrong
        return None
    return next((each for each in said.calls if each.id == call), None)


def _said(runs: Runs, name: Digest) -> str:
    said = msgspec.json.decode(runs.engine.ledger.blob(name), type=Said)
    calls = [f"{call.name} {call.arguments}" for call in said.calls]
    return "\n".join([said.text, *calls] if said.text else calls)


def _wire_struct(value: msgspec.Struct) -> Reply:
    """Return a struct with all its fields: what has nothing to say is null, never left out."""
    config = value.__struct_config__
    told: Reply = {config.tag_field: config.tag} if config.tag_field else {}
    fields = msgspec.structs.asdict(value)
    return told | {_camel(name): _wire(each) for name, each in fields.items()}


def _wire(value: object) -> Json:
    match value:
        case msgspec.Struct():
            return _wire_struct(value)
        case tuple() | list():
            return [_wire(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise AssertionError(f"no event holds a {type(value).__name__}")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
