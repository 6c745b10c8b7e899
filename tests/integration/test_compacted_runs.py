"""A run in a real repository whose conversation is summed up, killed before and after that."""

import signal
from pathlib import Path

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.sqlite import open_sqlite
from headway.domain.ids import RunId
from headway.domain.runs.events import CompactionAsked, ConversationCompacted, RunEvent
from tests.support.crashed_runs import SCRIPT, drive, git, prepare

BESIDE = """
traits: {window: 1000}
summary: check.py failed since add subtracts; notes.txt says so. It is being mended.
"""


def long_script() -> str:
    """Return the script of the crash matrix, with a model whose window is full at every turn."""
    usage = "usage: {input_tokens: 900, output_tokens: 10}\n    calls:"
    return SCRIPT.replace("calls:", usage) + BESIDE


def events_of(folder: Path, run: str) -> list[RunEvent]:
    store = open_sqlite(folder / "home" / "headway.db", SystemClock(), SystemEntropy())
    try:
        return [each.event for each in store.queue.scan(RunId(run))]
    finally:
        store.close()


def driven(folder: Path, *moments: str) -> tuple[str, list[RunEvent]]:
    """Run, die at each moment in turn, go on undisturbed; return the tree left, and the events."""
    prepare(folder)
    (folder / "script.yaml").write_text(long_script())
    run = outcome = "new"
    for moment in (*moments, "never"):
        done = drive(run, folder, moment, None)
        assert done.returncode == (0 if moment == "never" else -signal.SIGKILL), done.stderr
        told = done.stdout.split()
        run, outcome = told[0], told[-1]
    assert outcome == "success"
    tree = git(folder / "repo", "rev-parse", f"headway/two-steps/{run}^{{tree}}")
    return tree, events_of(folder, run)


def test_a_run_killed_around_a_compaction_leaves_what_an_undisturbed_one_does(
    tmp_path: Path,
) -> None:
    tree, events = driven(tmp_path / "calm")
    kinds = [type(each) for each in events]
    asked = kinds.index(CompactionAsked) + 1
    assert kinds[asked] is ConversationCompacted
    for moment in (asked - 1, asked, asked + 1):
        folder = tmp_path / str(moment)
        again, disturbed = driven(folder, f"event:{moment}")
        assert again == tree
        compacted = [each for each in disturbed if isinstance(each, ConversationCompacted)]
        assert [(each.first, each.last) for each in compacted] == [(1, 4)]
