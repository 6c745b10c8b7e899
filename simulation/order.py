"""Order, judged apart from the walker: from one step to the next nothing is passed over unsaid."""

from headway.domain.events import Cursor, Walk
from headway.domain.workflow import Item, Loop, Workflow
from simulation.faults import Violation


def check_order(workflow: Workflow, left: Cursor | None, reached: Cursor, walk: Walk) -> None:
    """Check a move: forward, by one pass at a time, each item between named as skipped."""
    before = _path(left) if left else ()
    after = _path(reached)
    if left and not before < after:
        raise Violation(f"went back from {left} to {reached}")
    level = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
    skipped = {(skip.item, skip.passes) for skip in walk.skips}
    if left and level % 2 and after[level] != before[level] + 1:
        raise Violation(f"a pass was passed over between {left} and {reached}")
    first = before[level] + 1 if left and not level % 2 else 0
    for index in range(level + level % 2, len(after), 2):
        passes = tuple(after[1:index:2])
        items = _items(workflow, after, index)
        for item in items[first : after[index]]:
            if walk.skips_omitted or (item.id, passes) in skipped:
                continue
            inside = any(p[: len(passes)] == passes and p != passes for _, p in skipped)
            if not (isinstance(item, Loop) and inside):  # a loop may be gone through, all skipped
                raise Violation(f"{item.id} was passed over unsaid on the way to {reached}")
        first = 0


def _path(cursor: Cursor) -> tuple[int, ...]:
    """Return indices and passes in turn, outermost first: greater means later."""
    path: list[int] = []
    for index, number in zip(cursor.at, (*cursor.passes, 0), strict=True):
        path += [index, number]
    return tuple(path[:-1])


def _items(workflow: Workflow, path: tuple[int, ...], level: int) -> tuple[Item, ...]:
    items: tuple[Item, ...] = workflow.steps
    for index in path[:level:2]:
        loop = items[index]
        assert isinstance(loop, Loop)
        items = loop.body
    return items
