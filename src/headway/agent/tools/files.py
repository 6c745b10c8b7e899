"""Reading and writing whole files of the worktree.

A call that writes is waited for when it is cancelled: it has ended, or begun nothing, before
anybody else may have the run.
"""

import asyncio
import os
from pathlib import Path
from typing import Annotated, BinaryIO, Final

from anyio.to_thread import run_sync
from msgspec import Meta

from headway.agent.tools.confining import Confined
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.values import Value

LINES_MAX: Final = 2_000
LINE_CHARS_MAX: Final = 2_000
PAGE_CHARS_MAX: Final = 25_000
SCANNED_BYTES_MAX: Final = 256 << 20  # of lines before the first one asked for
SNIFFED_BYTES: Final = 8_192
HALF_WRITTEN: Final = ".headway-"  # how the name of a file begins that is not yet in its place
PATH = Meta(description="Relative to the root of the worktree.", max_length=4_096)


class ReadFile(Value):
    """Arguments of read_file."""

    path: Annotated[str, PATH]
    offset: Annotated[int, Meta(ge=1, description="The first line to show, from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, le=LINES_MAX, description="How many lines.")] = LINES_MAX


class WriteFile(Value):
    """Arguments of write_file."""

    path: Annotated[str, PATH]
    content: Annotated[str, Meta(description="All that the file shall hold.")]


def read_file(folder: Confined) -> Tool[ReadFile]:
    """Return the tool that shows a file's lines."""

    async def work(arguments: ReadFile) -> Answer:
        return await asyncio.to_thread(_read, folder, arguments)

    return Tool(
        "read_file",
        "Show lines of a text file, each after its number and a tab. A long file is shown in "
        "parts: the answer says with which offset to go on.",
        ReadFile,
        work,
    )


def write_file(folder: Confined) -> Tool[WriteFile]:
    """Return the tool that makes or replaces a file."""

    async def work(arguments: WriteFile) -> Answer:
        return await run_sync(_write, folder, arguments)

    return Tool(
        "write_file",
        "Make a file, with the folders above it, or replace all of one. To change a part of a "
        "file use edit_file.",
        WriteFile,
        work,
    )


def is_binary(start: bytes) -> bool:
    """Tell whether a file that begins like this holds something other than text."""
    return b"\0" in start[:SNIFFED_BYTES]


def replace_file(path: Path, data: bytes) -> None:
    """Put bytes in the place of a file, all or nothing, and keep its mode. Raises OSError."""
    new = path.with_name(f"{HALF_WRITTEN}{path.name[:200]}.tmp")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if path.exists():
            new.chmod(path.stat().st_mode & 0o777)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _read(folder: Confined, arguments: ReadFile) -> Answer:
    path = folder.find_file(arguments.path)
    try:
        with path.open("rb") as file:
            if is_binary(file.read(SNIFFED_BYTES)):
                size = path.stat().st_size
                raise ToolFailed(f"{arguments.path!r} is no text; it has {size} bytes.")
            file.seek(0)
            return _page(file, arguments)
    except OSError as error:
        raise ToolFailed(f"{arguments.path!r} cannot be read: {error.strerror}.") from error


def _page(file: BinaryIO, arguments: ReadFile) -> Answer:
    number, windows = 1, False
    while number < arguments.offset:
        if not _skip_line(file):
            raise ToolFailed(f"{arguments.path!r} has {number - 1} lines, fewer than the offset.")
        if file.tell() > SCANNED_BYTES_MAX:
            raise ToolFailed(
                f"Line {arguments.offset} of {arguments.path!r} is too far in; look at that part "
                "with bash (sed, tail)."
            )
        number += 1
    shown, room = list[str](), PAGE_CHARS_MAX
    while len(shown) < arguments.limit and room > 0 and (line := _line(file)) is not None:
        windows = windows or line.endswith("\r")
        text = line.removesuffix("\r")
        shown.append(f"{number}\t{text}")
        room -= len(shown[-1]) + 1
        number += 1
    notes = ["[the lines end in CRLF]"] if windows else []
    if file.read(1):
        notes.append(f"[the file goes on: read_file with offset {number} shows more]")
    if not shown:
        notes = ["[the file is empty]"] if number == 1 else ["[the file ends before this line]"]
    return Answer(text="\n".join([*shown, *notes]))


def _line(file: BinaryIO) -> str | None:
    """Return the next line without its end, None at the end of the file; a long one is cut."""
    start = file.readline(4 * LINE_CHARS_MAX)
    if not start:
        return None
    rest = 0 if start.endswith(b"\n") else _skip_line(file)
    text = start.removesuffix(b"\n").decode(errors="replace")
    if len(text) > LINE_CHARS_MAX or rest:
        return f"{text[:LINE_CHARS_MAX]} [... the line goes on]"
    return text


def _skip_line(file: BinaryIO) -> int:
    """Pass over the rest of a line and return how many bytes that were."""
    passed = 0
    while part := file.readline(1 << 16):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def _write(folder: Confined, arguments: WriteFile) -> Answer:
    path = folder.find_writable(arguments.path)
    try:
        data = arguments.content.encode()
        existed = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise ToolFailed(f"{arguments.path!r} cannot be written: {error.strerror}.") from error
    verb = "Replaced" if existed else "Made"
    lines = arguments.content.count("\n") + (not arguments.content.endswith("\n") and bool(data))
    return Answer(text=f"{verb} {folder.shown(path)}: {lines} lines, {len(data)} bytes.")
