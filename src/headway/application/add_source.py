"""Add a git repository of workflow files to the catalogue, at the commit it stands at now."""

from msgspec.structs import replace

from headway.application.added_sources import AddedSources
from headway.application.requests import Reply
from headway.domain.git_addresses import checked_address, checked_path, checked_ref, id_for
from headway.ports.sources import GitSource


def add_source(added: AddedSources, url: str, ref: str = "", path: str = "") -> Reply:
    """Fetch a repository and pin it; one that is there already stays as it is.

    Raises InvalidInput for what is not fetched from, PreconditionFailed when the fetch fails; then
    nothing has changed.
    """
    found = added.sources.git_sources()
    known = found.rows
    wanted = GitSource(
        id=id_for(url, frozenset([*(each.id for each in known), *found.unreadable])),
        url=checked_address(url),
        ref=checked_ref(ref),
        path=checked_path(path),
        commit="",
    )
    for each in known:
        if (each.url, each.ref, each.path) == (wanted.url, wanted.ref, wanted.path):
            return {"added": False, "source": wire_source(each)}
    fetched = added.fetcher.fetch(wanted)
    source = replace(wanted, commit=fetched.commit)
    added.sources.pin(source)
    return {
        "added": True,
        "source": wire_source(source),
        "files": fetched.files,
        "leftOut": list(fetched.left_out),
    }


def wire_source(source: GitSource) -> Reply:
    """Return a repository in the wire's names."""
    return {
        "id": source.id,
        "url": source.url,
        "ref": source.ref,
        "path": source.path,
        "commit": source.commit,
    }
