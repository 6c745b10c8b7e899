"""`headway run`: have a model do a workflow, in the foreground."""

from pathlib import Path

import click
from msgspec.structs import replace

from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import model_named, open_runs
from headway.cli.opening import told
from headway.cli.options import examples
from headway.cli.refusing import Refusal
from headway.cli.run_driving import EXIT_WORDS, claimed, drive_here
from headway.cli.run_options import asked, run_options
from headway.config import process_settings


@click.command(
    "run",
    epilog=examples(
        "headway run hw.bug-fix --goal 'The login page fails' --model scripted:fix.yaml",
        "headway run hw.bug-fix --goal '...' --model scripted:fix.yaml --turns 50",
    )
    + "\n\n"
    + EXIT_WORDS,
)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **given: object) -> None:
    """Have a model do WORKFLOW in a git worktree and branch of its own.

    The run goes on from where it was after a crash or Ctrl-C: headway runs resume. At a limit it
    is paused. Its work ends as one commit on its branch.
    """
    with told(Refusal):
        settings = process_settings()
        request: SubmitRun = asked(given)
        model = model_named(request.model, Path.cwd())
        with open_runs(settings) as runs:
            task = submit_run(runs, replace(request, model=model.name))
            click.echo(f"run {task.run}: {request.workflow_id}, {model.name}", err=True)
            code = drive_here(settings, runs, claimed(runs, task.run), model)
    ctx.exit(code)
