"""What became of runs: outcomes, time and steps by workflow, and what they took."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from headway.application.requests import Reply
from headway.application.runs import ALL, Runs, folded, tally_of
from headway.application.show_run import told_spent
from headway.domain.errors import SessionNotHealthy
from headway.domain.runs.limits import Spent
from headway.ports.queue import Tally, Task

RUNS_MAX: Final = 100_000


def run_stats(runs: Runs, *, within_ms: int | None = None, workflow_id: str | None = None) -> Reply:
    """Return the statistics of the runs submitted so lately, perhaps of one workflow only.

    Time and steps are those of runs that have ended; what was spent, of those at rest as well.
    `more` says that there are older runs than were looked at, `unreadable` names those that are not
    counted because their rows are damaged.
    """
    since = 0 if within_ms is None else max(0, runs.engine.clock.now_ms() - within_ms)
    found = runs.queue.tasks(ALL, RUNS_MAX + 1, workflow_id=workflow_id, since=since)
    more, tasks = len(found.rows) > RUNS_MAX, found.rows[:RUNS_MAX]
    names = Counter(task.workflow_id for task in tasks)
    by_workflow: list[Reply] = [
        {"workflow": name} | _told(runs, [task for task in tasks if task.workflow_id == name])
        for name, _ in names.most_common()
    ]
    return {
        "since": since,
        "more": more,
        "unreadable": list(found.unreadable),
        "total": _told(runs, tasks),
        "workflows": list(by_workflow),
    }


def percentile(values: Sequence[int], percent: int) -> int | None:
    """Return a percentile by nearest rank: a value that is there; None where there is none."""
    if not values:
        return None
    return sorted(values)[max(math.ceil(len(values) * percent / 100), 1) - 1]


def _told(runs: Runs, tasks: Sequence[Task]) -> Reply:
    ended = [task for task in tasks if task.state == "ended"]
    tallies = {task.run: _tally(runs, task) for task in tasks if task.state in ("ended", "resting")}
    outcomes = Counter(str(task.outcome) for task in tasks if task.run in tallies)
    reasons = Counter(task.reason for task in tasks if task.reason is not None)
    return {
        "runs": len(tasks),
        "ended": len(ended),
        "outcomes": dict(sorted(outcomes.items())),
        "reasons": dict(sorted(reasons.items())),
        "workedMs": _spread([tallies[task.run].spent.worked_ms for task in ended]),
        "wholeMs": _spread([task.updated_at - task.submitted_at for task in ended]),
        "steps": _spread([tallies[task.run].steps for task in ended]),
        "spent": told_spent(_sum(tally.spent for tally in tallies.values())),
    }


def _spread(values: Sequence[int]) -> Reply:
    return {"p50": percentile(values, 50), "p95": percentile(values, 95)}


def _tally(runs: Runs, task: Task) -> Tally:
    """Return the tally of a row; of one written before rows had any, that of its events.

    A run whose events cannot be read, and which was set aside for that, counts as if it had taken
    nothing: `headway verify` tells of it.
    """
    if task.tally is not None:
        return task.tally
    try:
        now = folded(runs.queue.scan(task.run))
        return tally_of(now, now.outcome)
    except SessionNotHealthy:
        return Tally(spent=Spent())


def _sum(spent: Iterable[Spent]) -> Spent:
    found = tuple(spent)
    return Spent(
        turns=sum(each.turns for each in found),
        input_tokens=sum(each.input_tokens for each in found),
        output_tokens=sum(each.output_tokens for each in found),
        cached_tokens=sum(each.cached_tokens for each in found),
        money=sum(each.money for each in found),
        unpriced=sum(each.unpriced for each in found),
        worked_ms=sum(each.worked_ms for each in found),
    )
