"""Submit a run: everything that can be found wrong is found before anything is kept."""

from typing import Final

from msgspec.structs import replace

from headway.application.checking_limits import check_limits, check_priority
from headway.application.finding import startable, workspace_of
from headway.application.runs import Runs, row_of
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import ID_BYTES, task_id
from headway.domain.runs.events import RunSubmitted, StuckPolicy
from headway.domain.runs.limits import Limits
from headway.domain.starting import GOAL_BYTES_MAX
from headway.domain.values import Value
from headway.ports.models import NamedModel
from headway.ports.queue import DuplicateRun, Task

__all__ = ["Limits", "SubmitRun", "Submitted", "submit_named", "submit_or_find", "submit_run"]

GOAL_SHOWN_MAX: Final = 200
KEY_CHARACTERS_MAX: Final = 200


class SubmitRun(Value):
    """What is to be done, where, by which model, and what it may cost.

    `elsewhere` is set when another engine keeps the session, and knows the workflow.
    """

    workflow_id: str
    workspace: str
    goal: str
    model: str
    limits: Limits = Limits()
    in_place: bool = False
    stuck: StuckPolicy = "abort"
    priority: int = 0
    dedupe: str | None = None
    elsewhere: bool = False
    retry_of: str | None = None


class Submitted(Value):
    """The row of a run; `is_new` is False where an unfinished run had the dedupe key already.

    `warning` is what the run's model lacks where it was submitted.
    """

    task: Task
    is_new: bool
    warning: str | None = None


def submit_run(runs: Runs, request: SubmitRun) -> Task:
    """Keep a run that waits for a worker, or return the unfinished one with its dedupe key.

    Raises as `submit_or_find`.
    """
    return submit_or_find(runs, request).task


def submit_named(runs: Runs, request: SubmitRun, model: NamedModel) -> Submitted:
    """As `submit_or_find`, with a model that was looked for by name alone."""
    submitted = submit_or_find(runs, replace(request, model=model.name))
    return replace(submitted, warning=model.warning)


def submit_or_find(runs: Runs, request: SubmitRun) -> Submitted:
    """Keep a run that waits for a worker, or find the unfinished one with its dedupe key.

    Raises InvalidInput for a goal, workspace or limit that cannot be used, NotFound for an unknown
    workflow, PreconditionFailed for one with errors, for a workspace without a git commit and where
    git cannot be run.
    """
    workspace = workspace_of(runs.engine, request.workspace)
    _check(request)
    if not request.elsewhere:
        startable(runs.engine, request.workflow_id, workspace)
    if runs.engine.workspace.git_facts(workspace).head is None:
        runs.engine.workspace.require_git()
        raise PreconditionFailed(
            f"{workspace} is not in a git repository that has a commit.",
            remedy=f"`git -C {workspace} log -1` says what is missing. Run `git init` and make a "
            "first commit there, or name another --workspace.",
            details={"kind": "workspace_not_git", "workspace": workspace},
        )
    begun = RunSubmitted(
        workflow_id=request.workflow_id,
        workspace=workspace,
        goal=request.goal,
        model=request.model,
        limits=request.limits,
        in_place=request.in_place,
        stuck=request.stuck,
        retry_of=request.retry_of,
    )
    task = Task(
        run=task_id(runs.engine.entropy.draw(ID_BYTES)),
        workflow_id=request.workflow_id,
        workspace=workspace,
        goal=request.goal.strip()[:GOAL_SHOWN_MAX],
        priority=request.priority,
        dedupe=request.dedupe,
        provider=begun.provider,
    )
    try:
        return Submitted(task=runs.queue.submit(task, (begun,), ()), is_new=True)
    except DuplicateRun as duplicate:
        return Submitted(task=row_of(runs, duplicate.run), is_new=False)


def _check(request: SubmitRun) -> None:
    goal = request.goal
    if not goal.strip() or len(goal.encode("utf-8", "surrogatepass")) > GOAL_BYTES_MAX:
        raise InvalidInput(
            f"The goal must be 1 to {GOAL_BYTES_MAX} bytes of text.",
            remedy="Say in a few sentences what is to be done; put long material into a file.",
            details={"kind": "goal", "max": GOAL_BYTES_MAX},
        )
    if request.dedupe is not None and not 0 < len(request.dedupe.strip()) <= KEY_CHARACTERS_MAX:
        raise InvalidInput(
            f"The key must be 1 to {KEY_CHARACTERS_MAX} characters.",
            remedy="Give a short name for what there is to be done only once at a time.",
            details={"kind": "dedupe"},
        )
    check_priority(request.priority)
    check_limits(request.limits)
