"""The main job: a goal and a repository go in, a finished, checked branch comes out.

`headway run` drives the model in a process of its own. It is killed with SIGKILL as soon as it has
changed the module with the bug, and `headway runs resume` goes on in another process. What happens
is told from the ledger, while it happens where SQLite lets a second process read, else after it.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headway.application.runs import Runs
from headway.bootstrap import WORKTREES_NAME, look_at_home, open_runs
from headway.cli.demo.sample import FILES, GOAL, MODULE
from headway.cli.demo.serving import log_of
from headway.cli.demo.shell import DemoFailedError, Shell
from headway.cli.demo.telling import Teller
from headway.cli.demo.watching import Watcher
from headway.config import Settings
from headway.domain.runs.outcomes import Success

WORKFLOW: Final = "hw.bug-fix"
REPOSITORY: Final = "splitbill"
TRANSCRIPT: Final = Path(__file__).with_name("splitbill.yaml")
SCRIPTED: Final = f"scripted:{TRANSCRIPT.name}"
LOOK_SECONDS: Final = 0.05
END_SECONDS_MAX: Final = 40
MINUTES: Final = 30  # at work, for a model that nobody knows


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Where and by which model the job is done; `settings` and `environment` are of its home."""

    folder: Path
    settings: Settings
    environment: Mapping[str, str]
    shell: Shell
    teller: Teller
    model: str = SCRIPTED
    kills: bool = True

    @property
    def is_scripted(self) -> bool:
        """Tell whether the model is the script that comes with the demo."""
        return self.model == SCRIPTED


def play(job: Job) -> Watcher:
    """Have the job done; return what was recorded. Raises DemoFailedError, Fault."""
    if job.is_scripted:
        (job.folder / TRANSCRIPT.name).write_bytes(TRANSCRIPT.read_bytes())
    watcher = Watcher(job.teller)
    words = ["run", WORKFLOW, "--workspace", REPOSITORY, "--model", job.model]
    job.teller.command("headway", words, ["--goal", GOAL, "--minutes", str(MINUTES)])
    with _begun(job, [*words, "--goal", GOAL, "--minutes", str(MINUTES)]) as process:
        killed = _follow(job, watcher, process, kills=job.kills)
    if watcher.run is None:
        raise DemoFailedError(f"`headway run` ended with {process.returncode} before it began.")
    if killed:
        job.teller.title("Crash")
        told = f"kill -9 {process.pid}: gone, {watcher.whereabouts()}, without a last word"
        job.teller.tells("worker", told, "red")
        job.teller.command("headway", ["runs", "resume", watcher.run])
        with _begun(job, ["runs", "resume", watcher.run]) as process:
            _follow(job, watcher, process, kills=False)
    elif job.kills:
        job.teller.tells("demo", f"had nothing to kill: {MODULE} was never changed", "yellow")
    if job.is_scripted and not isinstance(watcher.now.outcome, Success):
        raise DemoFailedError("The run did not succeed.")
    return watcher


@contextmanager
def _begun(job: Job, words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command of ours in a process of its own; at the end it is gone."""
    with log_of(job.folder).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            cwd=job.folder,
            env=dict(job.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.terminate()  # which does nothing to one that has ended
        try:
            process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _follow(job: Job, watcher: Watcher, process: subprocess.Popen[bytes], *, kills: bool) -> bool:
    """Tell what happens until the process has ended; tell whether it was killed here."""
    killed = False
    with _readable(job) as runs:
        while True:
            ended = process.poll() is not None
            if runs is not None:
                watcher.catch_up(runs)
            if ended:
                break
            if kills and _has_changed_the_module(job):
                process.kill()
                process.wait()
                killed = True
            else:
                time.sleep(LOOK_SECONDS)
    if runs is None:
        with open_runs(job.settings) as runs:
            watcher.catch_up(runs)
    return killed


def _readable(job: Job) -> AbstractContextManager[Runs | None]:
    """Open the store beside the process that writes it, where this machine's SQLite bears that."""
    shared = look_at_home(job.settings).onlooker.look(1).shares
    return open_runs(job.settings) if shared else nullcontext()


def _has_changed_the_module(job: Job) -> bool:
    for path in (job.settings.home / WORKTREES_NAME).glob(f"*/{MODULE}"):
        try:
            text = path.read_text("utf-8", "replace")
        except FileNotFoundError:  # it is being replaced
            continue
        if text and text != FILES[MODULE]:
            return True
    return False
