"""Workflows by chance: small, and mixed so that every path of the engine is met.

Loops of all four kinds to depth three, steered by context and by decisions; conditions over a
handful of keys that submissions set; contracts, assessments, criteria, checks and confirmations.
What a step demands can always be met, so that every session can be finished.
"""

from typing import Final

import msgspec

from headway.domain.ids import digest
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    AllOf,
    AnyOf,
    Assessment,
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Check,
    Compare,
    Condition,
    Confirmation,
    Consequence,
    Criteria,
    Dimension,
    EveryRule,
    GateKind,
    Item,
    Loop,
    LoopKind,
    Negation,
    NoRule,
    Operator,
    OutputContract,
    Recommended,
    Rule,
    SomeRule,
    Step,
    UserContract,
    Workflow,
)
from headway.ports.catalogue import Entry
from simulation.choices import ITEM, WORKFLOW, Choices

LOOP_CONTROL: Final = "wr.contracts.loop_control"
OWN: Final = "own.finding"
FLAGS: Final = ("a", "b", "c")
FILLED: Final[JsonObject] = {
    "n": 2,
    "m": 1,
    "xs": [{"name": "p"}, {"name": "q"}],
    "ys": [{"name": "r"}],
    "a": True,
}
DEPTH_MAX: Final = 3
PASSES_MAX: Final = 3

ASSESSMENTS: Final = (
    Assessment(
        id="quality",
        purpose="How good it is.",
        dimensions=(
            Dimension(id="depth", purpose="How deep.", levels=("low", "high")),
            Dimension(id="care", purpose="How careful.", levels=("Low", "High"), required=False),
        ),
    ),
    Assessment(
        id="risk",
        purpose="What may go wrong.",
        dimensions=(Dimension(id="blast", purpose="How far.", levels=("none", "some")),),
    ),
)
CONTRACT: Final = UserContract(
    id=OWN,
    kind="finding",
    schema={
        "type": "object",
        "required": ["kind", "text"],
        "properties": {"kind": {"const": "finding"}, "text": {"type": "string"}},
        "examples": [{"kind": "finding", "text": "as found"}],
    },
    guidance="Send what was found.",
)
_OK: Final = Rule(type="contains", message="say ok", value="ok")
_BEGIN: Final = Rule(type="regex", message="begin", pattern="^(o|d)+")
_BRIEF: Final = Rule(type="length", message="be brief", max=80)
_CRITERIA: Final[tuple[Criteria, ...]] = (
    _OK,
    _BEGIN,
    EveryRule(parts=(_OK, _BRIEF), listed=True),
    SomeRule(parts=(_OK, _BEGIN)),
    NoRule(part=Rule(type="contains", message="no bad", value="bad")),
)
_CONTRACTS: Final = (
    LOOP_CONTROL,
    OWN,
    "wr.contracts.gate_verdict",
    "wr.contracts.coding_handoff",
    "wr.contracts.review_verdict",
)
_COUNTS: Final[tuple[float | str, ...]] = (1, 2, "n", "m", 0)
_VALUES: Final[tuple[Json, ...]] = (True, False, 0, 1, "yes")
_OPERATORS: Final[tuple[Operator, ...]] = ("gt", "gte", "lt", "lte")
_ASKING: Final[tuple[GateKind | None, ...]] = (None, None, "coordinator_eval", "human_approval")
_COUNTERS: Final = ("currentIteration", "i1", "i2")
_CONTEXT_LOOPS: Final[tuple[LoopKind, ...]] = ("for", "forEach", "while", "until")


def draw_entry(choices: Choices, number: int) -> Entry:
    """Draw a workflow, as a catalogue holds it."""
    with choices.span(WORKFLOW):
        workflow = Workflow(
            form=1,
            id=f"drawn-{number}",
            name=f"Drawn {number}",
            description="Drawn by chance.",
            version="1.0.0",
            steps=_Drawing(choices).items(1 + choices.below(4), 0),
            assessments=ASSESSMENTS,
            contracts=(CONTRACT,),
            recommended=Recommended(autonomy="guided") if choices.rarely(4) else None,
        )
    data = msgspec.json.encode(workflow)
    path = f"/workflows/{workflow.id}.json"
    return Entry(
        id=workflow.id,
        path=path,
        source="path",
        source_path="/workflows",
        workflow=workflow,
        data=data,
        hash=digest(data),
    )


class _Drawing:
    """Draws items whose names are not given twice."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.given = 0

    def name(self, prefix: str) -> str:
        self.given += 1
        return f"{prefix}{self.given}"

    def items(self, count: int, depth: int) -> tuple[Item, ...]:
        return tuple(self.item(depth) for _ in range(count))

    def item(self, depth: int) -> Item:
        with self.choices.span(ITEM):
            loop = depth < DEPTH_MAX and self.choices.rarely(3)
            return self.loop(depth) if loop else self.step()

    def loop(self, depth: int) -> Loop:
        name = self.name("loop")
        most = 1 + self.choices.below(PASSES_MAX)
        kind, source = self.source(name)
        return Loop(
            id=name,
            title=name.title(),
            kind=kind,
            source=source,
            max_iterations=most,
            body=self.items(1 + self.choices.below(2), depth + 1),
            iteration_var=_COUNTERS[depth % len(_COUNTERS)],
            item_var=f"item{depth}",
            index_var=f"index{depth}",
            run_condition=self.sometimes_condition(),
        )

    def source(self, name: str) -> tuple[LoopKind, ByDecision | ByCondition | ByCount | ByItems]:
        choices = self.choices
        if choices.below(2):
            own = choices.of((name, f"{name}-decision"))
            return choices.of(("while", "until")), ByDecision(loop_id=own)
        kind = choices.of(_CONTEXT_LOOPS)
        match kind:
            case "for":
                return kind, ByCount(count=choices.of(_COUNTS))
            case "forEach":
                return kind, ByItems(key=choices.of(("xs", "ys")))
            case _:
                return kind, ByCondition(condition=self.condition())

    def step(self) -> Step:
        choices = self.choices
        name = self.name("step")
        condition = self.sometimes_condition()
        prompt = choices.of(("Do it.", "Do {{a}} with {{item1}}.", "{{item2.name}}"))
        if not choices.below(3):
            return Step(id=name, title=name.title(), prompt=prompt, run_condition=condition)
        contract = choices.of((None, LOOP_CONTROL, *_CONTRACTS))
        refs = choices.of(((), (), (), ("quality",), ("quality", "risk")))
        asks = choices.of(_ASKING)
        return Step(
            id=name,
            title=name.title(),
            prompt=prompt,
            run_condition=condition,
            output_contract=OutputContract(ref=contract, required=bool(choices.below(2)))
            if contract
            else None,
            assessment_refs=refs,
            consequences=(Consequence(level="low", guidance="Go deeper."),) if refs else (),
            criteria=choices.of(_CRITERIA) if choices.rarely(4) else None,
            notes_optional=choices.rarely(3),
            confirmation=Confirmation(kind=asks, when=self.sometimes_condition()) if asks else None,
            checks=(Check(id="unit", run="make test"),) if choices.rarely(4) else (),
        )

    def sometimes_condition(self) -> Condition | None:
        return self.condition() if self.choices.rarely(5) else None

    def condition(self) -> Condition:
        leaf = self.leaf()
        match self.choices.below(6):
            case 3:
                return AllOf(terms=(leaf, self.leaf()))
            case 4:
                return AnyOf(terms=(leaf, self.leaf()))
            case 5:
                return Negation(term=leaf)
            case _:
                return leaf

    def leaf(self) -> Condition:
        choices = self.choices
        match choices.below(3):
            case 0:
                return Compare(var=choices.of(FLAGS), operator="truthy")
            case 1:
                value = choices.of(_VALUES)
                return Compare(var=choices.of(FLAGS), operator="equals", value=value)
            case _:
                counted = choices.of(("n", "m", *_COUNTERS))
                operator = choices.of(_OPERATORS)
                return Compare(var=counted, operator=operator, value=choices.below(4))
