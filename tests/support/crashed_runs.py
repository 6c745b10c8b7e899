"""A scripted run on a real repository, killed at a moment and gone on with: what is left of it."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.ids import RunId, session_stream
from headway.domain.runs.events import RunEvent, SessionJoined

ROOT = Path(__file__).parents[2]
SECONDS_MAX = 120
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
CALC = "def add(a, b):\n    return a - b\n"
CHECK = "from calc import add\nassert add(2, 2) == 4\nprint('all is well')\n"
# Each turn looks at what came of the one before, and does what was cut off again by other means.
SCRIPT = """
turns:
  - name: look
    calls:
      - bash: {command: "python3 check.py; cat calc.py"}
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


@dataclass(frozen=True)
class Left:
    """What a run leaves; all but `effects` and `events` is the same when it was disturbed."""

    outcome: str
    tree: str
    commits: int
    session: tuple[str, ...]
    effects: Counter[str]
    events: int


def prepare(folder: Path) -> None:
    """Make a repository with a failing check, a workflow and a script."""
    for name in ("repo", "workflows", "home"):
        (folder / name).mkdir(parents=True)
    (folder / "workflows" / "two-steps.json").write_text(json.dumps(WORKFLOW))
    (folder / "script.yaml").write_text(SCRIPT)
    (folder / "repo" / "calc.py").write_text(CALC)
    (folder / "repo" / "check.py").write_text(CHECK)
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "Begin")):
        git(folder / "repo", *words)


def crashed_at(folder: Path, *moments: str, url: str | None = None) -> Left:
    """Run, die at each moment in turn, go on undisturbed, and return what is left.

    Events are counted from the run's first, effects from the first of their process. The store is
    a file in the folder, or the PostgreSQL at `url`.
    """
    prepare(folder)
    run, outcome = "new", ""
    for moment in (*moments, "never"):
        done = drive(run, folder, moment, url)
        told = done.stdout.split()
        run = told[0]
        dies = 0 if moment == "never" else -signal.SIGKILL
        assert done.returncode == dies, f"{moment} was not met: {done.stdout}{done.stderr}"
        outcome = told[-1]
    return _left(folder, RunId(run), outcome, url)


def drive(run: str, folder: Path, moment: str, url: str | None) -> subprocess.CompletedProcess[str]:
    """Drive a run in a process of its own until it ends or dies."""
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "HEADWAY_HOME": str(folder / "home"),
        "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
        "HOME": str(folder),
    }
    if url is not None:
        environment["HEADWAY_DATABASE_URL"] = url
    command = [sys.executable, "-m", "tests.support.run_process", run, str(folder), moment]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX,
        check=False,
    )  # fmt: skip


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _opened(folder: Path, url: str | None) -> Store:
    clock, entropy = SystemClock(), SystemEntropy()
    if url is not None:
        return open_postgres(url, clock, entropy)
    return open_sqlite(folder / "home" / "headway.db", clock, entropy)


def _left(folder: Path, run: RunId, outcome: str, url: str | None) -> Left:
    store = _opened(folder, url)
    try:
        events: list[RunEvent] = [each.event for each in store.queue.scan(run)]
        (session,) = {each.session for each in events if isinstance(each, SessionJoined)}
        kinds = [type(each.event).__name__ for each in store.ledger.scan(session_stream(session))]
        streams = [each for each in store.records.streams() if each.startswith("session:")]
        assert streams == [session_stream(session)], "one run, one session"
    finally:
        store.close()
    branch = f"headway/two-steps/{run}"
    repo = folder / "repo"
    return Left(
        outcome=outcome,
        tree=git(repo, "rev-parse", f"{branch}^{{tree}}"),
        commits=int(git(repo, "rev-list", "--count", f"HEAD..{branch}")),
        session=tuple(kinds),
        effects=Counter((folder / "effects").read_text().split("\n")),
        events=len(events),
    )
