"""The scripted agent's hands: it runs real commands in the sample repository."""

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

COMMAND_SECONDS_MAX: Final = 30


class DemoFailedError(Exception):
    """Something did not go as the demo tells it; the message says what."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run: as a person would type it, its exit code and all it printed."""

    command: str
    code: int
    output: str

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of the output that are not empty."""
        return [line.rstrip() for line in self.output.splitlines() if line.strip()][-count:]

    def quoted(self, count: int = 12) -> str:
        """Return the command with the end of its output, as it stands in notes."""
        return "\n".join(["```", f"$ {self.command}", *self.last_lines(count), "```"])


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a folder, away from this person's git settings."""

    folder: Path
    environment: Mapping[str, str]

    def python(self, *arguments: str) -> Ran:
        """Run this Python; a person would type `python`."""
        return self._run([sys.executable, *arguments], ["python", *arguments])

    def git(self, *arguments: str) -> Ran:
        """Run git."""
        return self._run(["git", *arguments], ["git", *arguments])

    def _run(self, command: list[str], typed: list[str]) -> Ran:
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_SECONDS_MAX,
                check=False,
            )
        except FileNotFoundError as error:
            raise DemoFailedError(f"{command[0]} is not installed; the demo needs it.") from error
        except subprocess.TimeoutExpired as error:
            raise DemoFailedError(
                f"`{shlex.join(typed)}` did not end within {COMMAND_SECONDS_MAX} seconds."
            ) from error
        output = done.stdout.decode("utf-8", "replace")
        return Ran(shlex.join(typed), done.returncode, output)

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in self.environment.items()
            if not name.startswith(("GIT_", "PYTHON"))
        }
        return kept | {
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
