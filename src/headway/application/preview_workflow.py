"""Preview a workflow: what an agent will read at each step, in the wire's names."""

from headway.domain.errors import NotFound
from headway.domain.previewing.preview import StepPreview, preview
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Workflow


def preview_workflow(
    workflow: Workflow, root: JsonObject | None = None, step: str | None = None
) -> tuple[StepPreview, ...]:
    """Return the steps as they will be read, or the one that is named. Raises NotFound."""
    previewed = preview(workflow, root)
    if step is None:
        return previewed
    meant = tuple(each for each in previewed if each.id == step)
    if not meant:
        raise NotFound(
            f"The workflow {workflow.id!r} has no step {step!r}.",
            remedy=f"Its steps are {', '.join(each.id for each in previewed)}.",
            details={"workflowId": workflow.id, "stepId": step},
        )
    return meant


def preview_reply(previewed: StepPreview, *, with_texts: bool) -> dict[str, Json]:
    """Return a step in the wire's names; without texts the prompt itself stays hidden."""
    shown: dict[str, Json] = {
        "id": previewed.id,
        "title": previewed.title,
        "kind": previewed.kind,
        "madeBy": previewed.made_by,
        "routine": previewed.routine or None,
        "condition": previewed.condition or None,
        "loops": [
            {
                "id": each.id,
                "title": each.title,
                "steering": each.steering,
                "maxIterations": each.passes_max,
            }
            for each in previewed.loops
        ],
        "demands": list(previewed.demands),
        "gate": previewed.gate or None,
        "promptBytes": previewed.size,
        "promptTokens": previewed.tokens,
    }
    if with_texts:
        shown["agentRole"] = previewed.agent_role or None
        shown["parts"] = [
            {"origin": each.origin, "name": each.name or None, "text": each.text}
            for each in previewed.parts
        ]
    return shown
