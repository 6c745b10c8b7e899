"""Move the pins of git repositories to what their branches or tags are now."""

from msgspec.structs import replace

from headway.application.add_source import wire_source
from headway.application.added_sources import AddedSources
from headway.application.faults import Fault, fault_reply
from headway.application.requests import Reply
from headway.domain.values import Json
from headway.ports.sources import GitSource


def update_sources(added: AddedSources, source_id: str = "") -> Reply:
    """Fetch one repository, or each; one that cannot be fetched keeps its pin and hinders no other.

    Raises NotFound for an unknown id.
    """
    wanted = (added.named(source_id),) if source_id else added.sources.git_sources().rows
    updated: list[Json] = []
    failed: list[Json] = []
    for source in wanted:
        try:
            updated.append(_update(added, source))
        except Fault as fault:
            failed.append({"source": wire_source(source), "fault": fault_reply(fault)})
    return {"updated": updated, "failed": failed}


def _update(added: AddedSources, source: GitSource) -> Reply:
    fetched = added.fetcher.fetch(source)
    moved = replace(source, commit=fetched.commit)
    added.sources.pin(moved)
    added.fetcher.prune(source.id, fetched.commit)
    return {
        "source": wire_source(moved),
        "from": source.commit,
        "changed": source.commit != fetched.commit,
        "files": fetched.files,
        "leftOut": list(fetched.left_out),
    }
