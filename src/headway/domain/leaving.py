"""Leaving a node: the events of an attempt that is let through, and where it leads."""

from headway.domain.context import Folds, change_context, merge
from headway.domain.contracts.loop_control import Decision
from headway.domain.cursor import Walked, next_step
from headway.domain.decision import Situation
from headway.domain.events import (
    AssessmentResult,
    Drift,
    Event,
    Gap,
    Opened,
    Output,
    Segment,
    SessionCompleted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, next_attempt, node_after
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import Workflow


class Leaving(Value):
    """What an attempt leaves its node with, after every rule was met."""

    attempt: AttemptId
    step: str
    output: Output
    version: int  # of the event that records it
    delta: JsonObject | None = None
    decision: Decision | None = None
    assessments: tuple[AssessmentResult, ...] = ()
    gaps: tuple[Gap, ...] = ()
    drift: tuple[Drift, ...] = ()
    gate: int | None = None


def leave(
    workflow: Workflow, situation: Situation, folds: Folds, leaving: Leaving
) -> tuple[Event, ...]:
    """Return the events of a successful advance: one, or two when it completes the workflow.

    Raises PreconditionFailed when the way on cannot be found with this context.
    """
    opened = situation.node.opened
    segments, change = opened.context, None
    context = situation.context
    if leaving.delta:
        context = merge(context, leaving.delta)
        segments, change = change_context(segments, folds, leaving.delta, leaving.version)
    walked = next_step(workflow, situation.place, context, leaving.decision)
    critical = sum(gap.severity == "critical" for gap in leaving.gaps)
    gaps = opened.gaps + critical
    advanced = StepAdvanced(
        node=opened.node,
        attempt=leaving.attempt,
        opened_at=situation.node.opened_at,
        step=leaving.step,
        output=leaving.output,
        walk=walked.walk,
        opened=_opened(situation, walked, segments, leaving.attempt, gaps),
        context=change,
        assessments=leaving.assessments,
        gaps=leaving.gaps,
        drift=leaving.drift,
        gate=leaving.gate,
    )
    if advanced.opened is not None:
        return (advanced,)
    completed = SessionCompleted(
        node=opened.node, outcome="complete_with_gaps" if gaps else "complete", gaps=gaps
    )
    return (advanced, completed)


def _opened(
    situation: Situation,
    walked: Walked,
    segments: tuple[Segment, ...],
    attempt: AttemptId,
    gaps: int,
) -> Opened | None:
    if walked.cursor is None:
        return None
    before = situation.node.opened
    return Opened(
        node=node_after(attempt),
        attempt=next_attempt(attempt),
        parent=situation.node.opened_at,
        depth=before.depth + 1,
        cursor=walked.cursor,
        context=segments,
        preferences=before.preferences,
        gaps=gaps,
    )
