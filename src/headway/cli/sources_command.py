"""`headway sources`: where workflow files come from, and the git repositories among them."""

import os.path
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from headway.application.add_source import add_source
from headway.application.added_sources import AddedSources
from headway.application.list_sources import list_sources
from headway.application.remove_source import remove_source
from headway.application.requests import Json, Reply
from headway.application.update_sources import update_sources
from headway.bootstrap import open_sources
from headway.cli.opening import told
from headway.cli.options import Grouped, examples, json_option, print_json
from headway.cli.refusing import Refusal
from headway.cli.safe_text import one_line
from headway.config import process_settings

_COMMIT_SHOWN = 12
_PATH_MARKS = ("/", "./", "../", "~/")


@click.group("sources", cls=Grouped)
def command() -> None:
    """See where workflow files come from; add git repositories of them.

    A repository is pinned to the commit it stood at when it was added; only `headway sources
    update` moves the pin. ID is what `headway sources list` shows.
    """


@command.command(
    "list",
    short_help="List the folders searched from here, in order of precedence.",
    epilog=examples("headway sources list", "headway sources list --json | jq .git"),
)
@json_option
def list_command(*, as_json: bool) -> None:
    """List the folders that workflows come from when one works here.

    Of two files with one id, that of the folder listed first is used.
    """
    with _opened() as added:
        listed = list_sources(added, str(Path.cwd()))
    if as_json:
        print_json(listed)
        return
    for each in _objects(listed["sources"]):
        for line in _folder(each):
            click.echo(line)


@command.command(
    "add",
    short_help="Add a git repository of workflow files.",
    epilog=examples(
        "headway sources add https://git.example/team/flows",
        "headway sources add git@git.example:team/flows.git --ref v2 --path workflows",
        "headway sources add ../flows",
    ),
)
@click.argument("url")
@click.option("--ref", default="", metavar="NAME", help="A branch, tag or commit.")
@click.option("--path", default="", metavar="FOLDER", help="Take only what lies below it.")
@json_option
def add_command(url: str, ref: str, path: str, *, as_json: bool) -> None:
    """Add the git repository at URL: an https or ssh address, or a path on this machine.

    Its workflow files are fetched into the home folder and pinned to the commit.
    """
    with _opened() as added:
        done = add_source(added, _address(url), ref, path)
    if as_json:
        print_json(done)
        return
    source = _object(done["source"])
    if not done["added"]:
        click.echo(f"It is there already, as {source['id']} at {_short(source['commit'])}.")
        return
    click.echo(f"Added {source['id']} at {_short(source['commit'])}: {_count(done['files'])}.")
    _tell_left_out(done)


@command.command(
    "update",
    short_help="Fetch one git repository, or all, and move the pin.",
    epilog=examples("headway sources update", "headway sources update flows"),
)
@click.argument("source", metavar="[ID]", default="")
@json_option
def update_command(source: str, *, as_json: bool) -> None:
    """Fetch the git repository of an ID, or every one, and move its pin.

    One that cannot be fetched keeps its pin and its files; the exit code is then 1.
    """
    with _opened() as added:
        done = update_sources(added, source)
    failed = _objects(done["failed"])
    if as_json:
        print_json(done)
    else:
        _tell_updated(done, failed)
    sys.exit(1 if failed else 0)


@command.command(
    "remove",
    short_help="Remove a git repository and its files.",
    epilog=examples("headway sources remove flows"),
)
@click.argument("source", metavar="ID")
@json_option
def remove_command(source: str, *, as_json: bool) -> None:
    """Remove the git repository of an ID. Sessions begun on its workflows go on as they are."""
    with _opened() as added:
        done = remove_source(added, source)
    if as_json:
        print_json(done)
    else:
        click.echo(f"Removed {source}.")


@contextmanager
def _opened() -> Iterator[AddedSources]:
    with told(Refusal), open_sources(process_settings()) as added:
        yield added


def _address(url: str) -> str:
    """Return an address; a path, which must look like one, is made absolute."""
    if url in (".", "..") or url.startswith(_PATH_MARKS):
        return os.path.abspath(Path(url).expanduser())  # noqa: PTH100 - links stay as given
    return url


def _folder(source: Reply) -> Iterator[str]:
    held = "not there" if source["stale"] else _count(source["totalCount"])
    shadowed = f", {source['shadowedCount']} of them not used" if source["shadowedCount"] else ""
    yield f"{str(source['kind']).ljust(9)}  {one_line(source['path'])}: {held}{shadowed}"
    if "origin" in source:
        yield f"{'':11}{one_line(source['origin'])}"
    for problem in _texts(source["problems"]):
        yield f"{'':11}{one_line(problem)}"


def _tell_updated(done: Reply, failed: list[Reply]) -> None:
    updated = _objects(done["updated"])
    for each in updated:
        source = _object(each["source"])
        moved = f"{_short(each['from'])} -> " if each["changed"] else "still "
        click.echo(f"{source['id']}: {moved}{_short(source['commit'])}, {_count(each['files'])}.")
        _tell_left_out(each)
    for each in failed:
        source, fault = _object(each["source"]), _object(each["fault"])
        remedy = _object(fault["details"])["suggestion"]
        click.echo(f"{source['id']}: {one_line(fault['message'])}\n{one_line(remedy)}", err=True)
    if not updated and not failed:
        click.echo("No git repository was added yet.")


def _tell_left_out(done: Reply) -> None:
    for each in _texts(done["leftOut"]):
        click.echo(f"  Left out: {one_line(each)}")


def _short(commit: Json) -> str:
    return str(commit)[:_COMMIT_SHOWN]


def _count(files: Json) -> str:
    return "1 file" if files == 1 else f"{files} files"


def _object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


def _objects(value: Json) -> list[dict[str, Json]]:
    assert isinstance(value, list)
    return [_object(each) for each in value]


def _texts(value: Json) -> list[str]:
    assert isinstance(value, list)
    return [str(each) for each in value]
