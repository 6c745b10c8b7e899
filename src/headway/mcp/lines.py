"""Lines from a file descriptor: whole ones up to a limit, and the beginning of those beyond it.

Reads the descriptor itself rather than a buffered file: a thread that still waits in a buffered
read when the interpreter ends takes the process down with a fatal error.
"""

import os
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

LINE_BYTES_MAX: Final = 64 * 1024 * 1024  # four times the largest artifact
CHUNK_BYTES: Final = 256 * 1024


TO_A_PERSON: Final = """\
Waiting for an MCP client on stdin; a client starts this command by itself.
How to give it to yours: headway mcp --help. Ctrl-D ends it.
"""


class Line(NamedTuple):
    """A line without its end; `whole` is false when only its first bytes were kept."""

    data: bytes
    whole: bool = True


def tell_a_person() -> None:
    """Say on stderr what this waits for, where a person typed the command."""
    if os.isatty(0):
        os.write(2, TO_A_PERSON.encode())


def read_lines(read: Callable[[int], bytes], limit: int) -> Iterator[Line]:
    """Yield the lines a reader gives until it gives nothing; a last line without an end counts."""
    kept = bytearray()
    whole = True
    while chunk := read(CHUNK_BYTES):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            whole = _keep(kept, part, limit) and whole
            yield Line(bytes(kept), whole)
            kept, whole = bytearray(), True
        whole = _keep(kept, rest, limit) and whole
    if kept:
        yield Line(bytes(kept), whole)


def _keep(kept: bytearray, part: bytes, limit: int) -> bool:
    room = limit - len(kept)
    kept += part[:room]
    return len(part) <= room
