"""`headway worker`: drive the runs that wait, one after the other."""

import time
from pathlib import Path
from typing import Final

import click

from headway.application.claim_run import claim_run
from headway.application.end_run import end_run
from headway.application.runs import Held, Runs
from headway.bootstrap import model_named, open_runs
from headway.cli.opening import told
from headway.cli.options import examples
from headway.cli.refusing import Refusal
from headway.cli.run_driving import EXIT_STOPPED, drive_here
from headway.config import Settings, process_settings
from headway.domain.errors import InvalidInput
from headway.domain.runs.outcomes import Failed

LOOK_SECONDS: Final = 1.0


@click.command("worker", epilog=examples("headway worker", "headway worker --until-idle"))
@click.option("--until-idle", is_flag=True, help="End when no run waits.")
@click.option("--per-workspace", type=click.IntRange(1), help="Runs at once in one workspace.")
@click.pass_context
def command(ctx: click.Context, per_workspace: int | None, *, until_idle: bool) -> None:
    """Claim and drive the runs that wait, the highest priority first, and those that stalled.

    Start as many as you like. Ctrl-C and SIGTERM hand a run back: another worker goes on with it.
    """
    code = 0
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            while code != EXIT_STOPPED:
                held = claim_run(runs, per_workspace_max=per_workspace)
                if held is not None:
                    code = _driven(settings, runs, held)
                elif until_idle:
                    break
                else:
                    time.sleep(LOOK_SECONDS)
    ctx.exit(EXIT_STOPPED if code == EXIT_STOPPED else 0)


def _driven(settings: Settings, runs: Runs, held: Held) -> int:
    """Drive a run, or end it where its model cannot be had; the queue goes on."""
    submitted = held.conversation.submitted
    assert submitted is not None
    click.echo(f"run {held.run}: {submitted.workflow_id}, {submitted.model}", err=True)
    try:
        model = model_named(submitted.model, Path.cwd())
    except InvalidInput as fault:
        message = f"{fault.message} {fault.remedy}"
        end_run(runs, held, Failed(reason="model_unusable", message=message))
        click.echo(message, err=True)
        return 1
    return drive_here(settings, runs, held, model)
