"""What a whole run leaves in the store: proven, and without what nobody is to see."""

import re
from pathlib import Path

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.sqlite import open_sqlite
from headway.application.verify_store import verify_store
from headway.bootstrap import engine_on
from headway.config import Settings
from headway.domain.ids import RunId, run_stream
from tests.support.crashed_runs import drive, prepare

TOKEN = re.compile(rb"\b(?:ct|ck|st)_[A-Za-z0-9_-]{24}")
HUNDRED = 100


def test_no_token_stands_in_anything_that_a_run_keeps(tmp_path: Path) -> None:
    prepare(tmp_path)
    done = drive("new", tmp_path, "never", None)
    run, *_, outcome = done.stdout.split()
    assert outcome == "success", done.stderr
    clock, entropy = SystemClock(), SystemEntropy()
    store = open_sqlite(tmp_path / "home" / "headway.db", clock, entropy)
    try:
        settings = Settings(home=tmp_path / "home", user_home=tmp_path)
        report = verify_store(engine_on(settings, store, clock, entropy))
        assert report.problems == ()
        rows = store.records.events(run_stream(RunId(run)), 0, HUNDRED)
        blobs = [store.records.blob(name) for name in store.records.blobs()]
    finally:
        store.close()
    kept = [row.data for row in rows] + blobs
    assert 40 < len(rows) < HUNDRED
    assert all(isinstance(each, bytes) for each in kept)
    assert not [each for each in kept if isinstance(each, bytes) and TOKEN.search(each)]
