"""List the workflows that can be seen from a workspace."""

from headway.application.engine import Engine
from headway.application.finding import wire_diagnostic, wire_shadows, workspace_of
from headway.application.requests import ListWorkflows, Reply
from headway.domain.staleness import staleness_of
from headway.domain.values import Json
from headway.ports.catalogue import Entry, Source


def list_workflows(engine: Engine, request: ListWorkflows) -> Reply:
    """Return compact items, the broken files with their diagnostics, and the sources when asked.

    Raises InvalidInput for a workspace that cannot be used.
    """
    workspace = workspace_of(engine, request.workspace_path)
    seen = [entry for entry in engine.catalogue.entries(workspace) if not entry.hidden]
    items = [_item(entry) for entry in seen if _matches(entry, request.tags)]
    broken: list[Json] = [_broken(entry) for entry in seen if entry.workflow is None]
    reply: Reply = {"workflows": [item for item in items if item]}
    if broken:
        reply["validationWarnings"] = broken
    notes = _warnings(seen)
    if notes:
        reply["warnings"] = notes
    if request.include_sources:
        reply["sources"] = [wire_folder(each) for each in engine.catalogue.sources(workspace)]
    reply["_nextStep"] = (
        "Call start_workflow with the workflowId that fits the task, the workspacePath and a goal."
    )
    return reply


def _matches(entry: Entry, tags: tuple[str, ...]) -> bool:
    if not tags or entry.workflow is None:
        return True
    namespace = entry.id.partition(".")[0] if "." in entry.id else ""
    return any(tag in (*entry.workflow.tags, namespace) for tag in tags)


def _item(entry: Entry) -> Reply | None:
    workflow = entry.workflow
    if workflow is None:
        return None
    item: Reply = {
        "workflowId": workflow.id,
        "name": workflow.name,
        "description": workflow.description,
        "version": workflow.version,
        "kind": "workflow",
        "workflowHash": entry.hash,
        "source": entry.source,
        "staleness": {"level": staleness_of(workflow.validated_against).level},
    }
    if workflow.tags:
        item["tags"] = list(workflow.tags)
    if workflow.examples:
        item["examples"] = list(workflow.examples)
    if entry.shadows:
        item["shadows"] = wire_shadows(entry)
    if entry.origin:
        item["origin"] = entry.origin
    return item


def _broken(entry: Entry) -> Json:
    return {
        "workflowId": entry.id,
        "file": entry.path,
        "sourceKind": entry.source,
        "errors": [wire_diagnostic(each) for each in entry.diagnostics],
    }


def _warnings(entries: list[Entry]) -> list[Json]:
    return [
        wire_diagnostic(each)
        for entry in entries
        if entry.workflow is not None
        for each in entry.diagnostics
    ]


def wire_folder(source: Source) -> Json:
    """Return a folder of the catalogue in the wire's names."""
    told: Reply = {
        "sourceKey": f"{source.kind}:{source.path}",
        "kind": source.kind,
        "path": source.path,
        "totalCount": source.total,
        "effectiveCount": source.effective,
        "shadowedCount": source.total - source.effective,
        "stale": source.missing,
        "problems": list(source.problems),
    }
    return told | ({"origin": source.origin} if source.origin else {})
