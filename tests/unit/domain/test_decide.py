"""What becomes of a command, told as conversations with the decider."""

import pytest

from headway.domain.commands import (
    ChangePreferences,
    Command,
    DecideGate,
    Facts,
    RecordChecks,
    SaveCheckpoint,
    Start,
)
from headway.domain.decide import decide
from headway.domain.decision import Accepted, Replayed
from headway.domain.errors import Code, InvalidInput, PreconditionFailed, TokenFault
from headway.domain.events import (
    AdvanceBlocked,
    CheckpointSaved,
    CheckResult,
    GapRecorded,
    GateDecided,
    GateOpened,
    SessionCompleted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, Digest, next_attempt
from headway.domain.preferences import Preferences
from headway.domain.workflow import (
    Check,
    Confirmation,
    GateKind,
    OutputContract,
    Recommended,
    Step,
    Workflow,
)
from tests.support.building import (
    LOOP_CONTROL,
    Conversation,
    asking,
    counted,
    decided,
    decision,
    step,
    workflow,
)

NEVER_STOP = Preferences(autonomy="full_auto_never_stop")
VERDICT = OutputContract(ref="wr.contracts.gate_verdict")


def strict(name: str) -> Step:
    """Return a step that needs notes."""
    return Step(id=name, title=name.title())


def gated(name: str, kind: GateKind = "human_approval") -> Step:
    return Step(
        id=name,
        title=name.title(),
        confirmation=Confirmation(kind=kind),
        output_contract=LOOP_CONTROL,
    )


def enforced(*, never_stop: bool = False) -> Start:
    return Start(goal="Try it", gates="enforce", preferences=NEVER_STOP if never_stop else None)


def sent(told: Conversation, command: Command) -> None:
    told.take(decide(told.state, command, Facts(workflow=told.workflow)))


def answer(told: Conversation, gate: GateOpened, *, approve: bool, shown: str = "") -> None:
    command = DecideGate(
        attempt=gate.attempt,
        approve=approve,
        decided_by="ada",
        shown=Digest(shown or gate.shown),
        rationale="" if approve else "too thin",
    )
    sent(told, command)


# Blocks and retries.


def test_a_refused_attempt_leaves_its_step_open_under_a_retry_attempt() -> None:
    told = Conversation(workflow(strict("a"), step("b")))
    first = told.tip()
    blocked = told.send(first, notes=" ")
    assert isinstance(blocked, AdvanceBlocked)
    assert [(b.code, b.pointer.step_id) for b in blocked.blockers] == [
        ("MISSING_REQUIRED_NOTES", "a")
    ]
    assert told.tip() == next_attempt(first)
    assert told.send(first, notes="too late") == blocked
    assert told.done() == "b"


def test_context_sent_with_a_refused_attempt_must_be_sent_again() -> None:
    told = Conversation(workflow(strict("a"), step("b")))
    blocked = told.send(told.tip(), notes=None, k=1)
    assert isinstance(blocked, AdvanceBlocked)
    assert blocked.context is not None
    assert blocked.context.delta == {"k": 1}
    told.done()
    assert told.context() == {"goal": "Try it"}


def test_an_unknown_attempt_is_a_token_fault() -> None:
    told = Conversation(workflow(step("a")))
    with pytest.raises(TokenFault) as fault:
        told.send(AttemptId("attempt_of_another_session"))
    assert fault.value.code is Code.TOKEN_UNKNOWN_NODE


@pytest.mark.parametrize(("autonomous", "most"), [(False, 10), (True, 3)])
def test_the_breaker_ends_a_chain_of_blocks_and_a_rehydrate_is_the_way_out(
    *, autonomous: bool, most: int
) -> None:
    told = Conversation(
        workflow(strict("a"), step("b")), Start(goal="Try it", autonomous=autonomous)
    )
    for number in range(1, most + 1):
        blocked = told.send(told.tip(), notes=None)
        assert isinstance(blocked, AdvanceBlocked)
        assert blocked.blocks == number
    before = told.state
    with pytest.raises(PreconditionFailed) as fault:
        told.done(notes="now it is right")
    assert fault.value.details == {"kind": "circuit_breaker", "blocks": most, "max": most}
    assert "rehydrate" in fault.value.remedy
    assert told.state == before
    opened = told.opened()
    assert opened is not None
    assert isinstance(told.send(told.rehydrate(opened.node)), StepAdvanced)
    assert told.at() == "b"


def test_blocks_are_counted_in_a_row_only() -> None:
    told = Conversation(workflow(strict("a"), strict("b")))
    told.send(told.tip(), notes=None)
    told.done()
    blocked = told.send(told.tip(), notes=None)
    assert isinstance(blocked, AdvanceBlocked)
    assert blocked.blocks == 1


# Never stop.


def test_a_run_that_never_stops_goes_on_with_a_gap_and_says_so_at_the_end() -> None:
    told = Conversation(
        workflow(strict("a"), step("b")), Start(goal="Try it", preferences=NEVER_STOP)
    )
    advanced = told.send(told.tip(), notes=None)
    assert isinstance(advanced, StepAdvanced)
    assert [(gap.code, gap.severity) for gap in advanced.gaps] == [
        ("MISSING_REQUIRED_NOTES", "critical")
    ]
    assert told.done() is None
    ended = told.events[-1]
    assert isinstance(ended, SessionCompleted)
    assert (ended.outcome, ended.gaps) == ("complete_with_gaps", 1)


def test_a_wrong_decision_counts_for_nothing_in_a_run_that_never_stops() -> None:
    told = Conversation(
        workflow(decided("loop", asking("ask")), decided("other", step("b"))),
        Start(goal="Try it", preferences=NEVER_STOP),
    )
    assert told.done(decision("stop", "other")) == "ask@1"


def test_preferences_bolder_than_recommended_are_recorded_as_a_gap() -> None:
    recommended = Recommended(autonomy="guided", risk_policy="conservative")
    followed = workflow(step("a"))
    followed = Workflow(
        **{name: getattr(followed, name) for name in followed.__struct_fields__}
        | {"recommended": recommended}
    )
    bold = Preferences(autonomy="full_auto_never_stop", risk_policy="aggressive")
    told = Conversation(followed, Start(goal="Try it", preferences=bold))
    recorded = told.events[1]
    assert isinstance(recorded, GapRecorded)
    assert [(gap.code, gap.severity) for gap in recorded.gaps] == [
        ("PREFERENCES_EXCEED_RECOMMENDATION", "warning")
    ] * 2
    assert told.done() is None
    ended = told.events[-1]
    assert isinstance(ended, SessionCompleted)
    assert ended.outcome == "complete"  # a warning is told, but nothing of the work is missing
    assert len(Conversation(followed).events) == 1


# Checks.


def test_a_failed_check_blocks_and_a_passed_one_lets_the_retry_through() -> None:
    checked = Step(id="a", title="A", checks=(Check(id="unit", run="make test"),))
    told = Conversation(workflow(checked, step("b")))
    results = (CheckResult(check="unit", exit_code=2),)
    sent(told, RecordChecks(attempt=told.tip(), results=results))
    blocked = told.send(told.tip())
    assert isinstance(blocked, AdvanceBlocked)
    assert [b.code for b in blocked.blockers] == ["CHECK_FAILED"]
    results = (CheckResult(check="unit", exit_code=0),)
    sent(told, RecordChecks(attempt=told.tip(), results=results))
    assert told.done() == "b"


def test_a_check_that_did_not_run_leaves_a_gap() -> None:
    checked = Step(id="a", title="A", checks=(Check(id="unit", run="make test"),))
    told = Conversation(workflow(checked, step("b")))
    advanced = told.send(told.tip())
    assert isinstance(advanced, StepAdvanced)
    assert [(gap.code, gap.severity) for gap in advanced.gaps] == [("CHECK_NOT_RUN", "warning")]


# Gates.


def test_an_advisory_gate_lets_the_step_be_left() -> None:
    assert Conversation(workflow(gated("a"), step("b"))).done() == "b"


def test_an_enforced_gate_waits_and_gives_the_same_answer_until_decided() -> None:
    told = Conversation(workflow(gated("a"), step("b")), enforced())
    gate = told.send(told.tip(), k=1)
    assert isinstance(gate, GateOpened)
    assert told.send(gate.attempt, notes="something else", k=2) == gate
    assert told.context() == {"goal": "Try it"}
    answer(told, gate, approve=True)
    assert told.at() == "b"
    assert told.context() == {"goal": "Try it", "k": 1}
    assert isinstance(told.send(gate.attempt), StepAdvanced)


def test_an_answer_given_for_other_content_is_refused() -> None:
    told = Conversation(workflow(gated("a")), enforced())
    gate = told.send(told.tip())
    assert isinstance(gate, GateOpened)
    before = told.state
    with pytest.raises(PreconditionFailed) as fault:
        answer(told, gate, approve=True, shown="sha256:" + "1" * 64)
    assert fault.value.details == {"kind": "gate_shown_differs"}
    assert told.state == before


def test_a_rejected_gate_blocks_with_the_reason_and_asks_again_after_rework() -> None:
    told = Conversation(workflow(gated("a"), step("b")), enforced())
    gate = told.send(told.tip())
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=False)
    blocked = told.state.attempts[gate.attempt].outcome
    assert isinstance(blocked, AdvanceBlocked)
    assert [b.code for b in blocked.blockers] == ["GATE_REJECTED"]
    assert "too thin" in blocked.blockers[0].message
    assert blocked.retryable
    again = told.send(told.tip(), notes="reworked")
    assert isinstance(again, GateOpened)
    assert again.shown != gate.shown
    answer(told, again, approve=True)
    assert told.at() == "b"


def test_a_gate_answered_once_cannot_be_answered_again() -> None:
    told = Conversation(workflow(gated("a"), step("b")), enforced())
    gate = told.send(told.tip())
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=True)
    with pytest.raises(PreconditionFailed) as fault:
        answer(told, gate, approve=False)
    assert fault.value.details == {"kind": "gate_not_open"}


def test_what_blocks_is_told_before_a_gate_is_opened() -> None:
    step_with_contract = Step(
        id="a",
        title="A",
        output_contract=VERDICT,
        confirmation=Confirmation(kind="human_approval"),
    )
    told = Conversation(workflow(step_with_contract), enforced())
    assert isinstance(told.send(told.tip()), AdvanceBlocked)


def test_a_run_that_never_stops_still_waits_for_a_person_and_for_nobody_else() -> None:
    told = Conversation(
        workflow(gated("a", "coordinator_eval"), gated("b")), enforced(never_stop=True)
    )
    advanced = told.send(told.tip())
    assert isinstance(advanced, StepAdvanced)
    assert [gap.code for gap in advanced.gaps] == ["GATE_NOT_JUDGED"]
    assert isinstance(told.send(told.tip()), GateOpened)


def test_autonomous_runs_enforce_their_gates() -> None:
    told = Conversation(workflow(gated("a")), Start(goal="Try it", autonomous=True))
    assert isinstance(told.send(told.tip()), GateOpened)


def test_an_approved_gate_lets_the_loop_decision_count() -> None:
    told = Conversation(workflow(decided("loop", gated("a")), step("b")), enforced())
    gate = told.send(told.tip(), decision("stop"))
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=True)
    assert told.at() == "b"


def test_an_approved_gate_does_not_make_a_refused_decision_count() -> None:
    told = Conversation(
        workflow(decided("loop", gated("a")), decided("other", step("b"))),
        enforced(never_stop=True),
    )
    gate = told.send(told.tip(), decision("stop", "other"))
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=True)
    assert told.at() == "a@1"


def test_a_gate_is_not_opened_when_the_way_on_lacks_its_input() -> None:
    told = Conversation(workflow(gated("a"), counted("loop", "n", step("b"))), enforced())
    before = told.state
    with pytest.raises(PreconditionFailed) as fault:
        told.send(told.tip())
    assert fault.value.details == {"kind": "missing_context_key", "key": "n"}
    assert told.state == before
    gate = told.send(told.tip(), n=1)
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=True)
    assert told.at() == "b@0"


def test_a_gate_shows_the_event_before_its_answer() -> None:
    told = Conversation(workflow(gated("a")), enforced())
    gate = told.send(told.tip())
    assert isinstance(gate, GateOpened)
    answer(told, gate, approve=True)
    decided_gate, advanced = told.events[2:4]
    assert isinstance(decided_gate, GateDecided)
    assert isinstance(advanced, StepAdvanced)
    assert (decided_gate.opened_gate, advanced.gate) == (2, 3)


# Checkpoints, preferences, forks, starts.


def test_a_checkpoint_is_saved_once() -> None:
    told = Conversation(workflow(step("a"), step("b")))
    command = SaveCheckpoint(attempt=told.tip())
    facts = Facts(workflow=told.workflow)
    saved = decide(told.state, command, facts)
    assert isinstance(saved, Accepted)
    assert [type(event) for event in saved.events] == [CheckpointSaved]
    told.take(saved)
    assert decide(told.state, command, facts) == Replayed(at=2)
    assert told.done() == "b"


def test_changed_preferences_hold_from_their_node_on() -> None:
    told = Conversation(workflow(strict("a"), strict("b")))
    sent(told, ChangePreferences(attempt=told.tip(), preferences=NEVER_STOP))
    left = told.tip()
    assert isinstance(told.send(told.tip(), notes=None), StepAdvanced)
    assert isinstance(told.send(told.tip(), notes=None), StepAdvanced)
    with pytest.raises(PreconditionFailed):
        sent(told, ChangePreferences(attempt=left, preferences=NEVER_STOP))


def test_every_branch_of_a_fork_can_complete() -> None:
    told = Conversation(workflow(step("a"), step("b")))
    root = told.opened()
    assert root is not None
    told.done()
    assert told.done() is None
    told.send(told.rehydrate(root.node))
    assert told.at() == "b"
    assert told.done() is None
    assert len(told.state.completed) == 2


@pytest.mark.parametrize("goal", ["", " \n", "x" * 32_769])
def test_a_goal_beyond_its_limits_is_refused(goal: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        Conversation(workflow(step("a")), Start(goal=goal))
    assert fault.value.details["kind"] == "goal"


def test_the_goal_of_a_session_is_not_overridden_by_the_context_it_starts_with() -> None:
    start = Start(goal="Try it", context={"goal": "something else", "k": 1})
    told = Conversation(workflow(step("a")), start)
    assert told.context() == {"goal": "Try it", "k": 1}
