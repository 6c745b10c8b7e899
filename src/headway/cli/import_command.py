"""`headway import`: a session from the file that `headway export` wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from headway.application.import_session import LINE_BYTES_MAX, Imported, import_session
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal, envelope
from headway.cli.style import counted


@click.command(
    "import", epilog=examples("headway import a.jsonl", "headway import a.jsonl --as-new")
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--as-new", is_flag=True, help="Give the session an id of its own.")
@json_option
def command(file: Path, *, as_new: bool, as_json: bool) -> None:
    """Verify the bundle in FILE whole, then take its session in, all of it or nothing."""
    try:
        with file.open("rb") as source, opened() as (_, engine):
            imported = import_session(engine, lines_of(source), as_new=as_new)
    except OSError as error:
        what = f"{file} cannot be read: {error.strerror or error}."
        raise Refusal(envelope(what, "Name a file written by `headway export`.")) from error
    if as_json:
        print_json(
            {
                "sessionId": imported.session,
                "origin": imported.origin,
                "workspace": imported.workspace,
                "events": imported.events,
                "already": imported.already,
            }
        )
        return
    for line in _told(imported):
        click.echo(line)


def lines_of(source: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; one beyond the limit comes cut off, without its end."""
    return iter(lambda: source.readline(LINE_BYTES_MAX), b"")


def _told(imported: Imported) -> Iterator[str]:
    if imported.already:
        yield f"{imported.session} is here already, event for event the same: nothing was changed."
        return
    born = "" if imported.origin == imported.session else f", born as {imported.origin}"
    yield f"{imported.session}: {counted(imported.events, 'event')} taken in, all proven{born}."
    yield "Tokens of the machine it comes from are not good here. To go on, have an agent call"
    yield f'resume_session with sessionId "{imported.session}" in the workspace at hand'
    yield f"(it was {imported.workspace} there)."
