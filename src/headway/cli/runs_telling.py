"""`headway runs`: a word to a run, and having one go on, begin anew, or be kept as a transcript."""

import sys
from functools import partial
from pathlib import Path
from typing import Final

import click

from headway.application.abort_run import abort_run
from headway.application.list_runs import told_row, told_submitted
from headway.application.naming_runs import exact_run, named_run
from headway.application.pause_run import pause_run
from headway.application.record_run import record_run
from headway.application.resume_run import resume_run
from headway.application.retry_run import retry_run
from headway.application.runs import is_driven
from headway.application.steer_run import steer_run
from headway.bootstrap import model_named, open_runs, whole_model_name
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal, envelope
from headway.cli.run_driving import claimed, drive_here, model_of
from headway.cli.run_exits import EXIT_WORDS
from headway.cli.run_options import grant_options, granted
from headway.cli.run_words import BY, RUN, warn_of
from headway.cli.stop_signals import stop_signals
from headway.cli.user_name import user_name
from headway.cli.writing import force_option
from headway.config import Settings, process_settings

STDIN: Final = "-"


@click.command(
    "steer",
    short_help="Say something to a run's model.",
    epilog=examples("headway runs steer task_abc 'Leave the tests as they are.'"),
)
@RUN
@click.argument("text")
@BY
def steer_command(run: str, text: str, by: str | None) -> None:
    """Say TEXT to the model of RUN; it hears it with its next turn. - reads from stdin."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            said = sys.stdin.read() if text == STDIN else text
            named = steer_run(runs, run, said, by or user_name(settings))
            rests = exact_run(runs, named).state == "resting"
    click.echo(f"The run {named} hears it with its next turn.")
    if rests:
        click.echo(f"It rests; it goes on with: headway runs resume {named}")


@click.command(
    "abort",
    short_help="End a run.",
    epilog=examples("headway runs abort task_abc --because 'Wrong branch.'"),
)
@RUN
@click.option("--because", default="", metavar="REASON", help="Why, for the record.")
@BY
def abort_command(run: str, because: str, by: str | None) -> None:
    """End RUN: at once when nobody drives it, else as soon as its worker has heard of it."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            task = abort_run(runs, run, by or user_name(settings), because)
    ended = task.state == "ended"
    click.echo(f"The run {task.run} {'has ended' if ended else 'is told to end'}.")


@click.command(
    "pause",
    short_help="Have a run rest.",
    epilog=examples("headway runs pause task_abc"),
)
@RUN
@BY
def pause_command(run: str, by: str | None) -> None:
    """Have RUN rest until it is resumed: at once when nobody drives it, else after its turn."""
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            task = pause_run(runs, run, by or user_name(settings))
    rests = task.state == "resting"
    click.echo(f"The run {task.run} {'rests' if rests else 'is told to rest after its turn'}.")


@click.command(
    "resume",
    short_help="Go on with a run, here and now.",
    epilog=examples(
        "headway runs resume task_abc",
        "headway runs resume task_abc --turns 50 --queue",
    )
    + "\n\n"
    + EXIT_WORDS,
)
@RUN
@click.option("--queue", "queued", is_flag=True, help="Have it wait for a worker instead.")
@grant_options
@BY
@json_option
@click.pass_context
def resume_command(
    ctx: click.Context,
    /,
    run: str,
    by: str | None,
    *,
    queued: bool,
    as_json: bool,
    **given: object,
) -> None:
    """Go on with RUN in the foreground: one that is paused or parked, or lost its worker.

    The limit that it rests at is granted once more; the options grant something else instead.
    """
    code = 0
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            task = named_run(runs, run)
            elsewhere = queued or is_driven(runs, task)
            # What the model lacks is told before anything is changed.
            model = None if elsewhere else model_of(settings, runs, task.run)
            resume = partial(resume_run, runs, run, by or user_name(settings), granted(given))
            if model is not None:
                with stop_signals() as signals:
                    held = claimed(runs, resume().run)
                    code = drive_here(settings, runs, held, model, signals, as_json=as_json)
            elif as_json:
                print_json(told_row(runs, resume()))
            else:
                goes = "waits for a worker" if queued else "goes on where it is driven"
                click.echo(f"The run {resume().run} {goes}.")
    ctx.exit(code)


@click.command(
    "retry",
    short_help="Begin an ended run anew.",
    epilog=examples("headway runs retry task_abc"),
)
@RUN
@json_option
def retry_command(run: str, *, as_json: bool) -> None:
    """Submit what RUN was asked for as a new run, and print its id; nothing else of RUN is kept.

    It waits for a worker; headway runs resume drives it here.
    """
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            submitted = retry_run(runs, run, partial(whole_model_name, settings))
            row = told_submitted(runs, submitted)
    warn_of(submitted)
    if as_json:
        print_json(row)
    else:
        click.echo(row["run"])


@click.command(
    "record",
    short_help="Write a run's transcript for a scripted model.",
    epilog=examples("headway runs record task_abc --output script.yaml"),
)
@RUN
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Where to; or to stdout.",
)
@force_option
def record_command(run: str, output: str | None, *, force: bool) -> None:
    """Write what the model of RUN said as a transcript: a scripted model says it again.

    Paths in the run's worktree become relative ones. What people said to the run, and what a crash
    interrupted, does not stand in it.
    """
    with told(Refusal):
        settings = process_settings()
        with open_runs(settings) as runs:
            text = record_run(runs, run)
        if output is None:
            click.echo(text, nl=False)
            return
        if Path(output).exists() and not force:
            there = f"{output} is there already."
            raise Refusal(envelope(there, "Name another file, or add --force to replace it."))
        _write(settings, Path(output), text)
    click.echo(f"Play it with: --model scripted:{output}", err=True)


def _write(settings: Settings, path: Path, text: str) -> None:
    """Write a transcript that was read back, or nothing."""
    unread = path.with_name(f".{path.name}.new")
    try:
        unread.write_text(text, "utf-8")
        model_named(settings, f"scripted:{unread.resolve()}", Path.cwd())
        unread.replace(path)
    except OSError as error:
        raise Refusal(
            envelope(
                f"{path} cannot be written ({error.strerror}).",
                "Name a file in a folder of yours.",
            )
        ) from error
    finally:
        unread.unlink(missing_ok=True)


SPEAKING: Final = (
    steer_command,
    abort_command,
    pause_command,
    resume_command,
    retry_command,
    record_command,
)
