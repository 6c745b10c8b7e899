"""`headway demo`: the main job on a sample repository with a scripted agent, offline."""

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
from headway.bootstrap import open_engine
from headway.cli.demo.agent import ScriptedAgent
from headway.cli.demo.connection import environment_of_server, log_tail
from headway.cli.demo.sample import make_repository
from headway.cli.demo.shell import DemoFailedError, Shell
from headway.cli.demo.story import Stage, play
from headway.cli.demo.telling import Teller
from headway.cli.terminal import output_style
from headway.cli.tree_drawing import draw_tree
from headway.config import ConfigError, Settings, process_settings, read_settings

EXIT_FAILED = 1


@click.command("demo")
@click.option("--keep", is_flag=True, help="Leave the repository and the store, and say where.")
def command(*, keep: bool) -> None:
    """See a bug fixed step by step, through a refusal and a crash."""
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
            _show_tree(stage, settings)
        except* (DemoFailedError, Fault, OSError, TimeoutError) as failures:
            _tell_failure(failures, folder)
            failed = True
        if failed:
            sys.exit(EXIT_FAILED)
        teller.blank()
        _tell_what_next(stage, time.perf_counter() - began, keep=keep)


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    """Yield a new folder, and remove it at the end unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="headway-demo-")).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="headway-demo-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def _set_up(folder: Path, settings: Settings, teller: Teller) -> Stage:
    repository, home = folder / "splitbill", folder / "home"
    for each in (repository, home):
        each.mkdir()
    teller.title("A scripted agent mends a bug; everything else is real. No key, no network.")
    teller.says("sample", [f"git repository {repository}"])
    agent = ScriptedAgent(Shell(repository, settings.environment))
    return Stage(folder=folder, home=home, agent=agent, teller=teller)


def _show_tree(stage: Stage, settings: Settings) -> None:
    with open_engine(
        read_settings(environment_of_server(settings.environment, stage.home))
    ) as engine:
        read = read_session(engine)
    if not read.summary.status.startswith("complete"):
        raise DemoFailedError(f"The store has the session as {read.summary.status}.")
    stage.teller.blank()
    stage.teller.title("What the store kept")
    for line in draw_tree(read.tree, stage.teller.style):
        stage.teller.write(line)


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


def _tell_what_next(stage: Stage, seconds: float, *, keep: bool) -> None:
    teller = stage.teller
    teller.title(f"Done in {seconds:.1f} s. What next")
    if keep:
        teller.gives("kept", str(stage.folder))
        teller.gives("look", f"HEADWAY_HOME={stage.home} {_typed()} sessions tree")
        teller.gives("", f"git -C {stage.agent.shell.folder} diff")
    else:
        teller.gives("look", f"{_typed()} demo --keep  leaves repository and store to look at")
    server = f'{{"mcpServers": {{"headway": {{"command": "{_program()}", "args": ["mcp"]}}}}}}'
    teller.says("connect", ["an MCP client of yours, with this in its settings:"])
    teller.write(f"            {server}")
    teller.says("then", ['ask it: "Use Headway: start hw.bug-fix for ..."'])


def _typed() -> str:
    """Return what to type here to call the program: it is seldom on the PATH."""
    program = Path(_program())
    return str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program)


def _program() -> str:
    beside = Path(sys.executable).with_name("headway")
    return str(beside) if beside.exists() else "headway"
