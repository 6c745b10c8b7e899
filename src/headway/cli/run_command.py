"""`headway run`: have a model do a workflow, in the foreground."""

from pathlib import Path

import click

from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import model_named, open_runs
from headway.cli.opening import told
from headway.cli.options import examples
from headway.cli.refusing import Refusal
from headway.cli.run_driving import EXIT_WORDS, claimed, drive_here
from headway.config import process_settings
from headway.domain.runs.limits import Limits

MILLIONTHS = 1_000_000


@click.command(
    "run",
    epilog=examples(
        "headway run hw.bug-fix --goal 'The login page fails' --model scripted:fix.yaml",
        "headway run hw.bug-fix --goal '...' --model anthropic:NAME --budget 2.50",
    )
    + "\n\n"
    + EXIT_WORDS,
)
@click.argument("workflow")
@click.option("--goal", required=True, metavar="TEXT", help="What is to be done.")
@click.option("--model", required=True, metavar="PROVIDER:NAME", help="Which model does it.")
@click.option(
    "--workspace",
    default=".",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The repository to work on; by default the one here.",
)
@click.option("--turns", type=int, default=Limits().turns, show_default=True, help="Turns at most.")
@click.option("--budget", type=float, metavar="DOLLARS", help="Money at most.")
@click.option("--minutes", type=int, default=60, show_default=True, help="Time at work at most.")
@click.option("--in-place", is_flag=True, help="Work in the folder itself, without a worktree.")
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option, as click asks for
    ctx: click.Context,
    workflow: str,
    goal: str,
    model: str,
    workspace: Path,
    turns: int,
    budget: float | None,
    minutes: int,
    *,
    in_place: bool,
) -> None:
    """Have a model do WORKFLOW in a git worktree and branch of its own.

    The run goes on from where it was after a crash or Ctrl-C: headway runs resume. At a limit it
    is paused. Its work ends as one commit on its branch.
    """
    with told(Refusal):
        settings = process_settings()
        chosen = model_named(model, Path.cwd())
        limits = Limits(
            turns=turns,
            money=None if budget is None else round(budget * MILLIONTHS),
            seconds=minutes * 60,
        )
        with open_runs(settings) as runs:
            request = SubmitRun(
                workflow_id=workflow,
                workspace=str(workspace.resolve()),
                goal=goal,
                model=chosen.name,
                limits=limits,
                in_place=in_place,
            )
            task = submit_run(runs, request)
            click.echo(f"run {task.run}: {workflow}, {chosen.name}", err=True)
            code = drive_here(settings, runs, claimed(runs, task.run), chosen)
    ctx.exit(code)
