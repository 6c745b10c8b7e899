"""Recorded runs through the front doors: MCP over stdio and over HTTP, as a client meets it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.traces import SHARED, require_shared
from tests.support.postgres import require_url, schema
from tests.support.up import up

CI = os.environ.get("CI") == "true"  # noqa: TID251  on CI a skip is a failure
SECONDS_MAX = 170
RELAYED = Path(__file__).parents[1] / "support" / "relayed_mcp.py"


def test_all_recorded_runs_agree_over_stdio() -> None:
    replay()


def test_all_recorded_runs_agree_on_postgresql() -> None:
    with schema(require_url()) as url:
        replay(HEADWAY_DATABASE_URL=url)


def test_all_recorded_runs_agree_over_http(tmp_path: Path) -> None:
    replay_over_http(tmp_path)


def test_all_recorded_runs_agree_over_http_on_postgresql(tmp_path: Path) -> None:
    with schema(require_url()) as url:
        replay_over_http(tmp_path, HEADWAY_DATABASE_URL=url)


def test_all_recorded_runs_agree_through_the_relay() -> None:
    agree("--server", f"{sys.executable} {RELAYED}")


def replay(**settings: str) -> None:
    agree("--server", f"{sys.executable} -m headway mcp --in-process", **settings)


def replay_over_http(root: Path, **settings: str) -> None:
    require_shared(ci=CI)
    with up(root, HEADWAY_WORKFLOW_PATH=str(SHARED / "workflows"), **settings) as server:
        agree("--url", f"{server.url}/mcp")


def agree(*words: str, **settings: str) -> None:
    require_shared(ci=CI)
    ran = subprocess.run(
        [sys.executable, str(SHARED / "replay.py"), *words, "--verbose"],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        env={**os.environ, **settings},  # noqa: TID251
    )
    assert "traces agreed 115/115" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0
