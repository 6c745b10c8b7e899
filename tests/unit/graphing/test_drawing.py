"""A workflow's drawing: every shape of the flow, the same bytes each time, words left words."""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from headway.domain.graphing.flow import Choice, Work, flow_of
from headway.domain.graphing.layout import broken
from headway.domain.graphing.mermaid import mermaid
from headway.domain.graphing.svg import svg
from headway.domain.workflow import (
    Check,
    Compare,
    Condition,
    Confirmation,
    Delegation,
    Step,
    Workflow,
)
from tests.support.building import asking, decided, workflow

GOLDEN = Path(__file__).parent / "golden"
REWRITE = "HEADWAY_REWRITE_GOLDEN" in os.environ  # noqa: TID251 - how a golden is written anew


def size(value: str) -> Condition:
    return Compare(var="size", operator="equals", value=value)


def every_shape() -> Workflow:
    helpers = (Delegation(workflow_id="hw.routine-reviewer", when=size("large")),) * 2
    gate = Confirmation(kind="human_approval", when=size("large"))
    return workflow(
        Step(id="look", title='Look "closely" at <b>it</b> & decide', confirmation=gate),
        Step(id="short", title="The short way", run_condition=size("small")),
        Step(id="long", title="The long way", run_condition=size("large")),
        Step(id="more", title="And more of it", run_condition=size("large")),
        decided("again", Step(id="try", title="Try"), asking("judge"), most=4),
        Step(id="ask", title="Ask helpers", kind="parallel", delegations=helpers),
        Step(id="prove", title="Prove it", checks=(Check(id="tests", run="make"),)),
    )


@pytest.mark.parametrize(("name", "drawn"), [("flow.svg", svg), ("flow.mmd", mermaid)])
def test_it_is_drawn_as_it_was(name: str, drawn: object) -> None:
    assert callable(drawn)
    made = str(drawn(every_shape()))
    if REWRITE:
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(made, "utf-8")
    assert made == (GOLDEN / name).read_text("utf-8")


def test_lanes_that_exclude_each_other_stand_side_by_side() -> None:
    choice = next(block for block in flow_of(every_shape()) if isinstance(block, Choice))
    assert [lane.condition for lane in choice.lanes] == [
        'size equals "small"', 'size equals "large"', ""
    ]  # fmt: skip
    assert [len(lane.blocks) for lane in choice.lanes] == [1, 2, 0]


def test_lanes_of_which_one_always_holds_have_no_way_around() -> None:
    small, other = size("small"), Compare(var="size", operator="not_equals", value="small")
    [choice] = flow_of(
        workflow(
            Step(id="a", title="A", run_condition=small),
            Step(id="b", title="B", run_condition=other),
        )
    )
    assert isinstance(choice, Choice)
    assert [lane.condition for lane in choice.lanes if not lane.blocks] == []


def test_conditions_that_may_both_hold_are_asked_one_after_the_other() -> None:
    other = Compare(var="risk", operator="equals", value="high")
    blocks = flow_of(
        workflow(
            Step(id="a", title="A", run_condition=size("small")),
            Step(id="b", title="B", run_condition=other),
        )
    )
    assert [type(block) for block in blocks] == [Choice, Choice]


def test_words_of_a_workflow_are_no_markup() -> None:
    picture = svg(every_shape())
    root = ET.fromstring(picture)  # noqa: S314 - made right here
    assert "<b>" not in picture
    assert 'Look "closely" at <b>it</b>' in "".join(root.itertext())
    assert "<b>" not in mermaid(every_shape())


def test_it_is_told_to_readers_who_do_not_see_it() -> None:
    root = ET.fromstring(svg(every_shape()))  # noqa: S314 - made right here
    named = [root.find(f"{{http://www.w3.org/2000/svg}}{part}") for part in ("title", "desc")]
    assert [each.attrib["id"] for each in named if each is not None] == root.attrib[
        "aria-labelledby"
    ].split()
    told = named[1]
    assert told is not None
    assert "Loop Again, until a step decides to stop, at most 4 passes" in str(told.text)


def test_a_character_xml_does_not_know_does_not_break_the_picture() -> None:
    ET.fromstring(svg(workflow(Step(id="a", title="A\x00\x1b\ud800B"))))  # noqa: S314


def test_a_long_word_is_parted_and_a_long_text_is_cut() -> None:
    assert broken("hw.routine-reviewer-family", 20, 3) == ["hw.routine-reviewer-", "family"]
    assert broken("one two three", 7, 1) == ["one two…"]
    assert flow_of(workflow(Step(id="a", title="A")))[0] == Work(
        id="a", title="A", kind="standard", demands=("notes",)
    )
