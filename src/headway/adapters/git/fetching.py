"""Fetching the workflow files of a git repository into the home folder.

Nothing is ever checked out: the files are read from git's own store and written here, so no
filter, hook, link or submodule of a repository has any effect, and no name leads out of the folder.
The tree of a commit appears under its name at one stroke, and is never changed afterwards.
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headway.adapters.git.running import Git, Limits, TooLarge, TooSlow
from headway.domain.errors import PreconditionFailed
from headway.domain.git_addresses import is_inside, protocol_of
from headway.domain.masking import masked
from headway.ports.sources import FETCHED, Fetched, GitSource

SUFFIXES: Final = (".json", ".yaml", ".yml")
FILES_MAX: Final = 2_000
FILE_BYTES_MAX: Final = 1_000_000
PLAIN_FILES: Final = ("100644", "100664", "100755")
TREE: Final = "tree"
IN_REPOSITORY: Final = ("--git-dir", "repository")
SAID_SHOWN_MAX: Final = 300
NAME_SHOWN_MAX: Final = 200
LEFT_OUT_SHOWN_MAX: Final = 20
REMEDIES: Final = {
    "git_unreachable": "Check the address, the network and your access (`git ls-remote ADDRESS`); "
    "for one that has moved, remove the source and add it at its new address.",
    "git_ref": "Name a branch, a tag or a commit that is there with --ref.",
    "git_empty": "Name the folder that holds the workflow files with --path.",
    "git_large": "Keep workflow files in a repository, or on a branch, of their own.",
    "git_slow": "Try again, or keep workflow files in a smaller repository of their own.",
    "git_disk": "Make room, or let this user write there.",
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    blob: str  # the name of the object that holds its bytes
    size: int


@dataclass(frozen=True, slots=True)
class _Listed:
    files: tuple[_File, ...]
    left_out: tuple[str, ...]


class GitFetching:
    """Implements `ports.sources.GitFetcher` with the git program, under a home folder."""

    def __init__(
        self, home: Path, environment: Mapping[str, str], limits: Limits | None = None
    ) -> None:
        self._home = home
        self._environment = environment
        self._limits = limits or Limits()

    def fetch(self, source: GitSource) -> Fetched:
        """Fetch what a source's ref is now. Raises PreconditionFailed; then nothing has changed."""
        kept = self._home / FETCHED / source.id
        try:
            kept.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".new-", dir=kept) as name:
                return self._fetched(source, Path(name), kept)
        except TooSlow as error:
            raise _failed(
                source, "git_slow", f"took longer than {self._limits.seconds:.0f} seconds"
            ) from error
        except TooLarge as error:
            raise _failed(
                source, "git_large", f"brings more than {self._limits.size:,} bytes"
            ) from error
        except OSError as error:
            raise _failed(
                source, "git_disk", f"cannot be kept under {kept}: {error.strerror or error}"
            ) from error
        finally:
            with contextlib.suppress(OSError):  # holds another commit's files
                kept.rmdir()

    def prune(self, source_id: str, commit: str) -> None:
        """Remove the files of every other commit of a source; of all of them when it is empty."""
        kept = self._home / FETCHED / source_id
        for tree in kept.iterdir() if kept.is_dir() else ():
            if _COMMIT.fullmatch(tree.name) and tree.name != commit:
                shutil.rmtree(tree)
        with contextlib.suppress(OSError):  # the commit in use is in it
            kept.rmdir()

    def _fetched(self, source: GitSource, folder: Path, kept: Path) -> Fetched:
        git = Git(folder, self._environment, protocol_of(source.url), self._limits)
        commit = _commit_of(git, source)
        listed = _listed(git, source, commit)
        if not listed.files:
            where = f"under {source.path}" if source.path else "in it"
            raise _failed(source, "git_empty", f"has no workflow file {where}")
        _write(folder / TREE, listed.files, _contents(git, source, listed.files))
        if not (kept / commit).is_dir():
            (folder / TREE).rename(kept / commit)
        return Fetched(commit=commit, files=len(listed.files), left_out=listed.left_out)


def _commit_of(git: Git, source: GitSource) -> str:
    """Fetch the one commit and return its name."""
    made = git.run("init", "--quiet", "--bare", "--template=", "repository")
    if made.code:
        raise _failed(source, "git_failed", f"could not be begun: {_shown(made.said)}")
    ran = git.run(
        *IN_REPOSITORY, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
        "--no-write-commit-graph", "--", source.url, source.ref or "HEAD",
    )  # fmt: skip
    if ran.code:
        raise _failed(source, "git_unreachable", f"could not be fetched: {_shown(ran.said)}")
    found = git.run(*IN_REPOSITORY, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
    commit = found.printed.decode(errors="replace").strip()
    if found.code or not _COMMIT.fullmatch(commit):
        raise _failed(source, "git_ref", f"has no commit {source.ref or 'HEAD'}")
    return commit


def _listed(git: Git, source: GitSource, commit: str) -> _Listed:
    """Return the workflow files of a commit; links, submodules and other files are passed over."""
    ran = git.run(*IN_REPOSITORY, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    if ran.code:
        raise _failed(source, "git_failed", f"could not be read: {_shown(ran.said)}")
    files: list[_File] = []
    left_out: list[str] = []
    below = f"{source.path}/" if source.path else ""
    for line in ran.printed.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        path = name.decode(errors="surrogateescape")
        if not path.endswith(SUFFIXES) or not path.startswith(below):
            continue
        mode, _, blob, size = facts.decode().split()
        if mode not in PLAIN_FILES:
            continue
        if not is_inside(path):
            left_out.append(f"{path[:NAME_SHOWN_MAX]!a} is no name to write.")
            continue
        files.append(_File(path, blob, int(size)))
    if len(files) > FILES_MAX:
        raise _failed(source, "git_large", f"has more than {FILES_MAX:,} workflow files")
    return _Listed(tuple(files), tuple(left_out[:LEFT_OUT_SHOWN_MAX]))


def _contents(git: Git, source: GitSource, files: tuple[_File, ...]) -> dict[str, bytes]:
    """Return the bytes of every object that is not too large to be a workflow."""
    wanted = {file.blob: file.size for file in files if file.size <= FILE_BYTES_MAX}
    given = "".join(f"{blob}\n" for blob in wanted)
    ran = git.run(*IN_REPOSITORY, "cat-file", "--batch", given=given.encode())
    found: dict[str, bytes] = {}
    at = 0
    for blob, size in wanted.items():
        header = f"{blob} blob {size}\n".encode()
        if not ran.printed.startswith(header, at):
            raise _failed(source, "git_failed", f"could not be read: {_shown(ran.said)}")
        at += len(header)
        found[blob] = ran.printed[at : at + size]
        at += size + 1
    return found


def _write(tree: Path, files: tuple[_File, ...], contents: dict[str, bytes]) -> None:
    """Write files; one that is too large is there with its size, for the catalogue to refuse."""
    tree.mkdir()
    for file in files:
        path = tree / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as opened:
            opened.write(contents.get(file.blob, b""))
            opened.truncate(file.size)
            opened.flush()
            os.fsync(opened.fileno())


def _shown(said: str) -> str:
    """Return what git said as one line that holds no secret."""
    text = " ".join(masked(said).split())
    return (
        "".join(each for each in text if each.isprintable())[:SAID_SHOWN_MAX] or "git says no more"
    )


def _failed(source: GitSource, kind: str, what: str) -> PreconditionFailed:
    kept = " What was fetched before stays in use." if source.commit else ""
    return PreconditionFailed(
        f"The repository {source.url} {what}.{kept}",
        remedy=REMEDIES.get(kind, "Look at the repository, and try again."),
        details={"kind": kind, "source": source.id},
    )
