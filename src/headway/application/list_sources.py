"""List where workflows come from, in order of precedence, and the repositories among them."""

from headway.application.add_source import wire_source
from headway.application.added_sources import AddedSources
from headway.application.list_workflows import wire_folder
from headway.application.requests import Reply


def list_sources(added: AddedSources, workspace: str) -> Reply:
    """Return every folder seen from a workspace with what it holds, and the git repositories."""
    return {
        "sources": [wire_folder(each) for each in added.catalogue.sources(workspace)],
        "git": [wire_source(each) for each in added.sources.git_sources().rows],
    }
