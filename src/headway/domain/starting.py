"""Starting a session: the root node, the first context, and what the author advised against."""

from headway.domain.commands import Facts, Start
from headway.domain.context import change_context, check_merged
from headway.domain.cursor import first_step
from headway.domain.decision import Accepted
from headway.domain.errors import InvalidInput
from headway.domain.events import (
    Event,
    Gap,
    GapRecorded,
    Opened,
    SessionCompleted,
    SessionStarted,
)
from headway.domain.ids import first_attempt, root_node
from headway.domain.json_limits import check_context
from headway.domain.preferences import Preferences, exceedances
from headway.domain.workflow import Workflow

GOAL_BYTES_MAX = 32_768


def start(command: Start, facts: Facts) -> Accepted:
    """Return the events of a new session.

    Raises InvalidInput for a goal or context beyond its limits, PreconditionFailed when the first
    loop lacks its input.
    """
    around = facts.start
    assert around is not None
    goal = command.goal.strip()
    if not goal or len(command.goal.encode("utf-8", "surrogatepass")) > GOAL_BYTES_MAX:
        raise InvalidInput(
            f"The goal must be 1 to {GOAL_BYTES_MAX} bytes of text.",
            remedy="Say in a sentence or two what is to be done; put long material into context.",
            details={"kind": "goal", "max": GOAL_BYTES_MAX},
        )
    context = {**command.context, "goal": command.goal}  # the goal is never another one
    check_merged(context, check_context(context))
    chosen = command.preferences or Preferences()
    segments, change = change_context((), {}, context, 1)
    walked = first_step(facts.workflow, context)
    opened = None
    if walked.cursor is not None:
        opened = Opened(
            node=root_node(around.session),
            attempt=first_attempt(around.session),
            parent=None,
            depth=0,
            cursor=walked.cursor,
            context=segments,
            preferences=chosen,
        )
    started = SessionStarted(
        origin=around.session,
        workflow=around.workflow,
        workflow_id=facts.workflow.id,
        workflow_source=around.workflow_source,
        goal=command.goal,
        workspace=around.workspace,
        git=around.git,
        preferences_source="caller" if command.preferences else "default",
        gates=command.gates,
        context=change,
        walk=walked.walk,
        opened=opened,
        references=around.references,
        model_tier=command.model_tier,
        autonomous=command.autonomous,
    )
    events: list[Event] = [started]
    events += advised_against(chosen, facts.workflow)
    if opened is None:
        events.append(SessionCompleted(node=None, outcome="complete"))
    return Accepted(events=tuple(events))


def advised_against(chosen: Preferences, workflow: Workflow) -> tuple[GapRecorded, ...]:
    """Return what is to be recorded when preferences are bolder than the author advises."""
    gaps = tuple(
        Gap(
            code="PREFERENCES_EXCEED_RECOMMENDATION",
            severity="warning",
            category="preferences",
            summary=text,
        )
        for text in exceedances(chosen, workflow.recommended)
    )
    return (GapRecorded(gaps=gaps),) if gaps else ()
