"""Running git on what strangers wrote: no prompt, no hook, no helper, bounded in time and size.

git and all it starts form a group of their own, without a terminal to ask on; the whole group is
ended when the time is over or the folder has grown too large. What git prints and says goes to
files there, so that it is bounded too.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headway.adapters.git.missing import git_missing

LOOK_SECONDS: Final = 0.2  # between looks at the size
SAID_BYTES_MAX: Final = 2_000
GIVEN, PRINTED, SAID = "given", "printed", "said"  # files in the folder
SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.interactive=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # A repository that has moved is told, not silently taken from elsewhere.
    "http.followRedirects=false",
)


class TooSlow(Exception):
    """git was ended because its time was over."""


class TooLarge(Exception):
    """git was ended because it brought too much."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long git may run, and how many bytes it may bring."""

    seconds: float = 120.0
    size: int = 200_000_000


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run of git ended: its exit code and what it printed and said."""

    code: int
    printed: bytes
    said: str


class Git:
    """Runs git in a folder; `protocol` is the only one it may fetch by.

    `environment` is what it inherits, less all that git itself reads.
    """

    def __init__(
        self, folder: Path, environment: Mapping[str, str], protocol: str, limits: Limits
    ) -> None:
        kept = {name: text for name, text in environment.items() if not name.startswith("GIT_")}
        self._folder = folder
        self._limits = limits
        self._environment = kept | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": protocol,
            "GIT_NO_LAZY_FETCH": "1",
            "SSH_ASKPASS_REQUIRE": "never",
            "LC_ALL": "C",
        }

    def run(self, *arguments: str, given: bytes = b"") -> Ran:
        """Run git with these arguments. Raises GitMissing, TooSlow, TooLarge."""
        settings = [part for each in SETTINGS for part in ("-c", each)]
        (self._folder / GIVEN).write_bytes(given)
        with (
            (self._folder / GIVEN).open("rb") as into,
            (self._folder / PRINTED).open("wb") as out,
            (self._folder / SAID).open("wb") as errors,
        ):
            try:
                process = subprocess.Popen(
                    ["git", *settings, *arguments],
                    cwd=self._folder,
                    env=self._environment,
                    stdin=into,
                    stdout=out,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                raise git_missing(error) from error
            with process:
                self._watch(process)
        with (self._folder / SAID).open("rb") as file:
            said = file.read(SAID_BYTES_MAX).decode(errors="replace")
        return Ran(process.returncode, (self._folder / PRINTED).read_bytes(), said)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        ends_at = time.monotonic() + self._limits.seconds
        try:
            while True:
                try:
                    process.wait(LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if time.monotonic() > ends_at:
                        raise TooSlow from None
                    self._refuse_too_large()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # with its helpers, which would outlive it
            raise
        self._refuse_too_large()

    def _refuse_too_large(self) -> None:
        if _size(self._folder) > self._limits.size:
            raise TooLarge


def _size(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(where, name).stat().st_size
            except FileNotFoundError:  # git's own temporary file
                continue
    return total
