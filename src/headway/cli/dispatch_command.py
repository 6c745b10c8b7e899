"""`headway dispatch`: have a run wait for a worker."""

from pathlib import Path

import click
from msgspec.structs import replace

from headway.application.list_runs import told_submitted
from headway.application.submit_run import submit_named
from headway.bootstrap import open_runs, whole_model_name
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.run_options import asked, run_options
from headway.cli.run_words import warn_of
from headway.config import process_settings


@click.command(
    "dispatch",
    epilog=examples(
        "headway dispatch hw.bug-fix --goal 'The login page fails' --model scripted:fix.yaml",
        "headway dispatch hw.bug-fix --goal '...' --model ... --key nightly --priority 5",
    ),
)
@run_options
@click.option("--priority", type=int, default=0, show_default=True, help="Higher goes first.")
@click.option("--key", metavar="TEXT", help="At most one unfinished run has this key.")
@json_option
def command(priority: int, key: str | None, *, as_json: bool, **given: object) -> None:
    """Have a run of WORKFLOW wait for a worker (headway worker), and print its id.

    With a --key that an unfinished run has, nothing is added and that run's id is printed. The key
    of its model is the worker's to have; that it is not set here is told.
    """
    with told(Refusal):
        request = asked(given)
        settings = process_settings()
        model = whole_model_name(settings, request.model, str(Path.cwd()))
        with open_runs(settings) as runs:
            whole = replace(request, priority=priority, dedupe=key)
            submitted = submit_named(runs, whole, model)
            row = told_submitted(runs, submitted)
    warn_of(submitted)
    if as_json:
        print_json(row | {"isNew": submitted.is_new})
    else:
        click.echo(row["run"])
