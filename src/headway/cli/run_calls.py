"""What a run's tool calls are about, in one short line that nothing in it can reach out of."""

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from headway.cli.safe_text import cells, one_line
from headway.cli.style import Style, fitted
from headway.domain.masking import masked
from headway.domain.runs.messages import ToolCall
from headway.domain.values import Json

COMMAND: Final = "command"
TARGETS: Final = (COMMAND, "pattern", "path", "name")  # what a call is about, the first it has
JOINT: Final = ": "
TEXT_MAX: Final = 2_000  # no terminal is wider

Arguments: TypeAlias = Mapping[str, Json]


def arguments_of(call: ToolCall) -> Arguments:
    """Return the arguments of a call; none where a model sent what is no JSON object."""
    try:
        return msgspec.json.decode(call.arguments, type=dict[str, Json])
    except msgspec.DecodeError:
        return {}


def target_of(call: ToolCall, secrets: tuple[str, ...]) -> str:
    """Return what a call is about, with secrets masked: its command, its path; empty for none."""
    arguments = arguments_of(call)
    found = next((str(arguments[each]) for each in TARGETS if arguments.get(each)), "")
    return one_line(masked(found, secrets)[:TEXT_MAX])


def with_target(line: str, target: str, style: Style) -> str:
    """Return a line and what its call is about, cut to the width; the line itself stays whole."""
    room = style.width - cells(line) - len(JOINT)
    return f"{line}{JOINT}{fitted(target, room, style)}" if target and room > 0 else line
