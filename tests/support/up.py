"""A real `headway up` in a process of its own, which can be killed and started again."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT_SECONDS_MAX = 60


class Up:
    """The server of one home; each start takes any free port."""

    def __init__(self, root: Path, **environment: str) -> None:
        self.environment = {
            **os.environ,  # noqa: TID251
            "HOME": str(root),
            "HEADWAY_HOME": str(root / "home"),
            "HEADWAY_WORKFLOW_PATH": str(root / "files"),
            **environment,
        }
        self.log = root / "up.log"
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def start(self) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headway", "up", "--port", "0", "--json"],
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
                text=True,
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self.log.read_text("utf-8")
        self.port = json.loads(said)["port"]

    def kill(self) -> None:
        """Kill the server as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate(timeout=WAIT_SECONDS_MAX)
            self.process = None


@contextmanager
def up(root: Path, **environment: str) -> Iterator[Up]:
    server = Up(root, **environment)
    server.start()
    try:
        yield server
    finally:
        server.kill()
