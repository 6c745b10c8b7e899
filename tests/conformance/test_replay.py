"""Recorded runs through the front door: the MCP server over stdio, as a client meets it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.traces import SHARED, require_shared
from tests.support.postgres import require_url, schema

CI = os.environ.get("CI") == "true"  # noqa: TID251  on CI a skip is a failure
SECONDS_MAX = 170
IN_PROCESS = f"{sys.executable} -m headway mcp --in-process"
RELAYED = Path(__file__).parents[1] / "support" / "relayed_mcp.py"


def test_all_recorded_runs_agree_over_stdio() -> None:
    replay()


def test_all_recorded_runs_agree_on_postgresql() -> None:
    with schema(require_url()) as url:
        replay(HEADWAY_DATABASE_URL=url)


def test_all_recorded_runs_agree_through_the_relay() -> None:
    replay(f"{sys.executable} {RELAYED}")


def replay(server: str = IN_PROCESS, **settings: str) -> None:
    require_shared(ci=CI)
    ran = subprocess.run(
        [
            sys.executable,
            str(SHARED / "replay.py"),
            "--server",
            server,
            "--verbose",
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        env={**os.environ, **settings},  # noqa: TID251
    )
    assert "traces agreed 115/115" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0
