"""`headway demo`: the main job on a sample repository with a scripted agent, offline."""

import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import click

from headway.application.faults import Fault
from headway.application.read_session import read_session
from headway.application.verify_store import verify_store
from headway.bootstrap import open_engine
from headway.cli.clients import URL_DEFAULT, ways
from headway.cli.demo.agent import ScriptedAgent
from headway.cli.demo.connection import environment_of_server, log_tail
from headway.cli.demo.sample import make_repository
from headway.cli.demo.shell import DemoFailedError, Shell
from headway.cli.demo.story import Stage, play
from headway.cli.demo.telling import Teller
from headway.cli.terminal import output_style
from headway.cli.tree_drawing import draw_tree
from headway.cli.verify_command import verdict
from headway.config import ConfigError, Settings, process_settings, read_settings
from headway.home import HOME

EXIT_FAILED = 1
REPOSITORY = "splitbill"
OPENING = (
    "An agent mends a bug, step by step. The agent is a script; the repository, its tests, the "
    "server, the MCP client and the crash are real. No key, no network."
)


@click.command("demo")
@click.option("--keep", is_flag=True, help="Leave the repository and the store, and say where.")
def command(*, keep: bool) -> None:
    """See a bug fixed step by step, through a refusal and a crash.

    In a few seconds, without a key or a network: a real server, a real MCP client and a real
    repository with a bug, in a folder of their own that is removed at the end. The agent is a
    script; it ends with how to give Headway to yours. Ends with 1 when anything goes another way.
    """
    try:
        settings = process_settings()
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    teller = Teller(output_style(settings.environment), click.echo)
    began = time.perf_counter()
    with _folder(keep=keep) as folder:
        stage = _set_up(folder, settings, teller)
        failed = False  # leaving from inside `except*` would wrap the exit in a group
        try:
            make_repository(stage.agent.shell)
            anyio.run(play, stage)
            _show_what_is_kept(stage)
        except* (DemoFailedError, Fault, OSError, TimeoutError) as failures:
            _tell_failure(failures, folder)
            failed = True
        if failed:
            sys.exit(EXIT_FAILED)
        teller.title(f"Done in {time.perf_counter() - began:.1f} s.")
        _tell_where(stage, keep=keep)
        _tell_what_next(teller)


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    """Yield a new folder, and remove it at the end unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="headway-demo-")).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="headway-demo-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def _set_up(folder: Path, settings: Settings, teller: Teller) -> Stage:
    repository, home = folder / REPOSITORY, folder / "home"
    for each in (repository, home):
        each.mkdir()
    teller.prose(OPENING)
    agent = ScriptedAgent(Shell(repository, settings.environment))
    environment = environment_of_server(settings.environment, home)
    return Stage(folder=folder, environment=environment, agent=agent, teller=teller)


def _show_what_is_kept(stage: Stage) -> None:
    """Show the tree and the verdict, as the commands named in the headings would."""
    teller = stage.teller
    with open_engine(read_settings(stage.environment)) as engine:
        read = read_session(engine)
        report = verify_store(engine)
    if not read.summary.status.startswith("complete"):
        raise DemoFailedError(f"The store has the session as {read.summary.status}.")
    teller.title("$ headway sessions tree")
    for line in draw_tree(read.tree, teller.style):
        teller.write(line)
    teller.title("$ headway verify")
    teller.write(teller.style.paint(verdict(report), "red" if report.problems else "green"))
    if report.problems:
        raise DemoFailedError("The store is not as it was recorded.")


def _tell_failure(failures: BaseExceptionGroup[BaseException], folder: Path) -> None:
    for failure in _leaves(failures):
        click.echo(f"The demo failed: {failure}", err=True)
    log = log_tail(folder)
    if log:
        click.echo(f"The server's log ends with:\n{log}", err=True)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        else:
            yield each


def _tell_where(stage: Stage, *, keep: bool) -> None:
    teller = stage.teller
    if not keep:
        teller.write(f"Nothing of it is left; {_typed()} demo --keep leaves it to look around in.")
        return
    home = stage.environment[HOME]
    teller.write(f"All of it is in {stage.folder}. Look around with")
    teller.gives(f"export {HOME}={shlex.quote(home)}")
    for words in ("status", "sessions tree", "sessions show", "workflows show hw.bug-fix"):
        teller.gives(f"{_typed()} {words}")
    teller.gives(f"git -C {shlex.quote(str(stage.agent.shell.folder))} diff")


def _tell_what_next(teller: Teller) -> None:
    teller.title("Give it to your agent")
    for way in ways(_program()):
        teller.gives(way.what, f"{way.client}: {way.where}" if way.where else way.client)
    teller.gives(f"{_typed()} up", f"or serve all of them from one place, {URL_DEFAULT}")
    teller.write('Then ask it: "Use Headway: start hw.bug-fix for <what is wrong>".')


def _typed() -> str:
    """Return what to type here to call the program: it is seldom on the PATH."""
    program = Path(_program())
    return str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program)


def _program() -> str:
    beside = Path(sys.executable).with_name("headway")
    return str(beside) if beside.exists() else "headway"
