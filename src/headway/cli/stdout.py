"""stdout as a place that may be full or gone: what fails there is told apart from other files."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper


class StdoutLost(OSError):
    """stdout took no more: its disk is full, or its reader has left."""


class Stdout(TextIOWrapper):
    """Text to stdout. What cannot be shown there is a question mark, never a reason to fail."""

    def __init__(self, stream: TextIOWrapper) -> None:
        encoding, by_line = stream.encoding, stream.line_buffering
        at_once = stream.write_through
        super().__init__(
            stream.detach(),
            encoding=encoding,
            errors="replace",
            line_buffering=by_line,
            write_through=at_once,
        )

    def write(self, text: str, /) -> int:
        """Write. Raises StdoutLost."""
        with _lost():
            return super().write(text)

    def flush(self) -> None:
        """Flush. Raises StdoutLost."""
        with _lost():
            super().flush()


def forget_stdout() -> None:
    """Have what is still to be written to a lost stdout go nowhere when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def _lost() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StdoutLost(error.errno, error.strerror) from error
