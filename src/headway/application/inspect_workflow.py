"""Inspect a workflow: what it is and demands, without starting it."""

from headway.application.engine import Engine
from headway.application.finding import startable, wire_diagnostic, wire_shadows, workspace_of
from headway.application.preview_workflow import preview_reply, preview_workflow
from headway.application.requests import InspectWorkflow, Reply
from headway.domain.events import ReferenceStatus
from headway.domain.graphing.mermaid import mermaid
from headway.domain.rendering.briefing import render_briefing
from headway.domain.staleness import staleness_of
from headway.domain.values import Json
from headway.domain.workflow import Item, Loop, Workflow


def inspect_workflow(engine: Engine, request: InspectWorkflow) -> Reply:
    """Return the workflow's identity, in preview its outline, in flow what each step demands too.

    The prompts of later steps stay hidden in every mode: an agent reads a step when it is there.

    The hash is the one a session started now would be pinned to. Raises InvalidInput, NotFound,
    PreconditionFailed as start_workflow does.
    """
    workspace = workspace_of(engine, request.workspace_path)
    entry, workflow = startable(engine, request.workflow_id, workspace)
    compiled: Reply = {"form": workflow.form, "workflowId": workflow.id}
    if request.mode != "metadata":
        references = engine.workspace.resolve(workspace, workflow.references)
        compiled |= _preview(workflow, references)
    reply: Reply = {
        "workflowId": workflow.id,
        "workflowHash": entry.hash,
        "mode": request.mode,
        "source": entry.source,
        "file": entry.path,
        "staleness": staleness_of(workflow.validated_against).told(),
        "compiled": compiled,
    }
    if request.mode == "flow":
        compiled["steps"] = [
            preview_reply(each, with_texts=False) for each in preview_workflow(workflow)
        ]
        compiled["mermaid"] = mermaid(workflow)
    if entry.origin:
        reply["origin"] = entry.origin
    if entry.shadows:
        reply["shadows"] = wire_shadows(entry)
    if entry.diagnostics:
        reply["warnings"] = [wire_diagnostic(each) for each in entry.diagnostics]
    return reply


def _preview(workflow: Workflow, references: tuple[ReferenceStatus, ...]) -> Reply:
    return {
        "name": workflow.name,
        "description": workflow.description,
        "version": workflow.version,
        "about": workflow.about,
        "examples": list(workflow.examples),
        "briefing": render_briefing(workflow, references, resumed=False),
        "outline": [_outline(item) for item in workflow.steps],
    }


def _outline(item: Item) -> Json:
    shown: Reply = {"id": item.id, "title": item.title}
    if isinstance(item, Loop):
        shown |= {
            "loop": item.kind,
            "maxIterations": item.max_iterations,
            "body": [_outline(inner) for inner in item.body],
        }
    return shown
