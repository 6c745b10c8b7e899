"""`headway run`: have a model do a workflow, in the foreground."""

from pathlib import Path

import anyio
import click
from msgspec.structs import replace

from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import model_named, open_runs, remote_engine
from headway.cli.engine_options import Asked, engine_options, with_engine
from headway.cli.opening import told
from headway.cli.options import examples, json_option
from headway.cli.refusing import Refusal
from headway.cli.run_driving import claimed, drive_here
from headway.cli.run_exits import EXIT_WORDS
from headway.cli.run_options import asked, run_options
from headway.cli.stop_signals import stop_signals
from headway.cli.terminal import remark
from headway.config import process_settings


@click.command(
    "run",
    epilog=examples(
        "headway run hw.bug-fix --goal 'The login fails' --model anthropic:claude-sonnet-4-5",
        "headway run hw.bug-fix --goal-file task.md --model scripted:fix.yaml --turns 50",
    )
    + "\n\n"
    + EXIT_WORDS,
)
@run_options
@json_option
@click.pass_context
@engine_options
def command(ctx: click.Context, /, *, as_json: bool, engine: Asked, **given: object) -> None:
    """Have a model do WORKFLOW in a git worktree and branch of its own.

    The run goes on from where it was after a crash or Ctrl-C: headway runs resume. Its work ends as
    one commit on its branch. With --json stdout holds how it ended, as headway runs show --json.
    """
    with told(Refusal):
        settings = with_engine(process_settings(), engine)
        request: SubmitRun = asked(given)
        model = model_named(settings, request.model, Path.cwd())
        if settings.engine_url:
            there = remote_engine(settings, settings.engine_url)
            anyio.run(there.check, request.workflow_id, request.workspace)
            request = replace(request, elsewhere=True)
        with open_runs(settings) as runs, stop_signals() as signals:
            task = submit_run(runs, replace(request, model=model.name))
            remark(f"run {task.run}: {request.workflow_id}, {model.name}")
            held = claimed(runs, task.run)
            code = drive_here(settings, runs, held, model, signals, as_json=as_json)
    ctx.exit(code)
