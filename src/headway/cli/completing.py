"""What Tab completes: the ids in this home. Quick, and silent where there is nothing to tell."""

from collections.abc import Callable, Iterable
from typing import Final

import click
from click.shell_completion import CompletionItem

OFFERED_MAX: Final = 50


def complete_session(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Offer the sessions that begin like this, the last touched first."""
    return _offered(incomplete, "sess_", _sessions)


def complete_gate(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Offer the gates that wait and begin like this."""
    return _offered(incomplete, "gate_", _gates)


def complete_run(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Offer the runs that begin like this, the last submitted first."""
    return _offered(incomplete, "task_", _runs)


def _runs() -> Iterable[tuple[str, str]]:
    from headway.cli.opening import looked_at

    with looked_at() as (_, home):
        for each in home.onlooker.look(OFFERED_MAX).latest_runs:
            yield each.run, f"{each.state}, {each.workflow_id}: {' '.join(each.goal.split())}"


def _sessions() -> Iterable[tuple[str, str]]:
    from headway.cli.opening import looked_at

    with looked_at() as (_, home):
        for each in home.onlooker.look(OFFERED_MAX).latest:
            yield each.session, f"{each.status.replace('_', ' ')}: {' '.join(each.goal.split())}"


def _gates() -> Iterable[tuple[str, str]]:
    from headway.cli.opening import looked_at
    from headway.domain.ids import gate_id

    with looked_at() as (_, home):
        for each in home.onlooker.look(OFFERED_MAX).gates:
            yield gate_id(each.nonce), each.session


def _offered(
    incomplete: str, prefix: str, found: Callable[[], Iterable[tuple[str, str]]]
) -> list[CompletionItem]:
    try:
        names = list(found())
    except click.ClickException:  # whoever completes a word has not asked for a report
        return []
    beginning = (
        incomplete if incomplete.startswith(prefix[: len(incomplete)]) else prefix + incomplete
    )
    return [CompletionItem(name, help=told) for name, told in names if name.startswith(beginning)]
