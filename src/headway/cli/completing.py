"""What Tab completes: the ids in this home. Quick, and silent where there is nothing to tell."""

from collections.abc import Callable, Iterable
from pathlib import Path
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


def complete_workflow(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 - click's signature
    incomplete: str,
) -> list[CompletionItem]:
    """Offer the workflows that begin like this, with or without their namespace."""
    workspace = ctx.params.get("workspace")
    found = _quietly(lambda: _workflows(str(workspace or "")))
    items = [CompletionItem(name, help=told) for name, told in found]
    whole = [each for each in items if each.value.startswith(incomplete)]
    return whole or [each for each in items if each.value.partition(".")[2].startswith(incomplete)]


def complete_workflow_or_file(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the workflows that begin like this, and files where there are none."""
    found = complete_workflow(ctx, param, incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def _workflows(workspace: str) -> Iterable[tuple[str, str]]:
    from headway.bootstrap import visible_workflow_ids
    from headway.cli.opening import told
    from headway.cli.refusing import Refusal
    from headway.config import process_settings

    with told(Refusal):
        return visible_workflow_ids(process_settings(), str(Path(workspace).absolute())).items()


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
    beginning = (
        incomplete if incomplete.startswith(prefix[: len(incomplete)]) else prefix + incomplete
    )
    return [
        CompletionItem(name, help=told)
        for name, told in _quietly(found)
        if name.startswith(beginning)
    ]


def _quietly(found: Callable[[], Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
    try:
        return list(found())
    except (click.ClickException, OSError):  # whoever completes a word asked for no report
        return []
