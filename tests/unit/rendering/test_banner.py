from headway.domain.loops import variables_at
from headway.domain.rendering.banner import render_banner
from headway.domain.values import Json
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Compare,
    Loop,
    LoopKind,
    LoopSource,
    OutputContract,
    Step,
)

WORK = Step(id="work", title="Work")
DECIDE = Step(
    id="decide", title="Decide", output_contract=OutputContract(ref="wr.contracts.loop_control")
)


def loop(source: LoopSource, kind: LoopKind = "while", title: str = "Refine") -> Loop:
    return Loop(
        id="hidden-id", title=title, kind=kind, source=source, max_iterations=5, body=(WORK,)
    )


DECIDED = loop(ByDecision(loop_id="hidden-id"))


def banner(*loops: tuple[Loop, int], step: Step = WORK, **context: Json) -> str:
    return render_banner(step, loops, variables_at(loops, context))


def test_there_is_none_outside_loops_and_on_the_deciding_step() -> None:
    assert banner() == ""
    assert banner((DECIDED, 2), step=DECIDE) == ""


def test_the_first_pass_is_told_its_limit() -> None:
    text = banner((DECIDED, 0))
    assert text.startswith("> Loop: Refine, pass 1 of at most 5.\n> ")
    assert "[" not in text


def test_later_passes_show_progress_a_scope_and_earlier_notes() -> None:
    second, middle, last = (banner((DECIDED, number)) for number in (1, 2, 4))
    assert second.startswith("> [##---] Pass 2 of 5: Refine.")
    assert last.startswith("> [#####] Pass 5 of 5: Refine.")
    assert "what the first pass missed" in second
    assert "gaps" in middle
    assert "last pass" in last
    assert all("notes of earlier passes" in text for text in (second, middle, last))
    assert "hidden-id" not in second + middle + last


def test_a_loop_steered_by_context_has_the_same_banner() -> None:
    steered = loop(ByCondition(condition=Compare(var="x", operator="truthy")), "until")
    assert "Pass 2 of 5" in banner((steered, 1))


def test_a_count_is_the_smaller_of_count_and_limit() -> None:
    assert "pass 1 of 3." in banner((loop(ByCount(count=3), "for"), 0))
    assert "Pass 2 of 5" in banner((loop(ByCount(count=9), "for"), 1))
    assert "Pass 2 of 4" in banner((loop(ByCount(count="n"), "for"), 1), n=3.5)
    assert "Pass 2 of 5" in banner((loop(ByCount(count="n"), "for"), 1))
    assert "Pass 4 of 4" in banner((loop(ByCount(count="n"), "for"), 3), n=2)


def test_for_each_names_its_item_in_short() -> None:
    each = loop(ByItems(key="files"), "forEach")
    text = banner((each, 1), files=["a.py", {"path": "b.py", "why": "x" * 200}])
    assert 'Pass 2 of 2: Refine, item: {"path":"b.py"' in text
    assert max(len(line) for line in text.splitlines()) < 140


def test_nested_loops_have_a_line_each_and_keep_their_own_items() -> None:
    outer = loop(ByItems(key="groups"), "forEach", "Groups")
    inner = loop(ByItems(key="currentItem"), "forEach", "Members of {{currentIteration}}")
    lines = banner((outer, 1), (inner, 0), groups=[["a"], ["b", "c", "d"]]).splitlines()
    assert lines[0] == "> [##] Pass 2 of 2: Groups, item: b,c,d."
    assert lines[1] == "> Loop: Members of 1, pass 1 of 3, item: b."
    assert len(lines) == 3
