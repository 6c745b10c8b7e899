"""Providers that a worker leaves alone for a while, because one of their models was of no use.

Laws.
1. What is amiss outside a run, as a key that is not taken, brings few runs to a stop: those that
   were driven just then. The others of that provider wait in the queue.
2. When its time is over, one run is let through; until a model of the provider has replied, the
   next is let through after twice as long, up to `BARRED_MS_MAX`.
3. One is let through at once when a run that rests for it rests no more: somebody has mended what
   was amiss, or believes so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from headway.domain.ids import RunId
from headway.domain.runs.acting import PASSING
from headway.domain.runs.outcomes import Failed, Outcome, Paused
from headway.ports.clock import Clock

BARRED_MS: Final = 300_000  # the first time
BARRED_MS_MAX: Final = 3_600_000


@dataclass(slots=True)
class _Bar:
    until: int
    then_ms: int  # how long after the next that is let through
    at_rest: set[RunId] = field(default_factory=set)


class Bars:
    """The providers that are barred from one worker. For one thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._bars: dict[str, _Bar] = {}

    def closed(self) -> tuple[str, ...]:
        """Return the providers of which no run is to be claimed now."""
        now = self._clock.now_ms()
        return tuple(name for name, bar in self._bars.items() if now < bar.until)

    def at_rest(self) -> Iterator[RunId]:
        """Yield the runs that rest for what providers are barred for."""
        for bar in self._bars.values():
            yield from bar.at_rest

    def let_through(self, provider: str) -> None:
        """Take note that a run is claimed: if its provider is barred, it is the one to try it."""
        bar = self._bars.get(provider)
        if bar is not None:
            bar.until = self._clock.now_ms() + bar.then_ms
            bar.then_ms = min(2 * bar.then_ms, BARRED_MS_MAX)

    def stopped(self, provider: str, run: RunId, outcome: Outcome) -> bool:
        """Take note of what a run came to; tell whether its provider is barred from now on."""
        failure = outcome.failure if isinstance(outcome, Paused) else outcome
        if not isinstance(failure, Failed) or failure.reason not in PASSING:
            return False
        is_new = provider not in self._bars
        if is_new:
            until = self._clock.now_ms() + BARRED_MS
            self._bars[provider] = _Bar(until=until, then_ms=2 * BARRED_MS)
        if isinstance(outcome, Paused):
            self._bars[provider].at_rest.add(run)
        return is_new

    def taken_up(self, run: RunId) -> None:
        """Take note that a run rests no more."""
        for bar in self._bars.values():
            if run in bar.at_rest:
                bar.at_rest.remove(run)
                bar.until, bar.then_ms = self._clock.now_ms(), BARRED_MS

    def replied(self, provider: str) -> bool:
        """Take note that a model replied; tell whether its provider was barred until now."""
        return self._bars.pop(provider, None) is not None
