"""What the job leaves: the commit, the session, what it took, and whether all is as recorded."""

import re
from typing import Final

from headway.application.read_session import read_session
from headway.application.show_run import show_run
from headway.application.verify_store import verify_store
from headway.bootstrap import open_engine, open_runs
from headway.cli.demo.job import REPOSITORY, Job
from headway.cli.demo.shell import DemoFailedError
from headway.cli.demo.telling import Teller
from headway.cli.demo.watching import Watcher
from headway.cli.run_drawing import cost_lines
from headway.cli.style import fitted
from headway.cli.tree_drawing import draw_tree
from headway.cli.verify_command import verdict
from headway.config import Settings

DIFF_COLOURS: Final = (
    ("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"),
    ("-", "red"),
)  # fmt: skip
DIFF_LINES_MAX: Final = 200


def show_result(job: Job, watcher: Watcher) -> None:
    """Show it all. Raises DemoFailedError when the store is not as it was recorded, Fault."""
    _show_commit(job, watcher)
    if watcher.now.session is not None:
        show_session(job.settings, job.teller, watcher.now.session)
    _show_costs(job, watcher)
    show_verdict(job.settings, job.teller)


def _show_commit(job: Job, watcher: Watcher) -> None:
    committed, place = watcher.now.committed, watcher.now.worktree
    if committed is None or committed.commit is None or place is None:
        return
    words = ["show", "--format=%B", str(place.branch)]
    job.teller.command("git", ["-C", REPOSITORY, *words])
    ran = job.shell.git(*words)
    if ran.code:
        raise DemoFailedError(f"`{ran.command}` failed: {ran.output}")
    style = job.teller.style
    text = re.sub(r"\n{2,}", "\n\n", ran.output.strip())
    for line in text.splitlines()[:DIFF_LINES_MAX]:
        colour = next((name for begins, name in DIFF_COLOURS if line.startswith(begins)), "")
        shown = fitted(line, style.width, style)
        job.teller.write(style.paint(shown, colour) if colour else shown)


def _show_costs(job: Job, watcher: Watcher) -> None:
    with open_runs(job.settings) as runs:
        shown = show_run(runs, str(watcher.run))
    aside = "(tokens and money as the script has them)" if job.is_scripted else ""
    job.teller.title("What it took", aside)
    _, *lines = cost_lines(shown, job.teller.style)  # the first one is empty
    for line in lines:
        job.teller.write(line)


def show_session(settings: Settings, teller: Teller, session: str | None = None) -> str:
    """Show the tree of a session, None being the latest, and return its status."""
    teller.title("$ headway sessions tree")
    with open_engine(settings) as engine:
        read = read_session(engine, session)
    for line in draw_tree(read.tree, teller.style):
        teller.write(line)
    return read.summary.status


def show_verdict(settings: Settings, teller: Teller) -> None:
    """Show whether the store is as it was recorded. Raises DemoFailedError when it is not."""
    teller.title("$ headway verify")
    with open_engine(settings) as engine:
        report = verify_store(engine)
    teller.write(teller.style.paint(verdict(report), "red" if report.problems else "green"))
    if report.problems:
        raise DemoFailedError("The store is not as it was recorded.")
