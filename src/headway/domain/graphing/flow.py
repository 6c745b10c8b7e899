"""The flow of a workflow as nested blocks, which every drawing is made from.

Neighbours under one condition form a lane, and lanes that exclude each other stand side by side:
that is how an author who routes by complexity or domain thinks of them. The engine asks each
condition by itself; whether lanes exclude each other is tried with its own evaluator.
"""

from typing import TypeAlias

from headway.domain.conditions import describe
from headway.domain.simulating.solving import Found, Impossible, comparisons, solve
from headway.domain.values import Value
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Condition,
    Item,
    Loop,
    Step,
    Workflow,
)


class Work(Value, tag="work", tag_field="is"):
    """A step: its id and title, what kind it is, and what it demands, in a few words each."""

    id: str
    title: str
    kind: str
    demands: tuple[str, ...] = ()
    gate: str = ""  # who is asked before it may be left, "" when nobody is


class Hand(Value, tag="hand", tag_field="is"):
    """A piece of work that a parallel step hands out, and under which condition."""

    name: str
    condition: str = ""


class Parallel(Value, tag="parallel", tag_field="is"):
    """A parallel step and what it hands out side by side."""

    work: Work
    hands: tuple[Hand, ...]


class Lane(Value):
    """One way through a choice; without blocks it passes by. `condition` "" means otherwise."""

    condition: str
    blocks: tuple["Block", ...]


class Choice(Value, tag="choice", tag_field="is"):
    """Lanes of which at most one is taken; `about` are the variables that decide."""

    lanes: tuple[Lane, ...]
    about: str


class Frame(Value, tag="frame", tag_field="is"):
    """A loop around blocks: how it goes on and how many passes it may take."""

    id: str
    title: str
    steering: str
    passes_max: int
    blocks: tuple["Block", ...]


Block: TypeAlias = Work | Parallel | Choice | Frame


def flow_of(workflow: Workflow) -> tuple[Block, ...]:
    """Return the blocks of a workflow, in the order of a run."""
    return _blocks(workflow.steps)


def steering_of(loop: Loop) -> str:
    """Return what makes a loop go on, in words."""
    match loop.source:
        case ByDecision():
            return "until a step decides to stop"
        case ByCondition(condition=condition):
            return f"{loop.kind} {describe(condition)}"
        case ByCount(count=count):
            return f"{count if isinstance(count, str) else f'{count:g}'} times"
        case ByItems(key=key):
            return f"for each of {key}"


def gate_of(step: Step) -> str:
    """Return who is asked before a step may be left, "" when nobody is."""
    asked = step.confirmation
    if asked is None or step.kind == "parallel":
        return ""
    who = "a person approves" if asked.kind == "human_approval" else "the evaluator judges"
    return f"{who}, if {describe(asked.when)}" if asked.when is not None else who


def demands_of(step: Step) -> tuple[str, ...]:
    """Return what a step must come back with, in a few words each."""
    found = []
    if step.output_contract is not None:
        ref = step.output_contract.ref.removeprefix("wr.contracts.")
        found.append(ref if step.output_contract.required else f"{ref} (if any)")
    elif step.criteria is not None and not step.assessment_refs:
        found.append("notes by rules")
    elif not step.notes_optional:
        found.append("notes")
    found += (f"judges {ref}" for ref in step.assessment_refs)
    found += (f"check {check.id}" for check in step.checks)
    return tuple(found)


def _blocks(items: tuple[Item, ...]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for run in _runs(_lanes(items)):
        if run[0][0] is None:
            blocks += (_block(item) for item in run[0][1])
        else:
            blocks.append(_choice(run))
    return tuple(blocks)


_Stretch: TypeAlias = tuple[Condition | None, tuple[Item, ...]]  # neighbours under one condition


def _lanes(items: tuple[Item, ...]) -> list[_Stretch]:
    lanes: list[_Stretch] = []
    for item in items:
        if lanes and lanes[-1][0] == item.run_condition:
            lanes[-1] = (item.run_condition, (*lanes[-1][1], item))
        else:
            lanes.append((item.run_condition, (item,)))
    return lanes


def _runs(lanes: list[_Stretch]) -> list[list[_Stretch]]:
    """Return the lanes, those together that exclude each other."""
    runs: list[list[_Stretch]] = []
    for lane in lanes:
        if lane[0] is not None and runs and all(_exclude(lane[0], each[0]) for each in runs[-1]):
            runs[-1].append(lane)
        else:
            runs.append([lane])
    return runs


def _exclude(one: Condition, other: Condition | None) -> bool:
    if other is None:
        return False
    solved = solve(((one, True), (other, True)), {}, _names(one, other))
    return isinstance(solved, Impossible) and solved.sure


def _choice(run: list[_Stretch]) -> Choice:
    conditions = [condition for condition, _ in run if condition is not None]
    names = _names(*conditions)
    lanes = tuple(
        Lane(condition=describe(condition), blocks=tuple(_block(item) for item in items))
        for condition, items in run
    )
    none = solve(tuple((each, False) for each in conditions), {}, names)
    if isinstance(none, Found) or not none.sure:
        lanes = (*lanes, Lane(condition="", blocks=()))
    ordered = dict.fromkeys(leaf.var for each in conditions for leaf in comparisons(each))
    return Choice(lanes=lanes, about=", ".join(ordered))


def _names(*conditions: Condition) -> frozenset[str]:
    return frozenset(leaf.var for each in conditions for leaf in comparisons(each))


def _block(item: Item) -> Block:
    if isinstance(item, Loop):
        return Frame(
            id=item.id,
            title=item.title,
            steering=steering_of(item),
            passes_max=item.max_iterations,
            blocks=_blocks(item.body),
        )
    work = Work(
        id=item.id, title=item.title, kind=item.kind, demands=demands_of(item), gate=gate_of(item)
    )
    if not item.delegations:
        return work
    hands = tuple(
        Hand(name=each.workflow_id, condition="" if each.when is None else describe(each.when))
        for each in item.delegations
    )
    return Parallel(work=work, hands=hands)


def in_words(blocks: tuple[Block, ...]) -> str:
    """Return the flow as sentences, for readers who do not see the drawing."""
    return " ".join(_sentence(block) for block in blocks)


def _sentence(block: Block) -> str:
    match block:
        case Work(title=title, gate=gate):
            return f"{title} ({gate})." if gate else f"{title}."
        case Parallel(work=work, hands=hands):
            return f"{work.title}, handing out {', '.join(each.name for each in hands)}."
        case Choice(lanes=lanes):
            return " ".join(
                f"If {lane.condition}: {in_words(lane.blocks)}" for lane in lanes if lane.condition
            )
        case Frame(title=title, steering=steering, passes_max=most, blocks=blocks):
            return (
                f"Loop {title}, {steering}, at most {most} passes: {in_words(blocks)} End of loop."
            )
