import pytest

from headway.domain.values import Json
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Compare,
    Loop,
    LoopSource,
)
from tests.unit.compiler.making import (
    LOOP_CONTROL,
    as_loop,
    as_step,
    loop,
    problems,
    source,
    step,
    workflow,
)

DECIDES = step("decide", outputContract=LOOP_CONTROL)
X = Compare(var="x", operator="truthy")


def looped(body: Json, **settings: Json) -> Loop:
    tree = source(loop("again", body, loop={"maxIterations": 3, **settings}))
    return as_loop(workflow(tree).steps[0])


@pytest.mark.parametrize(
    ("body", "settings", "meant"),
    [
        ([step()], {"type": "while", "condition": {"var": "x"}}, ByCondition(condition=X)),
        ([step(), DECIDES], {"type": "until"}, ByDecision(loop_id="again")),
        # a decision in the body outweighs a plain condition, an explicit source outweighs both
        ([DECIDES], {"type": "while", "condition": {"var": "x"}}, ByDecision(loop_id="again")),
        (
            [DECIDES],
            {
                "type": "while",
                "conditionSource": {"kind": "context_variable", "condition": {"var": "x"}},
            },
            ByCondition(condition=X),
        ),
        (
            [DECIDES],
            {
                "type": "while",
                "conditionSource": {
                    "kind": "artifact_contract",
                    **LOOP_CONTROL,
                    "loopId": "another_name",
                },
            },
            ByDecision(loop_id="another_name"),
        ),
        ([DECIDES], {"type": "for", "count": 2}, ByCount(count=2)),
        ([step()], {"type": "for", "count": "reps"}, ByCount(count="reps")),
        ([step()], {"type": "forEach", "items": "things"}, ByItems(key="things")),
    ],
)
def test_what_steers_a_loop_is_derived_from_what_it_says_and_what_its_body_asks_for(
    body: Json, settings: dict[str, Json], meant: LoopSource
) -> None:
    assert looped(body, **settings).source == meant


def test_loop_variables_may_be_renamed() -> None:
    names = {"iterationVar": "turn", "itemVar": "file", "indexVar": "ix"}
    found = looped([step()], type="forEach", items="files", **names)
    assert (found.iteration_var, found.item_var, found.index_var) == ("turn", "file", "ix")


def test_a_body_named_by_id_leaves_the_top_level() -> None:
    tree = source(step("first"), loop("again", "work"), step("work", audit={}), step("last"))
    found = workflow(tree)
    assert [each.id for each in found.steps] == ["first", "again", "last"]
    assert [each.id for each in as_loop(found.steps[1]).body] == ["work", "work__audit"]


def test_loops_nest_inline_and_by_id() -> None:
    tree = source(loop("outer", [loop("middle", "inner"), loop("inner", [step()]), step("two")]))
    outer = as_loop(workflow(tree).steps[0])
    assert [each.id for each in outer.body] == ["middle", "two"]
    inner = as_loop(as_loop(outer.body[0]).body[0])
    assert as_step(inner.body[0]).id == "one"


def nest(depth: int) -> dict[str, Json]:
    return loop(f"l{depth}", [nest(depth - 1) if depth > 1 else step()])


def test_loops_nest_four_deep() -> None:
    assert problems(source(nest(4))) == []


def test_a_fifth_loop_is_refused() -> None:
    path = "steps[0].body[0].body[0].body[0].body[0]"
    assert problems(source(nest(5))) == [("LOOP_TOO_DEEP", path)]


def test_loops_that_lead_to_each_other_are_refused() -> None:
    assert problems(source(step(), loop("a", "b"), loop("b", "a"))) == [
        ("LOOP_CYCLE", "steps[1].body"),
        ("LOOP_CYCLE", "steps[2].body"),
    ]


def test_a_cycle_entered_from_outside_is_refused() -> None:
    found = problems(source(loop("c", "a"), loop("a", "b"), loop("b", "a")))
    assert {code for code, _ in found} == {"LOOP_CYCLE"}


def test_ids_are_unique_across_loops() -> None:
    assert problems(source(step(), loop("again", [step()]))) == [
        ("DUPLICATE_STEP_ID", "steps[1].body[0].id")
    ]


def test_a_decision_from_a_nested_plain_loop_is_one_for_the_loop_around_it() -> None:
    explicit = {"kind": "artifact_contract", **LOOP_CONTROL}
    tree = source(
        loop(
            "outer",
            [loop("inner", [DECIDES])],
            loop={"type": "while", "maxIterations": 3, "conditionSource": explicit},
        )
    )
    assert problems(tree) == []
