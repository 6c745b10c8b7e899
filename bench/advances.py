"""An advance at step 10, 1,000 and 10,000: the promise is that it costs the same everywhere.

A workflow of nested `for` loops is followed to each depth, in as many sessions as it takes to keep
near that depth while measuring: a session measured at 10 is left again after a few steps. Then one
advance at each depth and one bare commit of as many bytes are made in turn, many times.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure
from bench.machine import bare_commit, settle
from bench.sizes import Sizes
from bench.timing import Blocks, Call, interleaved
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.requests import ContinueWorkflow, JsonObject, StartWorkflow
from headway.application.start_workflow import start_workflow

FLAT_MAX = 1.1  # the most an advance late in a session may cost of an early one
FLOOR_MAX = 1.7  # the most an advance may cost of a bare commit
BEYOND_MAX = 1_536  # the most bytes an advance may leave beyond those it was sent
WORKFLOW_ID = "bench.passes"
WORKFLOW: dict[str, object] = {
    "id": WORKFLOW_ID,
    "name": "Passes",
    "description": "Many passes of one step in two loops.",
    "version": "1.0.0",
    "steps": [
        {
            "id": "rounds",
            "type": "loop",
            "title": "Rounds",
            "loop": {"type": "for", "count": 1000, "maxIterations": 1000},
            "body": [
                {
                    "id": "parts",
                    "type": "loop",
                    "title": "Parts",
                    "loop": {"type": "for", "count": 20, "maxIterations": 20},
                    "body": [{"id": "look", "title": "Look", "prompt": "Look closely."}],
                }
            ],
        }
    ],
}
NOTE = "Looked at part {number}: nothing to report but what is said in this note of 500 bytes. " * 6
NOTE_CHARS = 500
CONTEXT_CHARS = 50

Contexts = Callable[[int], JsonObject | None]


def no_context(_number: int) -> None:
    return None


def same_key(number: int) -> JsonObject:
    """Give one key another value of 50 characters in each step."""
    return {"finding": f"{number:<{CONTEXT_CHARS}}"}


def new_key(number: int) -> JsonObject:
    """Give a key of its own 50 characters in each step; all of them are kept."""
    return {f"finding{number}": f"{number:<{CONTEXT_CHARS}}"}


@dataclass
class Session:
    """A session on its way: the token that is open, and the steps already done."""

    engine: Engine
    contexts: Contexts
    token: str
    depth: int = 0

    def advance(self) -> None:
        request = ContinueWorkflow(
            continue_token=self.token,
            intent="advance",
            notes=NOTE.format(number=self.depth)[:NOTE_CHARS],
            context=self.contexts(self.depth),
        )
        reply = continue_workflow(self.engine, request)
        assert reply["kind"] == "ok", reply
        self.token = str(reply["continueToken"])
        self.depth += 1


def write_workflow(folder: Path) -> None:
    (folder / "passes.json").write_text(json.dumps(WORKFLOW), "utf-8")


def begin(engine: Engine, workspace: Path, contexts: Contexts = no_context) -> Session:
    request = StartWorkflow(
        workflow_id=WORKFLOW_ID, workspace_path=str(workspace), goal="measure an advance"
    )
    reply = start_workflow(engine, request)
    return Session(engine, contexts, str(reply["continueToken"]))


def measure_advances(
    engine: Engine, workspace: Path, database: Path, sizes: Sizes
) -> Iterator[Figure]:
    """Yield the figures of an advance, without context and with some in each step."""
    early, late, latest = sizes.depths
    variants: list[tuple[str, Contexts, tuple[int, ...]]] = [
        ("advance, 500 bytes of notes", no_context, sizes.depths),
        ("advance, notes and 50 bytes under one key", same_key, sizes.depths),
        # 10,000 such keys are more than a context may hold; the growing context itself costs, so
        # nothing is promised here.
        ("advance, notes and 50 bytes under a new key each time", new_key, (early, late)),
    ]
    for group, contexts, depths in variants:
        promised = latest in depths
        grown = growth(begin(engine, workspace, contexts), lambda: settle(database), sizes)
        yield from growth_figures(group, grown, contexts, BEYOND_MAX if promised else None)
        floor = database.with_name(f"floor-{contexts.__name__}.db")
        with bare_commit(floor, round(grown)) as commit:
            lanes = {
                _at(depth): lane(engine, workspace, contexts, depth, sizes) for depth in depths
            }
            calls: dict[str, Call] = {"bare commit": commit, **lanes}
            blocks = interleaved(calls, blocks=sizes.blocks, rounds=sizes.rounds)
        yield from _figures(group, blocks, depths, promised=promised)


def _figures(
    group: str, blocks: Blocks, depths: tuple[int, ...], *, promised: bool
) -> Iterator[Figure]:
    for name in ("bare commit", *map(_at, depths)):
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=group, name=name, value=blocks.median(name), unit="ms", note=note)
    first = _at(depths[0])
    yield Figure(
        group=group,
        name=f"{first} / bare commit",
        value=blocks.ratio(first, "bare commit"),
        unit="times",
        target=FLOOR_MAX if promised else None,
        note=spread(blocks.ratios(first, "bare commit")),
    )
    for name in map(_at, depths[1:]):
        yield Figure(
            group=group,
            name=f"{name} / {first}",
            value=blocks.ratio(name, first),
            unit="times",
            target=FLAT_MAX if promised else None,
            note=spread(blocks.ratios(name, first)),
        )


def spread(ratios: list[float]) -> str:
    return "blocks " + " ".join(f"{ratio:.2f}" for ratio in ratios)


def _at(depth: int) -> str:
    return f"at step {depth:,}"


def lane(engine: Engine, workspace: Path, contexts: Contexts, depth: int, sizes: Sizes) -> Call:
    """Return a call that advances some session that is near this depth."""
    steps = max(2, min(depth, depth // 10 + 8))  # measured in one session, around the depth
    needed = sizes.blocks * sizes.rounds
    waiting: deque[Session] = deque()
    for _ in range(-(-needed // steps)):
        session = begin(engine, workspace, contexts)
        while session.depth < max(0, depth - steps // 2):
            session.advance()
        waiting.append(session)

    def advance() -> None:
        if len(waiting) > 1 and waiting[0].depth > depth + steps // 2:
            waiting.popleft()
        waiting[0].advance()

    return advance


def growth(session: Session, size: Callable[[], int], sizes: Sizes) -> float:
    """Return by how many bytes the settled store grows with one advance."""
    for _ in range(sizes.depths[0]):
        session.advance()
    before = size()
    for _ in range(sizes.growth):
        session.advance()
    return (size() - before) / sizes.growth


def growth_figures(
    group: str, grown: float, contexts: Contexts, target: float | None
) -> Iterator[Figure]:
    """Yield what an advance leaves in the store, with and without what it was sent."""
    context = contexts(0)
    sent = NOTE_CHARS + (len(json.dumps(context)) if context else 0)
    yield Figure(group=group, name="stored by one advance", value=grown, unit="bytes")
    yield Figure(
        group=group,
        name="stored by one advance, beyond what it was sent",
        value=grown - sent,
        unit="bytes",
        target=target,
        note=f"{sent} bytes sent",
    )
