"""Remove a git repository from the catalogue; sessions begun on its workflows go on."""

from headway.application.add_source import wire_source
from headway.application.added_sources import AddedSources
from headway.application.requests import Reply


def remove_source(added: AddedSources, source_id: str) -> Reply:
    """Forget a repository and remove its files. Raises NotFound for an unknown id.

    The files of one whose row is damaged stay: nobody knows which they are.
    """
    if source_id in added.sources.git_sources().unreadable:
        added.sources.drop(source_id)
        return {"removed": {"id": source_id}}
    source = added.named(source_id)
    added.sources.drop(source.id)
    added.fetcher.prune(source.id, "")
    return {"removed": wire_source(source)}
