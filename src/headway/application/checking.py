"""Checking: the checks of a step are run when it is handed in, before it can be left (D14).

Laws.
1. Results count for the hand-in they were run for. One that was cut short by a crash, or came
   again, runs them again: a check must be such that it can be.
2. What would be refused anyway is refused without them.
3. No transaction and no lock of the store is held while they run. Calls about one workspace wait
   for each other, and the later one finds what the earlier one recorded.
"""

from collections.abc import Callable

from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.loading import Admitted, Loaded, load, or_purged
from headway.application.record_checks import record_runs
from headway.application.requests import CheckRun, ContinueWorkflow, Reply
from headway.application.settling import settle
from headway.domain.commands import Advance, Facts
from headway.domain.cursor import locate
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.events import AdvanceBlocked
from headway.domain.values import Value
from headway.domain.workflow import Check
from headway.ports.checks import Checker


class MayTakeLong(Exception):
    """What was asked for may take long, and whoever asked would not wait; nothing was done."""


class Due(Value):
    """The checks to run for a hand-in, where, and the commit the session began at."""

    checks: tuple[Check, ...]
    workspace: str
    since: str | None


def checks_due(engine: Engine, admitted: Admitted, request: ContinueWorkflow) -> Due | None:
    """Return what is to be run before this hand-in is decided, None when nothing is.

    Raises what the hand-in would raise.
    """
    if engine.checker is None:
        return None
    loaded = load(engine, admitted)
    name, scene = loaded.row.attempt, loaded.scene
    attempt = scene.state.attempts[name]
    checks = locate(scene.workflow, loaded.opened.cursor).step.checks
    if not checks or attempt.outcome is not None:
        return None
    unchecked = replace(scene.state, attempts={name: replace(attempt, checks=None)})
    command = Advance(
        attempt=name, notes=request.notes, artifacts=request.artifacts, context=request.context
    )
    decision = decide(unchecked, command, Facts(workflow=scene.workflow))
    if isinstance(decision, Accepted) and isinstance(decision.events[0], AdvanceBlocked):
        return None
    started = loaded.started
    return Due(checks=checks, workspace=started.workspace, since=started.git.head)


def settle_checked(
    engine: Engine,
    admitted: Admitted,
    request: ContinueWorkflow,
    advance: Callable[[Loaded], Reply],
    *,
    patient: bool,
) -> Reply:
    """Settle a hand-in, once the checks it is due are run and recorded.

    Raises what `settle` raises, ports.checks.ChecksStopped, and MayTakeLong when there are any and
    the caller is not `patient`.
    """
    with or_purged(engine, admitted.nonce):
        due = checks_due(engine, admitted, request)
    if due is None or engine.checker is None:
        return settle(engine, admitted, advance, lately=True)
    if not patient:
        raise MayTakeLong
    with engine.checker.alone(due.workspace):
        due = checks_due(engine, admitted, request)
        if due is not None:
            runs = tuple(_run(engine.checker, check, due) for check in due.checks)
            settle(engine, admitted, lambda loaded: _record(engine, loaded, runs))
        return settle(engine, admitted, advance, lately=True)


def _run(checker: Checker, check: Check, due: Due) -> CheckRun:
    ran = checker.run(check, due.workspace, due.since)
    return CheckRun(
        check=check.id,
        exit_code=ran.exit_code,
        output=ran.output,
        duration_ms=ran.duration_ms,
        problem=ran.problem,
    )


def _record(engine: Engine, loaded: Loaded, runs: tuple[CheckRun, ...]) -> None:
    """Record the results, unless another process ended the attempt meanwhile."""
    if loaded.scene.state.attempts[loaded.row.attempt].outcome is None:
        record_runs(engine, loaded, runs)
