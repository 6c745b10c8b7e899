"""Editing: one passage of a file put in the place of another, found exactly."""

import difflib
import time
from typing import Annotated, Final

from anyio.to_thread import run_sync
from msgspec import Meta

from headway.agent.tools.confining import Confined
from headway.agent.tools.files import PATH, is_binary, replace_file
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.values import Value

BYTES_MAX: Final = 16 << 20
NEAR_SECONDS_MAX: Final = 2.0
NEAR_LINES_AT_ONCE: Final = 100


class EditFile(Value):
    """Arguments of edit_file."""

    path: Annotated[str, PATH]
    old: Annotated[str, Meta(min_length=1, description="The passage, exactly as it stands.")]
    new: Annotated[str, Meta(description="What shall stand there instead.")]
    replace_all: Annotated[bool, Meta(description="Every place, where there are several.")] = False


def edit_file(folder: Confined) -> Tool[EditFile]:
    """Return the tool that changes a passage of a file."""

    async def work(arguments: EditFile) -> Answer:
        return await run_sync(_edit, folder, arguments)

    return Tool(
        "edit_file",
        "Replace a passage of a text file. It must stand there exactly once, character by "
        "character (without the line numbers that read_file shows), unless replace_all is true.",
        EditFile,
        work,
    )


def _edit(folder: Confined, arguments: EditFile) -> Answer:
    path = folder.find_writable(folder.shown(folder.find_file(arguments.path)))
    try:
        if path.stat().st_size > BYTES_MAX:
            raise ToolFailed(f"{arguments.path!r} has more than {BYTES_MAX:,} bytes; use bash.")
        data = path.read_bytes()
        if is_binary(data):
            raise ToolFailed(f"{arguments.path!r} is no text.")
        changed, places = _replaced(data, arguments)
        replace_file(path, changed)
    except OSError as error:
        raise ToolFailed(f"{arguments.path!r} cannot be changed: {error.strerror}.") from error
    where = "one place" if places == 1 else f"{places} places"
    return Answer(text=f"Changed {where} in {folder.shown(path)}.")


def _replaced(data: bytes, arguments: EditFile) -> tuple[bytes, int]:
    """Return the bytes with the passage replaced, and in how many places. Raises ToolFailed."""
    if arguments.old == arguments.new:
        raise ToolFailed("`old` and `new` are the same; nothing would change.")
    old, new = arguments.old.encode(), arguments.new.encode()
    if b"\r\n" in data and data.count(b"\n") == data.count(b"\r\n"):
        # Lines are shown without their CR, and so they come back.
        old, new = (part.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for part in (old, new))
    places = data.count(old)
    if not places:
        raise ToolFailed(
            f"`old` does not stand in {arguments.path!r}; nothing was changed. "
            f"{_near(data, arguments.old)}"
        )
    if places > 1 and not arguments.replace_all:
        raise ToolFailed(
            f"`old` stands in {places} places of {arguments.path!r}; nothing was changed. Give "
            "more of what is around the one that is meant, or set replace_all."
        )
    return data.replace(old, new), places


def _near(data: bytes, old: str) -> str:
    """Say which line is most like the first one that was looked for."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = data.decode(errors="replace").splitlines()
    until = time.monotonic() + NEAR_SECONDS_MAX
    found: list[str] = []
    for at in range(0, len(lines), NEAR_LINES_AT_ONCE):
        these = {line.strip() for line in lines[at : at + NEAR_LINES_AT_ONCE]}
        found = difflib.get_close_matches(wanted, {*found, *these}, n=1)
        if time.monotonic() > until:
            break
    if not found:
        return "Read the file again and copy the passage."
    number = next(n for n, line in enumerate(lines, 1) if line.strip() == found[0])
    return f"Line {number} is like it: {lines[number - 1][:300]!r}."
