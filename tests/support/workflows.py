"""Workflows and submissions, drawn so that every path of the decider is met.

A drawn workflow is small but mixed: loops of all four kinds to depth three, steered by context and
by decisions; conditions over a handful of context keys that submissions set; contracts,
assessments with consequences, criteria, confirmations and checks. Passes are few, so that a short
sequence of calls reaches the end.

A strategy is made once and drawn from often: to make one takes Hypothesis longer than a draw.
"""

import string
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeVar

import hypothesis.strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from headway.domain.contracts.judging import contract_for
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import (
    AllOf,
    Always,
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
    Item,
    Loop,
    LoopKind,
    Malformed,
    Negation,
    NoRule,
    OutputContract,
    Recommended,
    Rule,
    SomeRule,
    Step,
    UserContract,
    Workflow,
)

_T = TypeVar("_T")

LOOP_CONTROL: Final = "wr.contracts.loop_control"
GATE_VERDICT: Final = "wr.contracts.gate_verdict"
OWN_CONTRACT: Final = "own.finding"
FLAGS: Final = ("a", "b", "c")
COUNTS: Final = ("n", "m")
LISTS: Final = ("xs", "ys")
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
OWN: Final = UserContract(
    id=OWN_CONTRACT,
    kind="finding",
    schema={
        "type": "object",
        "required": ["kind", "text"],
        "properties": {"kind": {"const": "finding"}, "text": {"type": "string"}},
        "examples": [{"kind": "finding", "text": "as found"}],
    },
    guidance="Send what was found.",
)

_SMALL: Final = st.one_of(st.booleans(), st.integers(0, 3), st.sampled_from(["", "yes", "no", "2"]))
_COUNTERS: Final = ("currentIteration", "i1", "i2")
_COUNTED: Final[SearchStrategy[float | str]] = st.sampled_from([0, 1, 2, *COUNTS])
_CONTEXT_LOOP: Final[SearchStrategy[LoopKind]] = st.sampled_from(
    ("for", "forEach", "while", "until")
)
_DECIDED_LOOP: Final[SearchStrategy[LoopKind]] = st.sampled_from(("while", "until"))
_LISTED: Final = st.sampled_from((*LISTS, "item2"))
_RECOMMENDED: Final = st.sampled_from(
    [None, Recommended(autonomy="guided", risk_policy="balanced")]
)
_PROMPT: Final = st.sampled_from(["Do it.", "Do {{a}} with {{item1}}.", "{{item2.name}}"])
_CONTRACT: Final = st.sampled_from([None, None, LOOP_CONTROL, LOOP_CONTROL])
_OTHER_CONTRACT: Final = st.sampled_from(["", "", GATE_VERDICT, OWN_CONTRACT])
_REFS: Final[SearchStrategy[tuple[str, ...]]] = st.sampled_from(
    [(), (), (), ("quality",), ("quality", "risk")]
)
_CHECKS: Final[SearchStrategy[tuple[Check, ...]]] = st.sampled_from(
    [(), (), (), (Check(id="unit", run="make test"),)]
)


@dataclass
class _Ids:
    """Names that are not given twice within one workflow."""

    given: int = 0
    loops: list[str] = field(default_factory=list)

    def next(self, prefix: str) -> str:
        self.given += 1
        return f"{prefix}{self.given}"


@cache
def conditions() -> SearchStrategy[Condition]:
    """Return conditions over flags, counters and loop variables, malformed ones included."""
    leaf: SearchStrategy[Condition] = st.one_of(
        st.builds(Compare, var=st.sampled_from(FLAGS), operator=st.just("truthy")),
        st.builds(
            Compare,
            var=st.sampled_from(FLAGS),
            operator=st.sampled_from(["equals", "not_equals"]),
            value=_SMALL,
        ),
        st.builds(
            Compare,
            var=st.sampled_from((*COUNTS, *_COUNTERS)),
            operator=st.sampled_from(["gt", "gte", "lt", "lte"]),
            value=st.integers(0, 3),
        ),
        st.just(Always()),
    )
    return st.one_of(
        leaf,
        leaf,
        st.builds(AllOf, terms=st.tuples(leaf, leaf)),
        st.builds(AnyOf, terms=st.one_of(st.tuples(leaf, leaf), st.just(()))),
        st.builds(Negation, term=leaf),
        st.builds(AnyOf, terms=st.tuples(leaf, st.just(Malformed()))),
    )


@cache
def criteria() -> SearchStrategy[Criteria]:
    """Return rules that the notes "ok" pass or fail, alone and composed."""
    rule = st.one_of(
        st.builds(
            Rule, type=st.just("contains"), message=st.just("say ok"), value=st.sampled_from(["ok"])
        ),
        st.builds(
            Rule, type=st.just("regex"), message=st.just("begin"), pattern=st.just("^(o|d)+")
        ),
        st.builds(
            Rule,
            type=st.just("length"),
            message=st.just("be brief"),
            max=st.sampled_from([2.0, 80.0]),
            condition=st.none() | conditions(),
        ),
    )
    return st.one_of(
        rule,
        st.builds(EveryRule, parts=st.tuples(rule, rule), listed=st.booleans()),
        st.builds(SomeRule, parts=st.tuples(rule, rule)),
        st.builds(NoRule, part=st.just(Rule(type="contains", message="no bad", value="bad"))),
    )


@cache
def confirmations() -> SearchStrategy[Confirmation]:
    """Return confirmations of both kinds, some of them under a condition."""
    return st.builds(
        Confirmation,
        kind=st.sampled_from(["coordinator_eval", "human_approval"]),
        when=st.none() | conditions(),
    )


@st.composite
def workflows(draw: DrawFn, *, loop_depth: int = 3, demanding: bool = True) -> Workflow:
    """Draw a workflow; without `demanding` every step takes any submission with notes."""
    ids = _Ids()
    items = tuple(
        _item(draw, ids, loop_depth, demanding=demanding) for _ in range(draw(st.integers(1, 4)))
    )
    return Workflow(
        form=1,
        id="drawn",
        name="Drawn",
        description="Drawn by chance.",
        version="1.0.0",
        steps=items,
        assessments=ASSESSMENTS,
        contracts=(OWN,),
        recommended=draw(_RECOMMENDED),
    )


def _item(draw: DrawFn, ids: _Ids, depth: int, *, demanding: bool) -> Item:
    if depth and draw(st.integers(0, 9)) < 4:
        return _loop(draw, ids, depth, demanding=demanding)
    return _step(draw, ids, demanding=demanding)


def _loop(draw: DrawFn, ids: _Ids, depth: int, *, demanding: bool) -> Loop:
    name = ids.next("loop")
    kind, source = _source(draw, name)
    body = tuple(
        _item(draw, ids, depth - 1, demanding=demanding) for _ in range(draw(st.integers(1, 3)))
    )
    return Loop(
        id=name,
        title=name.title(),
        kind=kind,
        source=source,
        max_iterations=draw(st.integers(1, PASSES_MAX)),
        body=body,
        iteration_var=_COUNTERS[depth % len(_COUNTERS)],
        item_var=f"item{depth}",
        index_var=f"index{depth}",
        run_condition=_sometimes(draw, conditions()),
    )


def _source(
    draw: DrawFn, name: str
) -> tuple[LoopKind, ByDecision | ByCondition | ByCount | ByItems]:
    if draw(st.booleans()):
        own = name if draw(st.booleans()) else f"{name}-decision"
        return draw(_DECIDED_LOOP), ByDecision(loop_id=own)
    kind = draw(_CONTEXT_LOOP)
    match kind:
        case "for":
            return kind, ByCount(count=draw(_COUNTED))
        case "forEach":
            return kind, ByItems(key=draw(_LISTED))
        case _:
            return kind, ByCondition(condition=draw(conditions()))


def _step(draw: DrawFn, ids: _Ids, *, demanding: bool) -> Step:
    name = ids.next("step")
    prompt = draw(_PROMPT)
    condition = _sometimes(draw, conditions())
    contract = draw(_CONTRACT)
    if not demanding:
        return Step(
            id=name,
            title=name.title(),
            prompt=prompt,
            run_condition=condition,
            output_contract=OutputContract(ref=contract, required=False) if contract else None,
        )
    contract = draw(_OTHER_CONTRACT) or contract
    refs = draw(_REFS)
    return Step(
        id=name,
        title=name.title(),
        prompt=prompt,
        run_condition=condition,
        output_contract=OutputContract(ref=contract, required=draw(st.booleans()))
        if contract
        else None,
        assessment_refs=refs,
        consequences=(Consequence(level="low", guidance="Go deeper."),) if refs else (),
        criteria=_sometimes(draw, criteria()),
        notes_optional=draw(st.booleans()),
        confirmation=_sometimes(draw, confirmations()),
        checks=draw(_CHECKS),
    )


def _sometimes(draw: DrawFn, strategy: SearchStrategy[_T]) -> _T | None:
    return draw(strategy) if draw(st.integers(0, 3)) == 0 else None


@dataclass(frozen=True)
class Sent:
    """What an agent sends with an advance."""

    notes: str | None = None
    artifacts: tuple[Json, ...] = ()
    context: JsonObject | None = None


@cache
def deltas() -> SearchStrategy[JsonObject]:
    """Return context changes: flags, counts and lists, set, removed, or of the wrong kind."""
    items: SearchStrategy[Json] = st.lists(
        st.one_of(st.sampled_from(["p", "q"]), st.builds(dict, name=st.just("r"))), max_size=3
    )
    return st.fixed_dictionaries(
        {},
        optional={
            **{key: _SMALL | st.none() for key in FLAGS},
            **{key: st.integers(0, 3) for key in COUNTS[:1]},
            **{key: st.one_of(st.integers(0, 3), st.none(), st.just("3")) for key in COUNTS[1:]},
            **dict.fromkeys(LISTS[:1], items),
            **{key: items | st.none() | st.just(0) for key in LISTS[1:]},
            "note": st.text(string.printable + "é漢😀", max_size=200),
        },
    )


@cache
def artifacts() -> SearchStrategy[Json]:
    """Return artifacts good and bad, of every kind a drawn workflow asks for."""
    return st.one_of(
        decisions(),
        st.sampled_from([example(GATE_VERDICT), example(OWN_CONTRACT), {"kind": "finding"}]),
        st.builds(
            assessment,
            st.sampled_from(["quality", "risk", "none"]),
            st.sampled_from(["low", " HIGH ", "none", "some", "odd"]),
        ),
        st.sampled_from([None, 3, 1.5, "text", [], {}, {"kind": "other", "ü": "漢"}]),
    )


@cache
def decisions() -> SearchStrategy[Json]:
    """Return loop decisions; some name a loop, some are malformed."""
    return st.one_of(
        st.builds(decision, st.sampled_from(["continue", "stop"])),
        st.builds(
            decision, st.sampled_from(["continue", "stop"]), st.sampled_from(["loop1", "loop2"])
        ),
        st.just(decision("perhaps")),
    )


def decision(word: str, loop_id: str | None = None) -> Json:
    """Return a loop decision."""
    return {"kind": "wr.loop_control", "decision": word} | ({"loopId": loop_id} if loop_id else {})


def assessment(name: str, level: str) -> Json:
    """Return an assessment with one level for its required dimension."""
    dimension = "blast" if name == "risk" else "depth"
    return {"kind": "wr.assessment", "assessmentId": name, "dimensions": {dimension: level}}


def example(ref: str) -> Json:
    """Return an artifact that satisfies a contract."""
    contract = contract_for(ref, (OWN,))
    assert contract is not None
    return contract.example


@cache
def sendings() -> SearchStrategy[Sent]:
    """Return anything an agent may send, most of it not what the step asks for."""
    return st.builds(
        Sent,
        notes=st.sampled_from([None, "", " ", "ok", "bad", "done and ok, in many words" * 4]),
        artifacts=st.lists(artifacts(), max_size=3).map(tuple),
        context=st.none() | deltas(),
    )


def satisfying(step: Step, word: str, context: JsonObject | None) -> Sent:
    """Return what passes the step's contract, assessments and most criteria."""
    made: list[Json] = [assessment("quality", "high"), assessment("risk", "none")]
    if step.output_contract is not None:
        ref = step.output_contract.ref
        made.append(decision(word) if ref == LOOP_CONTROL else example(ref))
    return Sent(notes="ok", artifacts=tuple(made), context=context)
