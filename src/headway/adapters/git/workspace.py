"""A workspace on this machine: what git says of it, and where a workflow's references point.

Nothing here changes the workspace, and only `require_git` fails: where git is missing, slow or has
nothing to say, the facts are None. git sees none of the variables that would point it at another
repository. What it said of a folder is kept until HEAD moves: starting a process takes longer than
all else that a session's start does.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.adapters.git.head_mark import HeadMark, head_mark
from headway.adapters.git.missing import git_missing
from headway.domain.events import GitFacts, ReferenceStatus
from headway.domain.ids import Digest, digest
from headway.domain.workflow import Reference

GIT_SECONDS_MAX: Final = 5.0
FOLDERS_KEPT_MAX: Final = 256
COMMON_DIR: Final = ("rev-parse", "--path-format=absolute", "--git-common-dir")
NO_FACTS: Final = GitFacts()
PACKAGE: Final = Path(__file__).parents[2]
BARE_ENVIRONMENT: Final[Mapping[str, str]] = {"PATH": os.defpath}


class GitWorkspace:
    """Looks at folders with git and the file system.

    `environment` is what git inherits, less its own variables; `package` is the base of references
    with `resolveFrom: package`.
    """

    def __init__(
        self, environment: Mapping[str, str] = BARE_ENVIRONMENT, package: Path = PACKAGE
    ) -> None:
        self._package = package
        kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._environment = kept | {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        self._kept: dict[str, tuple[HeadMark, GitFacts]] = {}

    def exists(self, path: str) -> bool:
        """Tell whether the path is a folder."""
        try:
            return Path(path).is_dir()
        except (OSError, ValueError):
            return False

    def git_facts(self, path: str) -> GitFacts:
        """Return branch, head and repository; all None where git has nothing to say in time."""
        mark = head_mark(path)
        kept = self._kept.get(path)
        if kept is not None and mark == kept[0]:
            return kept[1]
        facts = self._ask(path)
        if mark is not None and facts.head is not None and mark == head_mark(path):
            if len(self._kept) >= FOLDERS_KEPT_MAX:
                self._kept.clear()
            self._kept[path] = mark, facts
        return facts

    def require_git(self) -> None:
        """Raise PreconditionFailed where git cannot be run."""
        try:
            subprocess.run(
                ["git", "--version"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=GIT_SECONDS_MAX,
                check=False,
            )
        except OSError as error:
            raise git_missing(error) from error
        except subprocess.TimeoutExpired:  # it is there
            return

    def _ask(self, path: str) -> GitFacts:
        # One call answers everything but the branch of a repository without commits.
        code, lines = self._git(path, *COMMON_DIR, "HEAD", "--abbrev-ref", "HEAD")
        match code, lines:
            case 0, [common, head, branch]:
                return GitFacts(
                    branch=None if branch == "HEAD" else branch,
                    head=head,
                    repository=_repository(common),
                )
            case int(), [common, *_] if Path(common).is_absolute():
                _, unborn = self._git(path, "symbolic-ref", "--quiet", "--short", "HEAD")
                return GitFacts(
                    branch=unborn[0] if unborn else None, repository=_repository(common)
                )
            case _:
                return NO_FACTS

    def resolve(self, path: str, references: tuple[Reference, ...]) -> tuple[ReferenceStatus, ...]:
        """Say for each reference where it points and whether a file is there, inside its base."""
        return tuple(self._resolve(Path(path), reference) for reference in references)

    def _resolve(self, workspace: Path, reference: Reference) -> ReferenceStatus:
        base = self._package if reference.resolve_from == "package" else workspace
        try:
            root = base.resolve()
            target = (base / reference.source).resolve()
            found = target.is_relative_to(root) and target.is_file()
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL, a name too long
            found, target = False, base
        shown = str(target) if found else str(base / reference.source)
        return ReferenceStatus(id=reference.id, resolved=found, path=shown)

    def _git(self, path: str, *arguments: str) -> tuple[int | None, list[str]]:
        """Return git's exit code (None when it did not run) and the lines it printed."""
        try:
            done = subprocess.run(
                ["git", *arguments],
                cwd=path,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=GIT_SECONDS_MAX,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None, []
        return done.returncode, os.fsdecode(done.stdout).splitlines()


def _repository(common_dir: str) -> Digest:
    return digest(os.fsencode(os.path.realpath(common_dir)))
