"""A session drawn as a tree: what happened, in order, forks as branches."""

import json

from headway.domain.commands import Advance, ChangePreferences, DecideGate, SaveCheckpoint, Start
from headway.domain.events import Gap, GapRecorded, GateOpened
from headway.domain.ids import fresh_attempt
from headway.domain.preferences import Preferences
from headway.domain.projections.tree import Tree, session_tree
from headway.domain.state import with_attempt
from tests.support.decided import Decided, compile_text


def workflow(*steps: object, **more: object) -> Decided:
    written = {
        "id": "demo",
        "name": "Demo",
        "description": "d",
        "version": "1.0.0",
        "steps": list(steps),
        **more,
    }
    return Decided(compile_text(json.dumps(written).encode()))


def step(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "title": f"Do {name}", "prompt": "Work.", **more}


def begin(session: Decided, **context: str) -> Decided:
    session.start(Start(goal="the goal", context=context))
    return session


def go(session: Decided, notes: str | None = "# Done\nmore") -> None:
    session.advance(Advance(attempt=session.open_attempt(), notes=notes))


def drawn(session: Decided) -> list[str]:
    return lines(session_tree(session.events, session.workflow))


def lines(tree: Tree) -> list[str]:
    return [
        f"{'  ' * row.depth}{row.told.kind}: {row.told.text}{' <-' if row.here else ''}"
        for row in tree.rows
    ]


def test_a_finished_session_shows_its_steps_with_the_first_line_of_their_notes() -> None:
    session = begin(workflow(step("a-one"), step("b-two")))
    go(session)
    go(session, "\n\n  second step\n")
    assert drawn(session) == [
        "step_done: Do a-one (a-one)",
        "  notes: Done",
        "step_done: Do b-two (b-two)",
        "  notes: second step",
        "complete: complete",
    ]


def test_a_block_stands_with_its_code_and_remedy_under_the_step_it_hit() -> None:
    session = begin(workflow(step("a-one"), step("b-two")))
    go(session, None)
    shown = drawn(session)
    assert shown[0] == "step_blocked: Do a-one (a-one) <-"
    assert shown[1].startswith("  blocked: MISSING_REQUIRED_NOTES: ")
    assert shown[2].startswith("  fix: ")
    go(session)
    shown = drawn(session)
    assert shown[0] == "step_done: Do a-one (a-one)"
    assert shown[1].startswith("  blocked: MISSING_REQUIRED_NOTES: ")
    assert shown[3:] == ["  notes: Done", "step_open: Do b-two (b-two) <-"]


def test_each_pass_of_nested_loops_is_named_and_a_limit_is_told() -> None:
    inner = {
        "id": "files",
        "title": "Files",
        "type": "loop",
        "loop": {"type": "for", "count": 2, "maxIterations": 5},
        "body": [step("look")],
    }
    outer = {
        "id": "rounds",
        "title": "Rounds",
        "type": "loop",
        "loop": {"type": "for", "count": 3, "maxIterations": 2},
        "body": [inner],
    }
    session = begin(workflow(outer, step("end")))
    for _ in range(4):
        go(session)
    shown = [line for line in drawn(session) if "notes" not in line]
    assert shown == [
        "step_done: Do look (look) [Rounds 1, Files 1]",
        "step_done: Do look (look) [Rounds 1, Files 2]",
        "step_done: Do look (look) [Rounds 2, Files 1]",
        "step_done: Do look (look) [Rounds 2, Files 2]",
        "limit: Rounds ended at its limit of 2 passes although it would have gone on",
        "step_open: Do end (end) <-",
    ]


def test_a_skip_tells_its_condition_in_words() -> None:
    deep = step("deep", runCondition={"var": "risk", "equals": "high"})
    session = begin(workflow(step("a-one"), deep, step("end")), risk="low")
    go(session)
    skipped = drawn(session)[2]
    assert skipped.startswith("skipped: Do deep (deep): not the case that ")
    assert "risk" in skipped
    assert "high" in skipped


def test_a_fork_is_a_branch_with_its_own_notes_and_its_own_end() -> None:
    session = begin(workflow(step("a-one"), step("b-two")))
    root = session.state.attempts[session.open_attempt()].node
    go(session, "first way")
    go(session, "first end")
    again = fresh_attempt(bytes(16))
    session.state = with_attempt(session.state, again, root)
    session.advance(Advance(attempt=again))  # blocked: belongs to the second way
    session.advance(Advance(attempt=session.open_attempt(), notes="second way"))
    shown = drawn(session)
    assert [line for line in shown if "blocked: " not in line and "fix: " not in line] == [
        "step_done: Do a-one (a-one)",
        "  notes: first way",
        "  fork: went on from here again (branch 2)",
        "    notes: second way",
        "    step_open: Do b-two (b-two) <-",
        "step_done: Do b-two (b-two)",
        "  notes: first end",
        "complete: complete",
    ]
    assert any(line.startswith("    blocked: ") for line in shown)


def test_checkpoints_preferences_and_gaps_stand_under_their_step() -> None:
    session = begin(workflow(step("a-one"), step("b-two")))
    session.send(SaveCheckpoint(attempt=session.open_attempt()))
    bold = Preferences(autonomy="full_auto_never_stop", risk_policy="balanced")
    session.send(ChangePreferences(attempt=session.open_attempt(), preferences=bold))
    go(session, None)
    session.events.append(
        GapRecorded(gaps=(Gap(code="ODD", severity="info", category="c", summary="s\x1b[2J"),))
    )
    shown = drawn(session)
    assert shown[:3] == [
        "step_done: Do a-one (a-one)",
        "  checkpoint: checkpoint saved",
        "  preferences: operator chose full_auto_never_stop, balanced",
    ]
    assert shown[3].startswith("  gap: ")
    assert shown[4:] == ["step_open: Do b-two (b-two) <-", "  gap: ODD (info): s [2J"]


def test_a_gate_shows_that_it_waits_and_how_it_was_decided() -> None:
    asking = step("a-one", requireConfirmation={"kind": "human_approval"})
    session = workflow(asking, step("b-two"))
    session.start(Start(goal="g", gates="enforce"))
    attempt = session.open_attempt()
    gate = session.advance(Advance(attempt=attempt, notes="look"))
    assert isinstance(gate, GateOpened)
    assert drawn(session) == [
        "step_gated: Do a-one (a-one) <-",
        "  gate: waits for a decision (human_approval)",
    ]
    session.send(
        DecideGate(
            attempt=attempt, approve=True, decided_by="ana", shown=gate.shown, rationale="ok"
        )
    )
    assert drawn(session) == [
        "step_done: Do a-one (a-one)",
        "  gate: waits for a decision (human_approval)",
        "  gate: approved by ana: ok",
        "  notes: look",
        "step_open: Do b-two (b-two) <-",
    ]


def test_a_title_shows_the_values_it_speaks_of() -> None:
    session = begin(workflow(step("a-one", title="Mend {{what}}")), what="the door")
    assert drawn(session) == ["step_open: Mend the door (a-one) <-"]


def test_a_session_in_which_nothing_applied_is_complete_at_once() -> None:
    never = step("a-one", runCondition={"var": "x", "equals": "y"})
    shown = drawn(begin(workflow(never)))
    assert shown[0].startswith("skipped: ")
    assert shown[-1] == "complete: complete"


def test_a_thousand_forks_upon_forks_need_no_recursion() -> None:
    loop = {
        "id": "inner",
        "title": "Inner",
        "type": "loop",
        "loop": {"type": "for", "count": 500, "maxIterations": 1000},
        "body": [step("look")],
    }
    loop = {**loop, "id": "outer", "title": "Outer", "body": [loop]}
    session = begin(workflow(loop))
    for number in range(1200):  # each step is left twice, and the second way is gone on with
        attempt = session.open_attempt()
        node = session.state.attempts[attempt].node
        session.advance(Advance(attempt=attempt, notes="one"))
        again = fresh_attempt(number.to_bytes(16, "big"))
        session.state = with_attempt(session.state, again, node)
        session.advance(Advance(attempt=again, notes="two"))
    tree = session_tree(session.events, session.workflow)
    assert max(row.depth for row in tree.rows) > 1200
