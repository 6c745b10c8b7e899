"""`headway demo`, as a person runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS_MAX = 120


def demo(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headway", "demo", *options],
        env={**os.environ, "TMPDIR": str(folder), "PYTHONIOENCODING": "utf-8", **environment},  # noqa: TID251
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )


def test_the_demo_is_refused_once_survives_a_kill_and_finishes(tmp_path: Path) -> None:
    ran = demo(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = ran.stdout
    steps = ("reproduce", "diagnose", "fix", "verify", "report")
    places = [told.index(f"({step})") for step in steps]
    assert places == sorted(places)

    first = re.findall(r"headway up serves MCP at \S+, process (\d+)", told)
    second = re.findall(r"headway up again, process (\d+)", told)
    assert re.findall(r"kill -9 (\d+): gone", told) == first
    assert len(second) == 1
    assert second != first
    assert places[2] < told.index("kill -9") < told.index("headway up again") < places[3]
    for pid in (*first, *second):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)

    assert told.count("BLOCKED: MISSING_REQUIRED_OUTPUT") == 1
    assert "To do: " in told

    tree = told[told.index("$ headway sessions tree") :]
    for step in steps:
        assert re.search(rf"[├└]─ ✔ .*\({step}\)", tree)
    assert re.search(r"│  ├─ ✖ blocked, MISSING_REQUIRED_OUTPUT: ", tree)
    assert re.search(r"└─ ■ complete", tree)
    assert re.search(r"\$ headway verify\nAll is as recorded: 1 session, \d+ events, ", tree)
    assert all(client in tree for client in ("Claude Code", "Codex", "VS Code", "Cursor"))
    assert "\x1b" not in told
    assert not list(tmp_path.iterdir())


def test_settings_of_this_process_do_not_reach_the_demo(tmp_path: Path) -> None:
    ran = demo(tmp_path, HEADWAY_GATES="enforce", HEADWAY_TOKEN="a-token-of-another-server")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "the workflow is complete" in ran.stdout


def test_what_is_kept_is_really_there(tmp_path: Path) -> None:
    ran = demo(tmp_path, "--keep")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (folder,) = tmp_path.iterdir()
    assert str(folder) in ran.stdout
    assert f"export HEADWAY_HOME={folder / 'home'}\n" in ran.stdout, "never cut"
    assert re.search(r"\S*headway sessions tree\n", ran.stdout)
    assert "divmod" in (folder / "splitbill" / "splitbill" / "shares.py").read_text("utf-8")
    tree = subprocess.run(
        [sys.executable, "-m", "headway", "sessions", "tree"],
        env={**os.environ, "HEADWAY_HOME": str(folder / "home"), "PYTHONIOENCODING": "ascii"},  # noqa: TID251
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert tree.returncode == 0, tree.stderr
    assert "`- = complete" in tree.stdout


def test_without_git_the_demo_fails_and_says_so(tmp_path: Path) -> None:
    ran = demo(tmp_path, PATH=str(tmp_path))
    assert ran.returncode == 1
    assert "git is not installed" in ran.stderr
    assert not list(tmp_path.iterdir())
