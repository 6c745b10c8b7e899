"""A disk that is really full, and files that may not grow: told, nothing lost, gone on with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import process, say, told

FILES_MAX = 400_000
DISK_BYTES = 2 << 20
BALLAST_BYTES = 1 << 20


def refused_and_gone_on(
    facts: dict[str, object], after: dict[str, object], said: str, remedy: str
) -> None:
    assert facts["fault"] == "STORE_UNAVAILABLE"
    assert said in str(facts["message"])
    assert remedy in str(facts["remedy"])
    kept = facts["kept"]
    assert isinstance(kept, int)
    assert kept > 0
    assert facts["found"] == kept
    assert after == {"found": kept, "version": kept + 1}


def test_files_that_may_not_grow_are_told_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "headway.db"
    with process("fill", path, f"--files={FILES_MAX}") as filling:
        facts = told(filling)
        say(filling)
        refused_and_gone_on(
            facts, told(filling), "could not be read or written", "limit on the size"
        )
        assert told(filling) == {"closed": True}
    with process("append", path, count=1) as other:
        assert told(other) == {"closed": True}


def small_disk(folder: Path) -> list[str]:
    """Return the command before one that is to have a small disk of its own at a folder.

    The disk is seen by that process alone and goes with it.
    """
    mount = f"mount -t tmpfs -o size={DISK_BYTES} none {folder} && "
    ballast = f"head -c {BALLAST_BYTES} /dev/zero > {folder}/ballast && "
    command = ["unshare", "--mount", "sh", "-c", mount + ballast + 'exec "$@"', "sh"]
    if os.geteuid() != 0:
        command[1:2] = ["--map-root-user", "--mount"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("this user may not mount a disk")
    return command


def test_a_disk_that_is_full_is_told_and_loses_nothing(tmp_path: Path) -> None:
    before = small_disk(tmp_path)
    with process("fill", tmp_path / "headway.db", before=before) as filling:
        facts = told(filling)
        say(filling)
        refused_and_gone_on(facts, told(filling), "no room left", "Free some space")
        assert told(filling) == {"closed": True}


def test_a_store_cannot_be_made_on_a_disk_that_is_full(tmp_path: Path) -> None:
    before = small_disk(tmp_path)
    before[-2] = (
        before[-2].replace(str(BALLAST_BYTES), str(DISK_BYTES)).replace(" && exec", "; exec")
    )
    with process("append", tmp_path / "headway.db", count=1, before=before) as other:
        facts = told(other)
    assert facts["fault"] == "STORE_UNAVAILABLE"
    assert "Free some space" in facts["remedy"]
