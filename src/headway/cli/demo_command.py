"""`headway demo`: the main job on a sample repository, killed in mid-run, offline."""

import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import click

from headway.application.faults import Fault
from headway.bootstrap import model_named
from headway.cli.clients import URL_DEFAULT, ways
from headway.cli.demo.agent import ScriptedAgent
from headway.cli.demo.connection import environment_of_children, log_tail
from headway.cli.demo.job import REPOSITORY, SCRIPTED, WORKFLOW, Job, play
from headway.cli.demo.result import show_result, show_session, show_verdict
from headway.cli.demo.sample import make_repository
from headway.cli.demo.shell import DemoFailedError, Shell
from headway.cli.demo.story import Stage
from headway.cli.demo.story import play as play_story
from headway.cli.demo.telling import Teller
from headway.cli.opening import told
from headway.cli.options import examples
from headway.cli.refusing import Refusal
from headway.cli.stdout import StdoutLost
from headway.cli.terminal import output_style
from headway.config import process_settings, read_settings
from headway.domain.runs.outcomes import Success
from headway.home import HOME

EXIT_FAILED: Final = 1
JOB: Final = (
    "A model mends a bug on its own: a goal and a repository go in, a finished, checked branch "
    "comes out."
)
SCRIPT: Final = (
    " The model is a script; the repository, its tests, the tools, the kill and the commit are "
    "real. No key, no network."
)
STORY: Final = (
    "An agent mends a bug, step by step. The agent is a script; the repository, its tests, the "
    "server, the MCP client and the crash are real. No key, no network."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The folder a demo has for itself, with the repository and the home of its processes."""

    folder: Path
    shell: Shell
    environment: Mapping[str, str]
    teller: Teller


@click.command(
    "demo",
    epilog=examples(
        "headway demo",
        "headway demo --mcp",
        "headway demo --model anthropic:claude-sonnet-4-5 --kill",
    ),
)
@click.option("--mcp", is_flag=True, help="An agent over MCP instead, whose server is killed.")
@click.option("--model", metavar="PROVIDER:NAME", help="A real model instead of the script.")
@click.option("--kill", is_flag=True, help="Kill the worker of a real model, too.")
@click.option("--keep", is_flag=True, help="Leave the repository and the store, and say where.")
def command(*, mcp: bool, model: str | None, kill: bool, keep: bool) -> None:
    """See a bug mended on its own, through a crash, as one commit on a branch.

    In a few seconds, without a key or a network: a real repository with a bug, real processes, in a
    folder of their own that is removed at the end. The model is a script. With --model it is a real
    one, nothing is killed without --kill, and all is left to look at. Ends with 1 when anything
    goes another way.
    """
    if mcp and (model is not None or kill):
        raise click.UsageError("--mcp has a scripted agent: leave --model and --kill out.")
    if model is not None:
        with told(Refusal):
            # A key that is missing is told before anything is made; the name is good anywhere.
            model = model_named(process_settings(), model, Path.cwd()).name
    if mcp:
        _demonstrate(keep=keep, does=_show_story)
        return
    chosen, kills, keep = model or SCRIPTED, kill or model is None, keep or model is not None
    _demonstrate(keep=keep, does=lambda sample: _show_job(sample, chosen, kills=kills))


def _demonstrate(*, keep: bool, does: Callable[[Sample], None]) -> None:
    """Make a sample, show what is to be shown with it, and tell what failed."""
    with told(Refusal):
        settings = process_settings()
    teller = Teller(output_style(settings.environment), click.echo)
    began = time.perf_counter()
    with _folder(keep=keep) as folder:
        repository, home = folder / REPOSITORY, folder / "home"
        for each in (repository, home):
            each.mkdir()
        sample = Sample(
            folder=folder,
            shell=Shell(repository, settings.environment),
            environment=environment_of_children(settings.environment, home),
            teller=teller,
        )
        # Leaving from inside `except*` would wrap the exit in a group.
        failed, lost = False, None
        try:
            make_repository(sample.shell)
            does(sample)
        except* StdoutLost as losses:
            lost = next(_leaves(losses))
        except* (DemoFailedError, Fault, OSError, TimeoutError) as failures:
            _tell_failure(failures, folder)
            failed = True
        if lost is not None:
            raise lost
        if keep:
            _tell_where(sample)
        if failed:
            sys.exit(EXIT_FAILED)
        teller.title(f"Done in {time.perf_counter() - began:.1f} s.")
        if not keep:
            teller.write(f"Nothing of it is left; {_typed()} demo --keep leaves it to look at.")


def _show_job(sample: Sample, model: str, *, kills: bool) -> None:
    scripted = model == SCRIPTED
    sample.teller.prose(JOB + (SCRIPT if scripted else f" The model is {model}."))
    job = Job(
        folder=sample.folder,
        settings=read_settings(sample.environment),
        environment=sample.environment,
        shell=sample.shell,
        teller=sample.teller,
        model=model,
        kills=kills,
    )
    watcher = play(job)
    show_result(job, watcher)
    if not isinstance(watcher.now.outcome, Success):
        raise DemoFailedError("The run did not come to a good end; what it did is told above.")
    _tell_what_next_with_runs(sample.teller)


def _show_story(sample: Sample) -> None:
    teller = sample.teller
    teller.prose(STORY)
    stage = Stage(
        folder=sample.folder,
        environment=sample.environment,
        agent=ScriptedAgent(sample.shell),
        teller=teller,
    )
    anyio.run(play_story, stage)
    settings = read_settings(sample.environment)
    status = show_session(settings, teller)
    show_verdict(settings, teller)
    if not status.startswith("complete"):
        raise DemoFailedError(f"The store has the session as {status}.")
    _tell_what_next_with_clients(teller)


@contextmanager
def _folder(*, keep: bool) -> Iterator[Path]:
    """Yield a new folder, and remove it at the end unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="headway-demo-")).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="headway-demo-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def _tell_failure(failures: BaseExceptionGroup[BaseException], folder: Path) -> None:
    for failure in _leaves(failures):
        click.echo(f"The demo failed: {failure}", err=True)
    log = log_tail(folder)
    if log:
        click.echo(f"The log of its processes ends with:\n{log}", err=True)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        else:
            yield each


def _tell_where(sample: Sample) -> None:
    teller = sample.teller
    teller.title(f"All of it is in {sample.folder}.")
    teller.write("Look around with")
    teller.gives(f"export {HOME}={shlex.quote(sample.environment[HOME])}")
    for words in ("status", "runs list", "sessions tree", f"workflows show {WORKFLOW}"):
        teller.gives(f"{_typed()} {words}")
    teller.gives(f"git -C {shlex.quote(str(sample.shell.folder))} log --all --patch")


def _tell_what_next_with_runs(teller: Teller) -> None:
    teller.title("Give it a job of yours")
    goal = "--goal 'What is wrong, and how it shows'"
    run = f"{_typed()} run {WORKFLOW} --workspace ~/your-project {goal} --model PROVIDER:NAME"
    teller.gives(run, "it works beside your files and ends as one commit on a branch of its own")
    teller.gives(f"{_typed()} demo --model PROVIDER:NAME", "or see this job done by a real model")
    teller.gives(f"{_typed()} demo --mcp", "or lead the agent you already talk to, over MCP")


def _tell_what_next_with_clients(teller: Teller) -> None:
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
