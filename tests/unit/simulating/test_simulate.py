"""The simulation takes every way there is, and says of each other way why it cannot be taken."""

from headway.domain.simulating.simulate import Coverage, simulate
from headway.domain.workflow import (
    AllOf,
    Assessment,
    ByItems,
    Check,
    Compare,
    Condition,
    Confirmation,
    Consequence,
    Dimension,
    Fragment,
    Item,
    Loop,
    NoRule,
    OutputContract,
    Rule,
    Step,
    UserContract,
    Workflow,
)
from tests.support.building import asking, counted, decided, during, each, on, workflow


def equals(key: str, value: str) -> Condition:
    return Compare(var=key, operator="equals", value=value)


def telling(name: str, prompt: str = "", when: Condition | None = None) -> Step:
    return Step(id=name, title=name, prompt=prompt, run_condition=when, notes_optional=True)


def taken(coverage: Coverage) -> set[str]:
    return {branch.told() for branch in coverage.taken}


def reasons(coverage: Coverage) -> dict[str, str]:
    return {missed.branch.told(): missed.verdict for missed in coverage.untaken}


def simulated(*items: Item) -> Coverage:
    return simulate(workflow(*items))


def test_both_sides_of_a_condition_are_taken() -> None:
    coverage = simulated(telling("a", "Set size."), telling("b", when=equals("size", "large")))
    assert coverage.is_complete
    assert {"step b: met", "step b: passed over", "end: reached"} <= taken(coverage)


def test_a_step_that_waits_for_what_nobody_sets_is_told_with_the_key() -> None:
    coverage = simulated(telling("a"), telling("b", when=equals("size", "large")))
    assert not coverage.is_complete
    [missed] = coverage.missed
    assert (missed.branch.told(), missed.verdict, missed.keys) == (
        "step b: met",
        "unset",
        ("size",),
    )
    assert 'size equals "large"' in missed.why


def test_a_step_that_waits_for_what_is_told_later_is_told_as_late() -> None:
    coverage = simulated(
        telling("a"), telling("b", when=equals("size", "large")), telling("c", "Set size.")
    )
    assert reasons(coverage) == {"step b: met": "late"}
    assert not coverage.is_complete


def test_a_step_no_value_selects_is_impossible_and_asks_for_nothing() -> None:
    never = AllOf(terms=(equals("size", "large"), equals("size", "small")))
    coverage = simulated(telling("a", "Set size."), telling("b", when=never))
    assert reasons(coverage) == {"step b: met": "impossible"}
    assert coverage.is_complete


def test_a_key_is_followed_to_the_step_that_tells_it() -> None:
    coverage = simulated(
        telling("a", "Set size."),
        telling("b", "Set risk.", when=equals("size", "large")),
        telling("c", when=equals("risk", "high")),
    )
    assert coverage.is_complete
    assert "step c: met" in taken(coverage)


def test_a_loop_by_decision_is_left_by_decision_and_at_its_limit() -> None:
    coverage = simulated(decided("again", telling("work"), asking("judge"), most=3))
    assert {"loop again: left by decision", "loop again: left at its limit"} <= taken(coverage)
    assert coverage.is_complete


def test_a_loop_by_condition_goes_every_way() -> None:
    coverage = simulated(telling("a", "Set more."), during("again", "more", telling("work")))
    assert coverage.is_complete
    assert {
        "loop again: entered",
        "loop again: nothing to do",
        "loop again: left at its end",
        "loop again: left at its limit",
    } <= taken(coverage)


def test_loops_over_lists_and_counts_go_every_way() -> None:
    coverage = simulated(
        telling("a", "Set files, a list, and rounds."),
        each("files", "files", telling("one")),
        counted("rounds", "rounds", telling("two"), most=2),
        counted("fixed", 2, telling("three")),
    )
    assert coverage.is_complete
    for loop in ("files", "rounds"):
        assert {f"loop {loop}: nothing to do", f"loop {loop}: left at its limit"} <= taken(coverage)
    assert "loop fixed: left at its end" in taken(coverage)


def test_the_limit_of_an_inner_loop_is_reached_in_the_first_pass_of_the_outer() -> None:
    inner = decided("inner", telling("work"), asking("judge"), most=4)
    coverage = simulated(decided("outer", inner, asking("rule"), most=50))
    assert coverage.is_complete
    assert coverage.advances < 500


def test_members_of_a_list_are_what_conditions_in_the_loop_tell_apart() -> None:
    fragments = (Fragment(id="extra", text="More.", when=equals("area", "data")),)
    step = Step(id="one", title="One", fragments=fragments, notes_optional=True)
    loop = Loop(
        id="areas", title="Areas", kind="forEach", source=ByItems(key="areas"), max_iterations=5,
        item_var="area", body=(step,),
    )  # fmt: skip
    coverage = simulated(telling("a", "Set areas."), loop)
    assert {"fragment one: extra shown", "fragment one: extra left out"} <= taken(coverage)


def test_a_loop_whose_list_nobody_is_told_to_set_is_a_dead_end() -> None:
    coverage = simulated(telling("a"), each("files", "files", telling("one")))
    assert [end.step for end in coverage.dead_ends] == ["a"]
    assert "files" in coverage.dead_ends[0].why
    assert not coverage.is_complete


def test_a_step_is_refused_in_each_of_its_ways() -> None:
    quality = Assessment(
        id="quality",
        purpose="How good.",
        dimensions=(Dimension(id="depth", purpose="How deep.", levels=("low", "high")),),
    )
    contract = UserContract(
        id="acme.finding",
        kind="finding",
        schema={
            "type": "object",
            "required": ["kind", "text"],
            "properties": {"kind": {"const": "finding"}, "text": {"type": "string"}},
        },
    )
    asked = Workflow(
        form=1, id="asked", name="Asked", description="A test.", version="1",
        assessments=(quality,), contracts=(contract,),
        steps=(
            Step(
                id="judge", title="Judge", assessment_refs=("quality",),
                consequences=(Consequence(level="low", guidance="Dig."),),
            ),
            Step(id="find", title="Find", output_contract=OutputContract(ref="acme.finding")),
            Step(id="run", title="Run", checks=(Check(id="tests", run="make"),)),
        ),
    )  # fmt: skip
    coverage = simulate(asked)
    assert coverage.is_complete
    assert {branch.told() for branch in coverage.taken if branch.kind == "block"} == {
        "block judge: output missing",
        "block judge: notes missing",
        "block judge: level low asks for more",
        "block find: output missing",
        "block find: output wrong",
        "block run: notes missing",
        "block run: check tests fails",
    }


def test_notes_are_found_that_pass_and_fail_their_rules() -> None:
    rules = (
        Rule(type="regex", message="m", pattern=r"^## (Found|None)\s+\d{2,}"),
        NoRule(part=Rule(type="contains", message="m", value="later")),
        Rule(type="length", message="m", min=40),
    )
    for rule in rules:
        coverage = simulated(Step(id="a", title="A", criteria=rule))
        assert coverage.is_complete
        assert "block a: notes fail the criteria" in taken(coverage)


def test_a_gate_is_approved_rejected_and_not_asked() -> None:
    gate = Confirmation(kind="human_approval", when=equals("risk", "high"))
    coverage = simulated(
        telling("a", "Set risk."),
        Step(id="b", title="B", confirmation=gate, notes_optional=True),
    )
    assert coverage.is_complete
    assert {"gate b: approved", "gate b: rejected", "gate b: not asked"} <= taken(coverage)


def test_notes_that_no_rule_lets_pass_are_a_dead_end() -> None:
    rule = NoRule(part=Rule(type="length", message="m", min=0))
    coverage = simulated(Step(id="a", title="A", criteria=rule))
    assert [end.step for end in coverage.dead_ends] == ["a"]


def test_the_same_seed_gives_the_same_report_and_another_seed_the_same_coverage() -> None:
    items = (telling("a", "Set size."), telling("b", when=equals("size", "large")))
    assert simulate(workflow(*items), 3) == simulate(workflow(*items), 3)
    assert taken(simulate(workflow(*items), 3)) == taken(simulate(workflow(*items), 4))


def test_a_spent_budget_is_told_and_the_rest_is_undecided() -> None:
    items = [telling(f"s{number}") for number in range(30)]
    coverage = simulate(workflow(*items, telling("z", "Set x.", on("x"))), 0, advances_max=1)
    assert coverage.exhausted
