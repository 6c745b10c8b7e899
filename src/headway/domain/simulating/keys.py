"""Which context keys are there to set, and which step's text tells the agent of them.

An agent sets what it was told of: a key may be set from the step on whose text names it, and from
the start when the workflow's own texts do. The engine's keys and those of loops are nobody's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from headway.domain.compiler.templates import routine_template_id
from headway.domain.linting.subject import BUILT_IN_VARIABLES
from headway.domain.linting.texts import Prose, is_named, words_of
from headway.domain.linting.truth import distinguishing
from headway.domain.simulating.branches import ENDED, LIMIT, NOT_ASKED, Branch
from headway.domain.simulating.solving import comparisons, variables_in
from headway.domain.values import Json
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByItems,
    Condition,
    Item,
    Loop,
    Step,
    Workflow,
)

_AT_START: Final = BUILT_IN_VARIABLES - {"goal"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that conditions and loops read, and where each is told.

    `from_start` may be set with the start, `by_step` from a step on; `looped` are those that loops
    count or go through; `tellers` are the paths of steps that tell a key, `samples` the members of
    a list that conditions in its loop tell apart.
    """

    read: frozenset[str]
    from_start: frozenset[str]
    by_step: dict[str, frozenset[str]]
    tellers: dict[str, tuple[tuple[int, ...], ...]]
    looped: dict[str, Literal["count", "items"]]
    samples: dict[str, tuple[Json, ...]]

    @property
    def told(self) -> frozenset[str]:
        """Every key that somebody is told to set."""
        return self.from_start.union(self.tellers)

    def told_before(self, branch: Branch) -> frozenset[str]:
        """Return the keys that are told before a branch is decided for the last time."""
        path, inside = branch.path, branch.way in {ENDED, LIMIT}
        return self.from_start | {
            key
            for key, paths in self.tellers.items()
            if any(
                at < path
                or (len(path) > 1 and at[0] == path[0])
                or (inside and at[: len(path)] == path)
                or (branch.kind == "gate" and branch.way != NOT_ASKED and at == path)
                for at in paths
            )
        }

    def members(self, key: str, count: int | None) -> list[Json]:
        """Return a list for a loop to go through; None: as many as show every case."""
        known = self.samples.get(key, ())
        if count is None:
            count = max(2, len(known))
        if known:
            return [known[number % len(known)] for number in range(count)]
        return [{"name": f"item {n}", "id": f"item-{n}"} for n in range(1, count + 1)]

    def value(self, key: str) -> Json:
        """Return a value for a key that a loop counts or goes through."""
        return self.members(key, None) if self.looped[key] == "items" else 2


def keys_of(workflow: Workflow) -> Keys:
    """Return the keys of a workflow."""
    looped: dict[str, Literal["count", "items"]] = {}
    samples: dict[str, tuple[Json, ...]] = {}
    read = {name for c in _conditions(workflow.steps) for name in variables_in(c)}
    for loop in _loops(workflow.steps):
        match loop.source:
            case ByCount(count=str(key)):
                looped[key] = "count"
            case ByItems(key=key):
                looped[key] = "items"
                samples[key] = _told_apart(loop)
            case _:
                pass
    read |= looped.keys()
    common = _words(_common_texts(workflow))
    by_step: dict[str, frozenset[str]] = {}
    tellers: dict[str, tuple[tuple[int, ...], ...]] = {}
    for path, step in steps_of(workflow.steps):
        words = _words(_step_texts(workflow, step))
        by_step[step.id] = frozenset(key for key in read if is_named(key, words))
        for key in by_step[step.id]:
            tellers[key] = (*tellers.get(key, ()), path)
    by_caller = routine_template_id(workflow.id) is not None  # whoever calls a routine sets these
    named = {k for k in read if by_caller or k in _AT_START or is_named(k, common)}
    return Keys(
        read=frozenset(read),
        from_start=frozenset(named),
        by_step=by_step,
        tellers=tellers,
        looped=looped,
        samples=samples,
    )


def steps_of(
    items: tuple[Item, ...], above: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Step]]:
    """Yield every step with its path, in order."""
    for index, item in enumerate(items):
        if isinstance(item, Step):
            yield (*above, index), item
        else:
            yield from steps_of(item.body, (*above, index))


def _conditions(items: tuple[Item, ...]) -> Iterator[Condition]:
    """Yield every condition that a run asks."""
    for item in items:
        if item.run_condition is not None:
            yield item.run_condition
        if isinstance(item, Loop):
            if isinstance(item.source, ByCondition):
                yield item.source.condition
            yield from _conditions(item.body)
            continue
        yield from (each.when for each in item.fragments if each.when is not None)
        yield from (each.when for each in item.delegations if each.when is not None)
        if item.confirmation is not None and item.confirmation.when is not None:
            yield item.confirmation.when


def _loops(items: tuple[Item, ...]) -> Iterator[Loop]:
    for item in items:
        if isinstance(item, Loop):
            yield item
            yield from _loops(item.body)


def _told_apart(loop: Loop) -> tuple[Json, ...]:
    """Return members that conditions in the body of a loop tell apart, none if none does."""
    leaves = [
        leaf
        for condition in _conditions(loop.body)
        for leaf in comparisons(condition)
        if leaf.var == loop.item_var
    ]
    return tuple(case for case in distinguishing(leaves) if isinstance(case, str)) if leaves else ()


def _common_texts(workflow: Workflow) -> Iterator[str]:
    yield from (workflow.description, workflow.about)
    for texts in (workflow.preconditions, workflow.clarification_prompts, workflow.meta_guidance):
        yield from texts
    yield from (each.definition for each in workflow.functions)
    yield from (each.purpose for each in workflow.references)


def _step_texts(workflow: Workflow, step: Step) -> Iterator[str]:
    yield from (step.title, step.prompt, step.agent_role or "", *step.guidance)
    yield from (each.text for each in step.fragments)
    yield from (each.definition for each in step.functions)
    yield from (each.guidance for each in step.consequences)
    for each in step.delegations:
        yield from (each.goal or "", *each.args.values())
    wanted = step.output_contract
    yield from (c.guidance for c in workflow.contracts if wanted and c.id == wanted.ref)


def _words(texts: Iterator[str]) -> frozenset[str]:
    return words_of(Prose(text, (), "") for text in texts)
