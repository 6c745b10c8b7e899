"""The git repositories that workflows come from: what the verbs about them need."""

from dataclasses import dataclass

from headway.domain.errors import NotFound
from headway.ports.catalogue import Catalogue
from headway.ports.sources import GitFetcher, GitSource, Sources


@dataclass(frozen=True, slots=True)
class AddedSources:
    """The repositories as the store knows them, the means to fetch them, and what comes of it."""

    sources: Sources
    fetcher: GitFetcher
    catalogue: Catalogue

    def named(self, source_id: str) -> GitSource:
        """Return the repository of an id. Raises NotFound."""
        known = {each.id: each for each in self.sources.git_sources().rows}
        if source_id not in known:
            there = f"There are: {', '.join(known)}." if known else "None was added yet."
            raise NotFound(
                f"There is no git source {source_id!r}.",
                remedy=f"{there} See `headway sources list`.",
                details={"source": source_id},
            )
        return known[source_id]
