"""`headway export`: a session as one file, with its workflow, blobs and proofs."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from headway.application.export_session import export_session
from headway.cli.completing import complete_session
from headway.cli.listed import A_SESSION
from headway.cli.opening import opened
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import Refusal, envelope
from headway.cli.style import counted

SUFFIX = ".headway.jsonl"


@click.command(
    "export", epilog=examples("headway export sess_abc", "headway export sess_abc -o a.jsonl")
)
@click.argument("session", type=A_SESSION, shell_complete=complete_session)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"The file to write; by default SESSION{SUFFIX} in this folder.",
)
@json_option
def command(session: str, output: Path | None, *, as_json: bool) -> None:
    """Write SESSION, an id or the beginning of one, to a bundle that `headway import` reads."""
    with opened() as (_, engine):
        bundle = export_session(engine, session)
        path = output or Path(f"{bundle.session}{SUFFIX}")
        if path.exists():
            raise Refusal(
                envelope(f"{path} is there already.", "Remove it, or name another file with -o.")
            )
        try:
            write_whole(path, bundle.lines)
        except OSError as error:
            what = f"{path} cannot be written: {error.strerror or error}."
            remedy = "Nothing was left behind; name another file with -o."
            raise Refusal(envelope(what, remedy)) from error
    if as_json:
        counts = {"events": bundle.events, "blobs": bundle.blobs}
        print_json({"sessionId": bundle.session, "file": str(path), **counts})
        return
    held = f"{counted(bundle.events, 'event')}, {counted(bundle.blobs, 'blob')}"
    click.echo(f"{bundle.session}: {held} in {path}")


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that is there whole or not at all, readable by its owner alone."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
        _sync_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Have a file's new name outlast a power cut, as its bytes do: a purge may come next."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
