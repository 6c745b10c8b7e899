"""`headway mcp` typed by a person, who would otherwise wait before an empty line."""

import os
import pty
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.patience import SECONDS_MAX
from tests.support.up import environment, up


@pytest.mark.parametrize("served", [False, True], ids=["by itself", "through a server"])
def test_a_person_who_types_mcp_is_told_what_it_waits_for(tmp_path: Path, *, served: bool) -> None:
    with up(tmp_path) if served else nullcontext():
        ours, its = pty.openpty()
        with (
            os.fdopen(ours, "wb", buffering=0) as keyboard,
            subprocess.Popen(
                [sys.executable, "-m", "headway", "mcp"],
                env=environment(tmp_path),
                stdin=its,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as process,
        ):
            os.close(its)
            keyboard.write(b"\x04")
            out, told = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0
    assert out == b""
    assert told.decode().startswith("Waiting for an MCP client on stdin;")
    assert "headway mcp --help" in told.decode()
