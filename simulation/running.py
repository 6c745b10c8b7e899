"""Runs worlds one after another until enough was simulated, or one of them fails.

World number n of a seed is always the same, whatever came before it.
"""

import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

import msgspec

from headway.domain.errors import Fault
from simulation.choices import Choices, drawn_in
from simulation.faults import Violation
from simulation.process import Setting
from simulation.shrinking import Broken, shrink
from simulation.world import World

# What a broken world may raise: its own verdict, a fault no caller should meet, or a plain bug.
FAILURES: Final = (
    Violation,
    Fault,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
)


@dataclass(slots=True)
class Tally:
    """What was simulated so far."""

    events: int = 0
    worlds: int = 0
    recorded: int = 0  # events that landed in streams
    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, world: World) -> None:
        process = world.process
        self.worlds += 1
        self.events += process.events()
        self.recorded += sum(map(len, process.ledger.log.values()))
        self.counts += process.counts
        self.faults += process.ledger.injected
        for session in world.acting.sessions:
            self.counts["attempts"] += len(session.attempts)


@dataclass(frozen=True, slots=True)
class Failure:
    """A world that broke a promise, in its shortest form."""

    world: int
    problem: str
    choices_found: int
    choices: tuple[int, ...]
    history: tuple[str, ...]


class Listener(Protocol):
    """Is told how a run goes."""

    def moved_on(self, tally: Tally) -> None: ...

    def failed(self, world: int, problem: str) -> None: ...


def run(
    seed: int,
    events: int,
    setting: Setting,
    *,
    first: int = 1,
    listener: Listener | None = None,
) -> tuple[Tally, Failure | None]:
    """Simulate at least so many events; stop at the first failure and shrink it."""
    tally = Tally()
    number = first
    while tally.events < events:
        choices = Choices(Random(f"{seed}/{number}"))
        broken = _play(choices, setting, tally)
        if broken is not None:
            if listener:
                listener.failed(number, broken.problem)
            return tally, _shortest(number, broken, setting)
        if listener:
            listener.moved_on(tally)
        number += 1
    return tally, None


def _play(choices: Choices, setting: Setting, tally: Tally | None = None) -> Broken | None:
    """Run a world and return how it failed, if it did."""
    try:
        world = World(choices, setting)
        world.run()
    except FAILURES as failure:
        return Broken(problem=_kind(failure), taken=tuple(choices.taken))
    if tally is not None:
        tally.add(world)
    return None


def _shortest(number: int, broken: Broken, setting: Setting) -> Failure:
    def again(given: Sequence[int]) -> Broken | None:
        return _play(Choices(given=given), setting)

    best = shrink(broken, again, setting.tries_max)
    world = None
    problem = f"{best.problem}, but not when played again: chance comes from elsewhere"
    try:
        world = World(Choices(given=best.taken), setting, telling=True)
        world.run()
    except FAILURES as failure:
        problem = "".join(traceback.format_exception(failure)[-4:]).strip()
    return Failure(
        world=number,
        problem=problem,
        choices_found=drawn_in(broken.taken),
        choices=best.taken,
        history=tuple(world.history) if world else (),
    )


def _kind(failure: BaseException) -> str:
    """Return what must stay the same while a failure is made smaller: where it was raised."""
    place = traceback.extract_tb(failure.__traceback__)[-1]
    return f"{type(failure).__name__} at {place.name}:{place.lineno}"
