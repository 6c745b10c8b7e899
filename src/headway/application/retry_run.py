"""Retry a run: what was asked for is submitted anew; of the run that ended nothing else is kept."""

from collections.abc import Callable

from headway.application.naming_runs import named_run
from headway.application.runs import Runs
from headway.application.submit_run import SubmitRun, Submitted, submit_named
from headway.domain.errors import PreconditionFailed
from headway.domain.runs.events import RunSubmitted
from headway.ports.models import NamedModel


def retry_run(runs: Runs, name: str, checked: Callable[[str, str], NamedModel]) -> Submitted:
    """Submit the request of an ended run as a new run that names it; return the new one.

    `checked` returns a model, given its name and the workspace, or raises what is wrong with it.
    Raises NotFound or InvalidInput, PreconditionFailed for a run that has not ended, and what
    `submit_run` raises.
    """
    task = named_run(runs, name)
    if task.state != "ended":
        raise PreconditionFailed(
            f"The run {task.run} has not ended.",
            remedy=f"Go on with it: `headway runs resume {task.run}`; or end it first: "
            f"`headway runs abort {task.run}`.",
            details={"kind": "run_unfinished", "run": task.run},
        )
    (first, *_) = runs.queue.scan(task.run)
    begun = first.event
    assert isinstance(begun, RunSubmitted), "a run's first event is its submission"
    request = SubmitRun(
        workflow_id=begun.workflow_id,
        workspace=begun.workspace,
        goal=begun.goal,
        model=begun.model,
        limits=begun.limits,
        in_place=begun.in_place,
        stuck=begun.stuck,
        priority=task.priority,
        retry_of=task.run,
    )
    return submit_named(runs, request, checked(begun.model, begun.workspace))
