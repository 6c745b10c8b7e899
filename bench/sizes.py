"""How much to measure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much of each: rounds and blocks as in `timing`.

    `depths` are numbers of steps already done, `growth` one of advances, `events` of a full store,
    `served` of sessions on one server, `turns` of a run, early and late; `reply_seconds` is how
    long a model takes where many runs are driven at once.
    """

    depths: tuple[int, int, int] = (10, 1_000, 10_000)
    blocks: int = 5
    rounds: int = 60
    repeats: int = 30
    catalogue_files: int = 500
    listed_files: int = 100
    growth: int = 1_000
    events: int = 500_000
    sessions: int = 10_000
    served: int = 1_000
    turns: tuple[int, int] = (10, 500)
    runs_at_once: int = 50
    reply_seconds: float = 2.0


FULL = Sizes()
QUICK = Sizes(
    depths=(3, 6, 9),
    blocks=2,
    rounds=2,
    repeats=2,
    catalogue_files=3,
    listed_files=2,
    growth=50,
    events=2_000,
    sessions=20,
    served=40,
    turns=(5, 30),
    runs_at_once=3,
    reply_seconds=0.1,
)
