"""Running git: no prompt, no editor, none of the variables that point it at another repository."""

import os
import subprocess
from collections.abc import Mapping
from typing import Final

from headway.domain.errors import PreconditionFailed

SECONDS_MAX: Final = 120.0
SAID_CHARS_MAX: Final = 600


class Git:
    """Runs git in a folder. `environment` is what it inherits."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "LC_ALL": "C",
        }

    def do(self, folder: str, *words: str, given: str = "", **variables: str) -> str:
        """Return what git prints. Raises PreconditionFailed when it fails or cannot be run."""
        try:
            done = subprocess.run(
                ["git", "-C", folder, *words],
                env=self._environment | variables,
                input=os.fsencode(given),
                capture_output=True,
                timeout=SECONDS_MAX,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise git_failed(folder, words[0], os.fsdecode(error.stderr).strip()) from error
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            raise git_failed(folder, words[0], str(error)) from error
        return os.fsdecode(done.stdout).strip()

    def ask(self, folder: str, *words: str, given: str = "") -> str | None:
        """Return what git prints, None when it fails: for questions with no for an answer."""
        try:
            return self.do(folder, *words, given=given)
        except PreconditionFailed:
            return None


def git_failed(folder: str, word: str, said: str) -> PreconditionFailed:
    """Return the fault of a git command that failed."""
    return PreconditionFailed(
        f"git {word} failed in {folder}: {said[:SAID_CHARS_MAX]}",
        remedy="Mend what git complains of and try again; nothing else was changed.",
        details={"kind": "git_failed", "folder": folder},
    )
