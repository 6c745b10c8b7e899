"""Running git: no prompt, no editor, none of the variables that point it at another repository.

What a person has set for his own work must not decide whether a run's work is kept: hooks do not
run, and settings that make git refuse, or print otherwise than it is read here, are overruled. How
files are stored (line endings, filters) stays as he set it.
"""

import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from headway.adapters.git.missing import GitMissing, git_missing
from headway.domain.errors import PreconditionFailed

SECONDS_MAX: Final = 120.0
SAID_CHARS_MAX: Final = 600
OVERRULED: Final = (
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "core.fsmonitor=false",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "trailer.separators=:",
    "color.ui=never",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.suppressBlankEmpty=false",
    "submodule.recurse=false",
)
SETTINGS: Final = tuple(word for setting in OVERRULED for word in ("-c", setting))


class Git:
    """Runs git in a folder. `environment` is what it inherits."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "GIT_OPTIONAL_LOCKS": "0",  # a look must not be in the way of who works there
            "LC_ALL": "C",
        }
        self._alone = threading.local()  # the lock that this thread holds

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        """Have a repository for this alone, among all processes of Headway.

        Two that add or prune worktrees at once fail: each reads what the other has half written. So
        does one that commits while a git left by a dead worker still does. The lock is the
        system's, on the repository's own folder. It goes with whoever holds it: with us, and with a
        git of ours that outlives us. Raises PreconditionFailed.
        """
        words = ("rev-parse", "--path-format=absolute", "--git-common-dir")
        descriptor = os.open(self.do(folder, *words), os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._alone.held = (descriptor,)
            yield
        finally:
            self._alone.held = ()
            os.close(descriptor)

    def do(self, folder: str, *words: str, given: str = "", **variables: str) -> str:
        """Return what git prints. Raises PreconditionFailed when it fails or cannot be run."""
        return os.fsdecode(self.raw(folder, *words, given=os.fsencode(given), **variables)).strip()

    def raw(self, folder: str, *words: str, given: bytes = b"", **variables: str) -> bytes:
        """Return what git prints, as it stands; see `do`."""
        try:
            process = subprocess.Popen(
                ["git", *SETTINGS, "-C", folder, *words],
                env=self._environment | variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=getattr(self._alone, "held", ()),
                start_new_session=True,
            )
            with process:
                printed, said = _ended(process, given)
        except subprocess.TimeoutExpired as error:
            problem = f"it did not end within {SECONDS_MAX:.0f} s"
            raise git_failed(folder, words[0], problem) from error
        except (FileNotFoundError, PermissionError) as error:
            raise git_missing(error) from error
        except (OSError, ValueError) as error:
            raise git_failed(folder, words[0], str(error)) from error
        if process.returncode:
            raise git_failed(folder, words[0], os.fsdecode(said).strip())
        return printed

    def ask(self, folder: str, *words: str, given: str = "") -> str | None:
        """Return what git prints, None when it fails: for questions with no for an answer.

        Raises GitMissing.
        """
        try:
            return self.do(folder, *words, given=given)
        except GitMissing:
            raise
        except PreconditionFailed:
            return None


def _ended(process: subprocess.Popen[bytes], given: bytes) -> tuple[bytes, bytes]:
    """Return what a git printed and said; one that does not end is killed, whatever it began.

    A filter that outlived its git would hold the lock of `alone` for as long as it likes.
    """
    try:
        return process.communicate(given, SECONDS_MAX)
    except BaseException:
        with suppress(ProcessLookupError):  # it has ended just now
            os.killpg(process.pid, signal.SIGKILL)
        raise


def git_failed(folder: str, word: str, said: str) -> PreconditionFailed:
    """Return the fault of a git command that failed; `said` stands in its details, too."""
    return PreconditionFailed(
        f"git {word} failed in {folder}: {said[:SAID_CHARS_MAX]}",
        remedy="Mend what git complains of and try again; nothing else was changed.",
        details={"kind": "git_failed", "folder": folder, "said": said[:SAID_CHARS_MAX]},
    )
