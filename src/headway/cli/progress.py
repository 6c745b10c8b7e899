"""Progress of a long command, on stderr and on a terminal alone."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

SHOWN_FROM = 100  # fewer are done before anyone would look


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what to tell how many are done, of how many."""
    terminal = sys.stderr.isatty()

    def tell(done: int, of: int) -> None:
        if terminal and of >= SHOWN_FROM:
            click.echo(f"\r{noun} {done:,} of {of:,}", nl=done == of, err=True)

    yield tell
