"""Where workflow files come from besides the usual folders: what users attached or added."""

from typing import Final, Protocol

from headway.domain.values import Value
from headway.ports.listing import Listing

FETCHED: Final = "sources"  # in the home folder


class GitSource(Value):
    """A git repository of workflow files, pinned to one commit.

    `ref` is empty for the default branch, `path` for the whole repository. `tree` is the folder its
    files are in, relative to the home folder.
    """

    id: str
    url: str
    ref: str
    path: str
    commit: str

    @property
    def tree(self) -> str:
        """The folder of the pinned commit's files, in the home folder."""
        return f"{FETCHED}/{self.id}/{self.commit}"


class KnownSources(Protocol):
    """The attached folders and the git repositories, each in the order they came."""

    def attached(self) -> Listing[str]:
        """Return the attached folders, absolute paths."""

    def git_sources(self) -> Listing[GitSource]:
        """Return the git repositories."""


class Sources(KnownSources, Protocol):
    """The same, and the means to change them."""

    def attach(self, path: str) -> None:
        """Attach a folder; attaching it twice changes nothing."""

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing."""

    def pin(self, source: GitSource) -> None:
        """Keep a repository, in the place of one with its id."""

    def drop(self, source_id: str) -> None:
        """Forget a repository; forgetting an unknown one changes nothing."""


class Fetched(Value):
    """What a fetch brought: the commit, how many workflow files it holds, and what was left out."""

    commit: str
    files: int
    left_out: tuple[str, ...] = ()


class GitFetcher(Protocol):
    """Brings the workflow files of a repository into the home folder."""

    def fetch(self, source: GitSource) -> Fetched:
        """Fetch what a source's ref is now; its own `commit` is not looked at.

        Afterwards the files are there under the new commit; those of others stay. Raises
        PreconditionFailed when it cannot be done; then nothing has changed.
        """

    def prune(self, source_id: str, commit: str) -> None:
        """Remove the files of every other commit of a source; of all of them when it is empty."""
