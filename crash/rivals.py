"""Two workers compete for several runs, and are killed or stopped past their leases meanwhile."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from headway.application.runs import Runs
from headway.application.submit_run import SubmitRun, submit_run
from headway.bootstrap import open_runs
from headway.config import read_settings
from headway.domain.ids import RunId
from headway.ports.queue import Task
from tests.support.crashed_runs import ROOT, Left, environment_of, left, prepare_checked

WORKERS = 2
LIFE_SECONDS = (0.3, 1.5)  # between two faults
STOP_SECONDS = 1.5  # longer than the lease
LEASE_SECONDS = "1"
END_SECONDS_MAX = 300.0


def compete(folder: Path, url: str | None, *, seed: int, runs: int, faults: int) -> list[Left]:
    """Have two workers do so many runs through so many faults; return what each run left."""
    prepare_checked(folder)
    environment = environment_of(folder, url, HEADWAY_LEASE_SECONDS=LEASE_SECONDS)
    chance = random.Random(seed)
    with open_runs(read_settings(environment)) as verbs, ExitStack() as at_end:
        ids = [_submitted(verbs, folder) for _ in range(runs)]
        workers = [at_end.enter_context(_worker(folder, environment, n)) for n in range(WORKERS)]
        deadline = time.monotonic() + END_SECONDS_MAX
        while unfinished := _unfinished(verbs):
            assert time.monotonic() < deadline, f"these did not end: {unfinished}"
            time.sleep(chance.uniform(*LIFE_SECONDS))
            for at, worker in enumerate(workers):
                if worker.poll() is not None:
                    workers[at] = at_end.enter_context(_worker(folder, environment, at))
            if faults:
                faults -= 1
                _disturb(chance.choice(workers), chance)
        outcomes = {
            task.run: str(task.outcome) for task in verbs.queue.tasks(("ended",), runs).rows
        }
    return [left(folder, run, outcomes[run], url, of=runs) for run in ids]


def _disturb(worker: subprocess.Popen[bytes], chance: random.Random) -> None:
    if chance.random() < 2 / 3:
        worker.kill()
        worker.wait()
        return
    os.kill(worker.pid, signal.SIGSTOP)
    time.sleep(STOP_SECONDS)
    os.kill(worker.pid, signal.SIGCONT)


def _submitted(verbs: Runs, folder: Path) -> RunId:
    request = SubmitRun(
        workflow_id="two-steps",
        workspace=str(folder / "repo"),
        goal="Make check.py pass",
        model=f"scripted:{folder / 'script.yaml'}",
    )
    return submit_run(verbs, request).run


def _unfinished(verbs: Runs) -> tuple[Task, ...]:
    return verbs.queue.tasks(("queued", "claimed", "resting"), 100).rows


@contextmanager
def _worker(
    folder: Path, environment: dict[str, str], number: int
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.support.run_process", "any", str(folder), "never"]
    with (
        (folder / f"worker-{number}.log").open("ab") as log,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
