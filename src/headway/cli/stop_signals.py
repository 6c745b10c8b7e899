"""SIGINT and SIGTERM while a run is had: they are noted, and whoever drives lets go of the run.

They are held from before the run is claimed: whenever they come, the run is never left behind with
nobody told how to go on.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import anyio

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Which signal came first, None while none has."""

    def __init__(self, awaited: int, told: int) -> None:
        self.received: signal.Signals | None = None
        self._awaited = awaited
        self._told = told

    async def wait(self) -> None:
        """Wait until one has come."""
        await anyio.wait_readable(self._awaited)

    def note(self, number: int, _: FrameType | None) -> None:
        """Take a signal in; those after the first change nothing."""
        if self.received is None:
            self.received = signal.Signals(number)
            os.write(self._told, b"\0")


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Hold the signals; once one has come, none counts any more until the process ends."""
    awaited, told = os.pipe()
    signals = StopSignals(awaited, told)
    before = {each: signal.signal(each, signals.note) for each in SIGNALS}
    try:
        yield signals
    finally:
        for each, handler in before.items():
            signal.signal(each, handler if signals.received is None else signal.SIG_IGN)
        os.close(awaited)
        os.close(told)
