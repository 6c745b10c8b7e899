"""Where a session goes next, told as conversations: what is handed in, which step is open then."""

import pytest

from headway.domain.commands import Start
from headway.domain.errors import Code, PreconditionFailed
from headway.domain.events import AdvanceBlocked, LoopLimit, SessionCompleted, Skip
from headway.domain.values import Json
from headway.domain.workflow import AnyOf, ByCondition, ByDecision, Compare, Loop, Step
from tests.support.building import (
    Conversation,
    asking,
    counted,
    decided,
    decision,
    during,
    each,
    on,
    step,
    workflow,
)


def test_steps_follow_each_other_in_order() -> None:
    told = Conversation(workflow(step("a"), step("b")))
    assert told.at() == "a"
    assert told.done() == "b"
    assert told.done() is None
    assert told.events[-1] == SessionCompleted(
        node=told.state.completed[0], outcome="complete", gaps=0
    )


def test_a_skipped_step_stays_skipped_when_its_condition_comes_true_later() -> None:
    told = Conversation(workflow(step("a"), step("maybe", on("a")), step("b"), step("c")))
    assert told.done() == "b"
    assert told.last_walk().skips == (Skip(item="maybe", condition="a is set"),)
    assert told.done(a=True) == "c"
    assert told.done() is None


def test_a_step_skipped_in_one_pass_may_run_in_the_next() -> None:
    told = Conversation(workflow(counted("loop", 2, step("maybe", on("a")), step("b"))))
    assert told.at() == "b@0"
    assert told.done(a=True) == "maybe@1"


def test_a_workflow_whose_steps_are_all_skipped_is_complete_at_once() -> None:
    told = Conversation(workflow(step("a", on("a")), counted("loop", 0, step("b"))))
    assert told.at() is None
    assert told.events[-1] == SessionCompleted(node=None, outcome="complete")


def test_nested_loops_run_the_inner_passes_within_each_outer_pass() -> None:
    inner = counted("inner", 2, step("b"))
    told = Conversation(workflow(counted("outer", 2, step("a"), inner), step("end")))
    met = [told.at()]
    while met[-1] is not None:
        met.append(told.done())
    assert met == ["a@0", "b@0.0", "b@0.1", "a@1", "b@1.0", "b@1.1", "end", None]


def test_loops_nest_four_deep() -> None:
    loop = counted("l4", 1, step("deep"))
    for name in ("l3", "l2", "l1"):
        loop = counted(name, 1, loop)
    told = Conversation(workflow(loop, step("end")))
    assert told.at() == "deep@0.0.0.0"
    assert told.done() == "end"


def test_a_stop_in_the_middle_of_a_body_ends_the_loop_there() -> None:
    loop = decided("loop", asking("ask"), step("after"))
    told = Conversation(workflow(loop, step("end")))
    assert told.done(decision("continue")) == "after@0"
    assert told.done() == "ask@1"
    assert told.done(decision("stop")) == "end"


def test_a_stop_concerns_the_nearest_loop_steered_by_decisions_alone() -> None:
    inner = decided("inner", asking("ask"), step("b"))
    told = Conversation(workflow(decided("outer", step("a"), inner, most=2), step("end")))
    told.done()
    assert told.done(decision("stop")) == "a@1"
    assert told.last_walk().loop_limits == ()


def test_a_stop_leaves_a_counted_loop_inside_the_loop_it_concerns() -> None:
    told = Conversation(
        workflow(decided("outer", counted("inner", 3, asking("ask")), step("b")), step("end"))
    )
    assert told.at() == "ask@0.0"
    assert told.done(decision("stop")) == "end"


def test_without_a_decision_a_loop_goes_on_to_its_limit_and_says_so() -> None:
    told = Conversation(workflow(decided("loop", asking("ask"), most=2), step("end")))
    assert told.done() == "ask@1"
    assert told.done(decision("continue")) == "end"
    assert told.last_walk().loop_limits == (LoopLimit(loop="loop", title="Loop", max_iterations=2),)


def test_a_loop_that_would_have_ended_anyway_reports_no_limit() -> None:
    told = Conversation(workflow(counted("loop", 2, step("a"), most=2), step("end")))
    told.done()
    assert told.done() == "end"
    assert told.last_walk().loop_limits == ()


def test_a_stop_on_the_last_pass_reports_no_limit() -> None:
    told = Conversation(workflow(decided("loop", asking("ask"), most=1), step("end")))
    assert told.done(decision("stop")) == "end"
    assert told.last_walk().loop_limits == ()


def test_a_decision_from_outside_any_loop_steers_the_next_loop_alone() -> None:
    told = Conversation(
        workflow(
            asking("ask"), decided("first", step("a")), decided("second", step("b")), step("end")
        )
    )
    assert told.done(decision("stop")) == "b@0"
    assert [skip.item for skip in told.last_walk().skips] == ["first"]


def test_a_decision_from_outside_may_say_continue() -> None:
    told = Conversation(workflow(asking("ask"), decided("loop", step("a"))))
    assert told.done(decision("continue")) == "a@0"


def test_a_decision_is_spent_when_a_step_comes_before_the_loop() -> None:
    told = Conversation(workflow(asking("ask"), step("between"), decided("loop", step("a"))))
    assert told.done(decision("stop")) == "between"
    assert told.done() == "a@0"


def test_a_decision_from_a_step_that_was_not_asked_counts_for_nothing() -> None:
    told = Conversation(workflow(decided("loop", step("a"), most=2), step("end")))
    assert told.done(decision("stop")) == "a@1"


def test_a_decision_naming_another_loop_blocks() -> None:
    told = Conversation(workflow(decided("loop", asking("ask")), decided("other", step("b"))))
    blocked = told.send(told.tip(), decision("stop", "other"))
    assert isinstance(blocked, AdvanceBlocked)
    assert [blocker.code for blocker in blocked.blockers] == ["INVALID_REQUIRED_OUTPUT"]
    assert told.done(decision("stop", "loop")) == "b@0"


def test_decisions_that_contradict_each_other_block() -> None:
    told = Conversation(workflow(decided("loop", asking("ask"))))
    blocked = told.send(told.tip(), decision("stop"), decision("continue"))
    assert isinstance(blocked, AdvanceBlocked)
    assert told.done(decision("stop"), decision("stop")) is None


def test_a_decision_may_use_the_name_its_loop_has_for_decisions() -> None:
    loop = Loop(
        id="loop",
        title="Loop",
        kind="until",
        source=ByDecision(loop_id="enough"),
        max_iterations=3,
        body=(asking("ask"),),
    )
    told = Conversation(workflow(loop, step("end")))
    assert told.done(decision("stop", "enough")) == "end"


def test_a_for_each_loop_that_grows_goes_through_the_new_items_too() -> None:
    start = Start(goal="Try it", context={"xs": ["p"]})
    told = Conversation(workflow(each("loop", "xs", step("a")), step("end")), start)
    assert told.variables()["currentItem"] == "p"
    assert told.done(xs=["p", "q"]) == "a@1"
    assert told.variables()["currentItem"] == "q"
    assert told.done() == "end"


def test_a_for_each_loop_that_shrinks_ends_before_its_next_step() -> None:
    start = Start(goal="Try it", context={"xs": ["p", "q"]})
    told = Conversation(workflow(each("loop", "xs", step("a"), step("b")), step("end")), start)
    told.done()
    assert told.done() == "a@1"
    assert told.done(xs=["p"]) == "end"


@pytest.mark.parametrize("first", ["p", 1, None, ["name"]])
def test_a_prompt_that_asks_an_item_for_a_field_needs_objects(first: Json) -> None:
    asks = Step(id="a", title="A", prompt="Look at {{currentItem.name}}.", notes_optional=True)
    told = Conversation(workflow(step("go"), each("loop", "xs", asks), step("end")))
    with pytest.raises(PreconditionFailed):
        told.done(xs=[first])
    assert told.done(xs=[{"name": "x"}, "p"]) == "a@0"
    assert told.done() == "a@1"


def test_a_title_may_do_without_the_field() -> None:
    asks = Step(id="a", title="Look at {{currentItem.name}}", notes_optional=True)
    told = Conversation(workflow(step("go"), each("loop", "xs", asks), step("end")))
    assert told.done(xs=["p"]) == "a@0"


def test_an_inner_loop_goes_through_the_item_of_the_loop_around_it() -> None:
    start = Start(goal="Try it", context={"rows": [["p"], ["q", "r"]]})
    inner = Loop(
        id="inner",
        title="Inner",
        kind="forEach",
        source=each("_", "currentItem").source,
        max_iterations=5,
        body=(step("a"),),
        item_var="cell",
    )
    told = Conversation(workflow(each("outer", "rows", inner)), start)
    met = [(told.at(), told.variables()["cell"])]
    while told.done():
        met.append((told.at(), told.variables()["cell"]))
    assert met == [("a@0.0", "p"), ("a@1.0", "q"), ("a@1.1", "r")]


def test_a_while_loop_is_asked_again_before_every_step_of_its_body() -> None:
    start = Start(goal="Try it", context={"a": True})
    told = Conversation(workflow(during("loop", "a", step("x"), step("y")), step("end")), start)
    assert told.done(a=False) == "end"


def test_a_loop_is_asked_about_the_pass_that_ends_before_the_next_one() -> None:
    counting = Compare(var="currentIteration", operator="gt", value=1)
    loop = Loop(
        id="loop",
        title="Loop",
        kind="while",
        source=ByCondition(condition=AnyOf(terms=(on("a"), counting))),
        max_iterations=3,
        body=(step("x"),),
    )
    told = Conversation(workflow(loop, step("end")), Start(goal="Try it", context={"a": True}))
    assert told.done(a=False) == "end"


def test_a_loop_at_its_limit_still_needs_the_input_of_the_pass_that_ends() -> None:
    start = Start(goal="Try it", context={"xs": ["p", "q"]})
    told = Conversation(workflow(each("loop", "xs", step("a"), most=1), step("end")), start)
    with pytest.raises(PreconditionFailed):
        told.done(xs=None)
    assert told.done() == "end"


@pytest.mark.parametrize("given", [None, "two", True, [2]])
def test_a_missing_loop_input_is_a_fault_and_the_attempt_stays_open(given: object) -> None:
    told = Conversation(workflow(step("a"), counted("loop", "n", step("b"))))
    before = told.state
    with pytest.raises(PreconditionFailed) as fault:
        told.done(n=given)  # type: ignore[arg-type]  # the point is to send the wrong kind
    assert fault.value.code is Code.PRECONDITION_FAILED
    assert fault.value.details == {"kind": "missing_context_key", "key": "n"}
    assert '"context": {"n": 3}' in fault.value.remedy
    assert told.state == before
    assert told.done(n=1) == "b@0"


def test_a_session_whose_first_loop_lacks_its_input_does_not_start() -> None:
    with pytest.raises(PreconditionFailed):
        Conversation(workflow(each("loop", "xs", step("a"))))


def test_loops_that_go_round_without_a_step_are_a_fault_not_a_hang() -> None:
    loop = counted("l3", 30, step("never", on("a")), most=1000)
    loop = counted("l1", 30, counted("l2", 30, loop, most=1000), most=1000)
    told = Conversation(workflow(step("first"), loop))
    with pytest.raises(PreconditionFailed, match="10000 tries"):
        told.done()
    assert told.done(a=True) == "never@0.0.0"


def test_many_skips_are_counted_once_the_record_is_full() -> None:
    loop = counted("loop", 100, step("never", on("a")), most=1000)
    told = Conversation(workflow(step("first"), loop, step("end")))
    assert told.done() == "end"
    assert len(told.last_walk().skips) == 64
    assert told.last_walk().skips_omitted == 36
