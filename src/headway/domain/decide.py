"""The decider: what a command makes of a session.

Laws.
1. `decide` is pure: the same state, command and facts give the same decision, so a conflict in the
   store is settled by loading and deciding again.
2. An attempt has one outcome. Asked again, it is told again (`Replayed`), whatever is sent along.
3. A step is left only when its output, checks and gate allow it; a refused attempt is recorded with
   what it brought, and none of that counts (D7).
4. A fault (an exception of `errors.py`) changes nothing: no event comes of it.

Every id it needs is derived by hash from the attempt (see `ids.py`); it reads no clock.
"""

from typing import assert_never

from msgspec.structs import replace

from headway.domain.blocking import (
    check_breaker,
    check_results,
    gaps_for,
    gate_need,
    judge_checks,
)
from headway.domain.commands import (
    Advance,
    ChangePreferences,
    Command,
    DecideGate,
    Facts,
    RecordChecks,
    SaveCheckpoint,
    Start,
)
from headway.domain.context import check_merged, merge
from headway.domain.contracts.loop_control import decision_of
from headway.domain.cursor import decision_scope
from headway.domain.decision import Accepted, Decision, Replayed, Situation, find
from headway.domain.errors import PreconditionFailed
from headway.domain.events import (
    AdvanceBlocked,
    Blocker,
    CheckpointSaved,
    ChecksRecorded,
    ContextChange,
    Gap,
    GateOpened,
    PreferencesChanged,
    StepAdvanced,
)
from headway.domain.gates import decide_gate
from headway.domain.ids import checkpoint_node, digest
from headway.domain.json_limits import canonical, check_context
from headway.domain.leaving import Leaving, leave
from headway.domain.loops import variables_at
from headway.domain.outputs import Judgement, Submission, judge_output
from headway.domain.preferences import never_stops
from headway.domain.starting import advised_against, start
from headway.domain.state import SessionState
from headway.domain.submission import Stored, store_output
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import GateKind, Step, Workflow


def decide(state: SessionState, command: Command, facts: Facts) -> Decision:
    """Return the events a command leads to, or the outcome it had before.

    Raises a Fault when the command cannot be decided; then nothing is to be recorded.
    """
    if isinstance(command, Start):
        return start(command, facts)
    situation = find(facts.workflow, state, command.attempt)
    match command:
        case Advance():
            return _advance(facts.workflow, state, situation, command)
        case SaveCheckpoint():
            return _save_checkpoint(situation, command)
        case DecideGate():
            return decide_gate(facts.workflow, state, situation, command)
        case RecordChecks():
            return _record_checks(situation, command)
        case ChangePreferences():
            return _change_preferences(facts.workflow, situation, command)
        case _:
            assert_never(command)


class _Tried(Value):
    """An attempt under judgement: the step, what was sent, and the variables before and after."""

    command: Advance
    step: Step
    stored: Stored
    delta: JsonObject | None
    shown_with: JsonObject
    variables: JsonObject
    judgement: Judgement
    blockers: tuple[Blocker, ...]
    gaps: tuple[Gap, ...]


def _advance(
    workflow: Workflow, state: SessionState, situation: Situation, command: Advance
) -> Decision:
    attempt = situation.attempt
    if attempt.outcome is not None and attempt.outcome_at is not None:
        return Replayed(at=attempt.outcome_at, outcome=attempt.outcome)
    check_breaker(attempt.blocks, autonomous=situation.started.autonomous)
    tried = _try(workflow, situation, command)
    preferences = situation.node.opened.preferences
    if tried.blockers and not never_stops(preferences):
        return Accepted(events=(_blocked(situation, tried),), blobs=tried.stored.blobs)
    gaps = (*gaps_for(tried.blockers), *tried.gaps)
    enforced = situation.started.gates == "enforce" or situation.started.autonomous
    shown_and_left = (tried.shown_with, tried.variables)
    need = gate_need(tried.step, shown_and_left, preferences, enforced=enforced)
    gaps = (*gaps, *need.gaps)
    leaving = Leaving(
        attempt=command.attempt,
        step=tried.step.id,
        output=tried.stored.output,
        version=state.version + 1,
        delta=tried.delta,
        decision=None if tried.blockers else decision_of(tried.step, command.artifacts),
        assessments=tried.judgement.assessments,
        gaps=gaps,
        drift=command.drift,
    )
    events = leave(workflow, situation, state.folds, leaving)
    if need.gate:
        # Left only to see that it can be: an answer must never fail for want of a loop's input.
        events = (_gate(situation, tried, need.gate, gaps),)
    return Accepted(events=events, blobs=tried.stored.blobs)


def _try(workflow: Workflow, situation: Situation, command: Advance) -> _Tried:
    stored = store_output(command.notes, command.artifacts)
    delta = command.context or None
    context = situation.context
    if delta is not None:
        size = check_context(delta)
        context = merge(context, delta)
        check_merged(context, size + sum(s.size for s in situation.node.opened.context))
    place = situation.place
    variables = variables_at(place.loops, context)
    judgement = judge_output(
        workflow,
        place.step,
        Submission(notes=command.notes, artifacts=command.artifacts),
        variables,
        decision_scope(workflow, place),
    )
    failed, unrun = judge_checks(place.step, situation.attempt.checks)
    return _Tried(
        command=command,
        step=place.step,
        stored=stored,
        delta=delta,
        shown_with=variables_at(place.loops, situation.context) if delta else variables,
        variables=variables,
        judgement=judgement,
        blockers=(*judgement.blockers, *failed),
        gaps=unrun,
    )


def _blocked(situation: Situation, tried: _Tried) -> AdvanceBlocked:
    return AdvanceBlocked(
        node=situation.attempt.node,
        attempt=tried.command.attempt,
        opened_at=situation.node.opened_at,
        step=tried.step.id,
        blockers=tried.blockers,
        blocks=situation.attempt.blocks + 1,
        retryable=tried.judgement.retryable,
        output=tried.stored.output,
        context=ContextChange(delta=tried.delta) if tried.delta else None,
        feedback=tried.judgement.feedback,
        followup=tried.judgement.followup,
        drift=tried.command.drift,
    )


def _gate(situation: Situation, tried: _Tried, kind: GateKind, gaps: tuple[Gap, ...]) -> GateOpened:
    output = tried.stored.output
    shown = {
        "attempt": tried.command.attempt,
        "step": tried.step.id,
        "notes": output.notes.digest if output.notes else None,
        "artifacts": [artifact.digest for artifact in output.artifacts],
        "context": tried.delta,
    }
    return GateOpened(
        node=situation.attempt.node,
        attempt=tried.command.attempt,
        opened_at=situation.node.opened_at,
        step=tried.step.id,
        gate=kind,
        shown=digest(canonical(shown, "The gate")),
        output=output,
        context=ContextChange(delta=tried.delta) if tried.delta else None,
        assessments=tried.judgement.assessments,
        gaps=gaps,
        drift=tried.command.drift,
        blocks=situation.attempt.blocks,
    )


def _save_checkpoint(situation: Situation, command: SaveCheckpoint) -> Decision:
    if situation.attempt.checkpoint_at is not None:
        return Replayed(at=situation.attempt.checkpoint_at)
    event = CheckpointSaved(
        node=situation.attempt.node,
        attempt=command.attempt,
        opened_at=situation.node.opened_at,
        checkpoint=checkpoint_node(command.attempt),
    )
    return Accepted(events=(event,))


def _record_checks(situation: Situation, command: RecordChecks) -> Decision:
    if situation.attempt.outcome is not None:
        raise PreconditionFailed(
            "The attempt has ended; what its checks say now can no longer be counted.",
            remedy="Record the results under the token of the attempt that is open now.",
            details={"kind": "attempt_ended"},
        )
    check_results(situation.place.step, command.results)
    event = ChecksRecorded(
        node=situation.attempt.node, attempt=command.attempt, results=command.results
    )
    return Accepted(events=(event,))


def _change_preferences(
    workflow: Workflow, situation: Situation, command: ChangePreferences
) -> Decision:
    # A blocked attempt, or one that waits at a gate, leaves its step open.
    if isinstance(situation.attempt.outcome, StepAdvanced):
        raise PreconditionFailed(
            "The step was already left; its preferences can no longer change.",
            remedy="Change them at the step that is open now.",
            details={"kind": "step_left"},
        )
    opened = replace(situation.node.opened, preferences=command.preferences)
    event = PreferencesChanged(source="operator", opened=opened, opened_at=situation.node.opened_at)
    return Accepted(events=(event, *advised_against(command.preferences, workflow)))
