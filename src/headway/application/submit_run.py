"""Submit a run: everything that can be found wrong is found before anything is kept."""

from typing import Final

from msgspec.structs import asdict

from headway.application.finding import startable, workspace_of
from headway.application.runs import Runs
from headway.domain.errors import InvalidInput, PreconditionFailed
from headway.domain.ids import ID_BYTES, task_id
from headway.domain.runs.events import RunSubmitted
from headway.domain.runs.limits import Limits
from headway.domain.starting import GOAL_BYTES_MAX
from headway.domain.values import Value
from headway.ports.queue import DuplicateRun, Task

GOAL_SHOWN_MAX: Final = 200
BOUNDS: Final = ("turns", "tokens", "money", "seconds")


class SubmitRun(Value):
    """What is to be done, where, by which model, and what it may cost."""

    workflow_id: str
    workspace: str
    goal: str
    model: str
    limits: Limits = Limits()
    in_place: bool = False
    priority: int = 0
    dedupe: str | None = None


def submit_run(runs: Runs, request: SubmitRun) -> Task:
    """Keep a run that waits for a worker, or return the unfinished one with its dedupe key.

    Raises InvalidInput for a goal, workspace or limit that cannot be used, NotFound for an unknown
    workflow, PreconditionFailed for one with errors and for a workspace without a git commit.
    """
    workspace = workspace_of(runs.engine, request.workspace)
    _check(request)
    startable(runs.engine, request.workflow_id, workspace)
    if runs.engine.workspace.git_facts(workspace).head is None:
        raise PreconditionFailed(
            f"{workspace} is not in a git repository that has a commit.",
            remedy="Run `git init` and make a first commit there, or name another --workspace.",
            details={"kind": "workspace_not_git", "workspace": workspace},
        )
    begun = RunSubmitted(
        workflow_id=request.workflow_id,
        workspace=workspace,
        goal=request.goal,
        model=request.model,
        limits=request.limits,
        in_place=request.in_place,
    )
    task = Task(
        run=task_id(runs.engine.entropy.draw(ID_BYTES)),
        workflow_id=request.workflow_id,
        workspace=workspace,
        goal=request.goal.strip()[:GOAL_SHOWN_MAX],
        priority=request.priority,
        dedupe=request.dedupe,
    )
    try:
        return runs.queue.submit(task, (begun,), ())
    except DuplicateRun as duplicate:
        (there,) = runs.queue.find(duplicate.run, 1)
        return there


def _check(request: SubmitRun) -> None:
    goal = request.goal
    if not goal.strip() or len(goal.encode("utf-8", "surrogatepass")) > GOAL_BYTES_MAX:
        raise InvalidInput(
            f"The goal must be 1 to {GOAL_BYTES_MAX} bytes of text.",
            remedy="Say in a few sentences what is to be done; put long material into a file.",
            details={"kind": "goal", "max": GOAL_BYTES_MAX},
        )
    bounds = asdict(request.limits)
    for name in BOUNDS:
        if bounds[name] is not None and bounds[name] <= 0:
            raise InvalidInput(
                f"A limit of {bounds[name]} {name} leaves nothing to work with.",
                remedy="Give a limit above zero, or none.",
                details={"kind": "limit", "limit": name},
            )
