"""A scripted run on a real repository, killed at a moment and gone on with: what is left of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.ids import RunId, session_stream
from headway.domain.runs.events import RunEvent, SessionJoined
from tests.support.patience import SECONDS_MAX

ROOT = Path(__file__).parents[2]
WORKFLOW = {
    "id": "two-steps",
    "name": "Two steps",
    "description": "Look, then mend.",
    "version": "1.0.0",
    "steps": [
        {"id": "look", "title": "Look", "prompt": "Reproduce the failure."},
        {"id": "mend", "title": "Mend", "prompt": "Mend it and run check.py."},
    ],
}
# As above; whether the failure is mended is for the engine's own runner to say.
CHECKED = {
    **WORKFLOW,
    "steps": [
        {"id": "look", "title": "Look", "prompt": "Reproduce the failure."},
        {
            "id": "mend",
            "title": "Mend",
            "prompt": "Mend it and run check.py.",
            "checks": [{"id": "passes", "run": "checked python3 -B check.py"}],
        },
    ],
}
CALC = "def add(a, b):\n    return a - b\n"
CHECK = "from calc import add\nassert add(2, 2) == 4\nprint('all is well')\n"
# Each turn looks at what came of the one before, and does what was cut off again by other means.
SCRIPT = """
turns:
  - name: look
    calls:
      - bash: {command: "python3 -B check.py; cat calc.py"}
      - read_file: {path: calc.py}
  - name: looked
    expect: "return a - b"
    otherwise: look
    calls:
      - write_file: {path: notes.txt, content: "subtracts\\n"}
  - expect: {matches: "notes.txt: 1 lines?"}
    otherwise: looked
    calls:
      - bash: {command: "git status --short"}
  - name: hand-in
    calls:
      - complete_step:
          notes: "check.py fails with an assertion error, since add subtracts its second argument."
  - expect: "Mend it"
    otherwise: hand-in
    calls:
      - bash: {command: "sed -i 's/a - b/a + b/' calc.py"}
  - name: test
    calls:
      - bash: {command: "python3 -B check.py"}
  - expect: "all is well"
    otherwise: mend-again
    calls:
      - bash: {command: "rm -f notes.txt; rm -rf __pycache__; ls"}
  - calls:
      - read_file: {path: calc.py}
  - name: cleaned
    calls:
      - bash: {command: "rm -f notes.txt; rm -rf __pycache__; ls"}
  - name: finish
    calls:
      - complete_step:
          notes: "add adds now, and check.py passes; one line of calc.py changed, nothing besides."
  - name: finish-again
    then: finish-again
    calls:
      - complete_step:
          notes: "add adds now, and check.py passes; one line of calc.py changed, nothing besides."
  - name: mend-again
    then: test
    calls:
      - bash: {command: "sed -i 's/a - b/a + b/' calc.py"}
"""


# Before git: lets the process die in the middle of one of its own git commands.
GIT = """#!/bin/sh
real={real}
[ "$CRASH_AT" ] && [ "$PPID" = "$(cat "$CRASH_FOLDER/pid")" ] || exec $real "$@"
n=$(($(cat "$CRASH_FOLDER/gits") + 1))
echo $n > "$CRASH_FOLDER/gits"
case "$CRASH_AT" in
  git:$n) kill -KILL $PPID; exec $real "$@" ;;
  gitcut:$n) $real "$@" & sleep 0.003; kill -KILL $PPID $!; exit 1 ;;
esac
exec $real "$@"
"""

# Before the command of a check: lets the process die while that is under way, or when it is over.
CHECKING = """#!/bin/sh
[ "$CRASH_AT" ] || exec "$@"
n=$(($(cat "$CRASH_FOLDER/checks") + 1))
echo $n > "$CRASH_FOLDER/checks"
case "$CRASH_AT" in
  check:$n) kill -KILL $(cat "$CRASH_FOLDER/pid"); exec sleep 600 ;;  # ended with the next claim
  checked:$n) "$@"; kill -KILL $(cat "$CRASH_FOLDER/pid"); exit 1 ;;
esac
exec "$@"
"""
RECORDED_CHECKS = "ChecksRecorded"


@dataclass(frozen=True)
class Left:
    """What a run leaves; all from `effects` on may differ when it was disturbed.

    Checks that were recorded and did not come to decide are recorded anew: those right after one
    another count once. The counts are those of the process that counted last, whichever of several
    that is.
    """

    outcome: str
    tree: str
    commits: int
    session: tuple[str, ...]
    effects: Counter[str]
    events: int
    row: str
    store_commits: int = field(compare=False)
    git_commands: int = field(compare=False)
    checks: int = field(compare=False)


def prepare(folder: Path) -> None:
    """Make a repository with a failing check, a workflow and a script."""
    for name in ("repo", "workflows", "home"):
        (folder / name).mkdir(parents=True)
    (folder / "workflows" / "two-steps.json").write_text(json.dumps(WORKFLOW))
    (folder / "script.yaml").write_text(SCRIPT)
    (folder / "repo" / "calc.py").write_text(CALC)
    (folder / "repo" / "check.py").write_text(CHECK)
    shims = {"git": GIT.format(real=shutil.which("git", path=os.defpath)), "checked": CHECKING}
    (folder / "bin").mkdir()
    for name, text in shims.items():
        shim = folder / "bin" / name
        shim.write_text(text)
        shim.chmod(0o755)
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "Begin")):
        git(folder / "repo", *words)


def prepare_checked(folder: Path) -> None:
    """As `prepare`, with a workflow whose last step declares a check."""
    prepare(folder)
    (folder / "workflows" / "two-steps.json").write_text(json.dumps(CHECKED))


def crashed_at(folder: Path, *moments: str, url: str | None = None) -> Left:
    """Run, die at each moment in turn, go on undisturbed, and return what is left.

    Events are counted from the run's first, all else from the first of their process. The store is
    a file in the folder, or the PostgreSQL at `url`. Raises MomentNotMet.
    """
    prepare_checked(folder)
    run, outcome = "new", ""
    for moment in (*moments, "never"):
        done = drive(run, folder, moment, url)
        told = done.stdout.split()
        run = told[0] if told else run
        dies = 0 if moment == "never" else -signal.SIGKILL
        if done.returncode == 0 != dies:
            raise MomentNotMet(f"{moment} was not met")
        assert done.returncode == dies, f"{moment}: {done.stdout}{done.stderr}"
        outcome = told[-1] if told else ""
    return left(folder, RunId(run), outcome, url)


class MomentNotMet(Exception):
    """The run ended before the moment to die came."""


def drive(run: str, folder: Path, moment: str, url: str | None) -> subprocess.CompletedProcess[str]:
    """Drive a run in a process of its own until it ends or dies."""
    with begin(run, folder, moment, url) as process:
        out, err = process.communicate(timeout=SECONDS_MAX)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def stopped_at(folder: Path, moment: str, url: str | None = None) -> tuple[Left, Left, str]:
    """Have a process stop at a moment for longer than its lease, and another end the run.

    Returns what is left before the first one wakes, what is left when it has ended, and what it
    says then.
    """
    prepare_checked(folder)
    with begin("new", folder, f"stop-{moment}", url, HEADWAY_LEASE_SECONDS="1") as zombie:
        try:
            assert zombie.stdout is not None
            run = RunId(zombie.stdout.readline().strip())
            _until_stopped(zombie)
            done = drive(run, folder, "never", url)
            assert done.returncode == 0, done.stderr
            outcome = done.stdout.split()[-1]
            before = left(folder, run, outcome, url)
            zombie.send_signal(signal.SIGCONT)
            out, err = zombie.communicate(timeout=SECONDS_MAX)
        finally:
            zombie.kill()
    return before, left(folder, run, outcome, url), out.strip() or err


def _until_stopped(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert process.poll() is None, f"it ended before its moment: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def begin(
    run: str, folder: Path, moment: str, url: str | None, **more: str
) -> subprocess.Popen[str]:
    """Begin a process that drives a run."""
    for name in ("gits", "checks"):
        (folder / name).write_text("0")
    environment = environment_of(folder, url, CRASH_FOLDER=str(folder), CRASH_AT=moment, **more)
    command = [sys.executable, "-m", "tests.support.run_process", run, str(folder), moment]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def environment_of(folder: Path, url: str | None, **more: str) -> dict[str, str]:
    """Return the environment of a process on the home in a folder."""
    environment = {
        "PATH": os.pathsep.join([str(folder / "bin"), os.defpath]),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "HEADWAY_HOME": str(folder / "home"),
        "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
        "HOME": str(folder),
        "HEADWAY_LEASE_SECONDS": "3600",  # nobody waits for the end of a dead process's lease
        **more,
    }
    if url is not None:
        environment["HEADWAY_DATABASE_URL"] = url
    return environment


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _opened(folder: Path, url: str | None) -> Store:
    clock, entropy = SystemClock(), SystemEntropy()
    if url is not None:
        return open_postgres(url, clock, entropy)
    return open_sqlite(folder / "home" / "headway.db", clock, entropy)


def left(folder: Path, run: RunId, outcome: str, url: str | None, *, of: int = 1) -> Left:
    """Return what a run left, one of so many on this home."""
    store = _opened(folder, url)
    try:
        events: list[RunEvent] = [each.event for each in store.queue.scan(run)]
        (session,) = {each.session for each in events if isinstance(each, SessionJoined)}
        kinds = [type(each.event).__name__ for each in store.ledger.scan(session_stream(session))]
        row = str(store.queue.find(run, 1).rows)
        streams = [each for each in store.records.streams() if each.startswith("session:")]
        assert session_stream(session) in streams
        assert len(streams) == of, "one run, one session"
    finally:
        store.close()
    branch = f"headway/two-steps/{run}"
    repo = folder / "repo"
    return Left(
        outcome=outcome,
        tree=git(repo, "rev-parse", f"{branch}^{{tree}}"),
        commits=int(git(repo, "rev-list", "--count", f"HEAD..{branch}")),
        session=tuple(
            kind
            for before, kind in pairwise(["", *kinds])
            if (before, kind) != (RECORDED_CHECKS, RECORDED_CHECKS)
        ),
        effects=Counter(
            line.partition(" ")[2]
            for line in (folder / "effects").read_text().splitlines()
            if line.startswith(run)
        ),
        events=len(events),
        row=row,
        store_commits=_counted(folder / "counts"),
        git_commands=_counted(folder / "gits"),
        checks=_counted(folder / "checks"),
    )


def _counted(file: Path) -> int:
    return int(file.read_text()) if file.exists() else 0
