"""Replies: what a verb answers, in the wire's shapes, rendered from recorded facts alone.

The same facts give the same bytes within one version of Headway, so a call repeated after a lost
answer gets the answer that was lost.
"""

from typing import Final

from headway.application.requests import Reply
from headway.application.scene import Scene
from headway.domain.blockers import wire_pointer
from headway.domain.context import merged_context
from headway.domain.contracts.builtin import LOOP_CONTROL
from headway.domain.cursor import locate
from headway.domain.events import (
    AdvanceBlocked,
    AssessmentResult,
    Drift,
    Gap,
    GateOpened,
    Opened,
    StepAdvanced,
    Walk,
)
from headway.domain.ids import AttemptId, gate_id, next_attempt
from headway.domain.loops import variables_at
from headway.domain.preferences import Preferences
from headway.domain.rendering.metrics import is_last_step
from headway.domain.rendering.prompt import RenderedStep, StepView, render_step
from headway.domain.tokens import nonce_of
from headway.domain.values import Json, JsonObject

TOOL: Final = "continue_workflow"


def advanced_reply(scene: Scene, event: StepAdvanced) -> Reply:
    """Return the answer to an advance: the next step, or that the workflow is complete."""
    warnings = [
        *_drift(event.drift),
        *_ignored_decisions(scene, event),
        *_limits(event.walk),
        *_gaps(event.gaps),
    ]
    context = _step_context(event.assessments)
    if event.opened is None:
        preferences = scene.standing(event.node).preferences
        return completed_reply(preferences) | _present(warnings=warnings, stepContext=context)
    reply = step_reply(scene, event.opened, event.opened.attempt)
    return reply | _present(warnings=warnings, stepContext=context)


def completed_reply(preferences: Preferences) -> Reply:
    """Return the answer that nothing is left to do on this branch; it carries no tokens."""
    return {
        "kind": "ok",
        "isComplete": True,
        "pending": None,
        "preferences": _preferences(preferences),
        "nextIntent": "complete",
        "nextCall": None,
    }


def step_reply(scene: Scene, opened: Opened, attempt: AttemptId) -> Reply:
    """Return a step to be done under an attempt."""
    shown = show_step(scene, opened)
    token = scene.token("ct", attempt)
    return {
        "kind": "ok",
        "continueToken": token,
        "checkpointToken": scene.token("ck", attempt),
        "isComplete": False,
        "pending": pending(scene, shown),
        "preferences": _preferences(opened.preferences),
        "nextIntent": _intent(shown),
        "nextCall": {"tool": TOOL, "params": {"continueToken": token, "intent": "advance"}},
    }


def blocked_reply(scene: Scene, event: AdvanceBlocked) -> Reply:
    """Return the answer to a refused attempt: what is missing, and the token to send it with."""
    opened = scene.standing(event.node)
    shown = show_step(scene, opened)
    following = next_attempt(event.attempt)
    retry = scene.token("ct", following)
    feedback: Reply = {
        "issues": list(event.feedback.issues),
        "suggestions": list(event.feedback.suggestions),
    }
    followup: Reply | None = None
    if event.followup:
        followup = {"title": shown.title, "guidance": event.followup}
    reply: Reply = {
        "kind": "blocked",
        "continueToken": retry,
        "checkpointToken": scene.token("ck", following),
        "isComplete": False,
        "pending": pending(scene, shown),
        "preferences": _preferences(opened.preferences),
        "nextIntent": _intent(shown),
        "nextCall": {"tool": TOOL, "params": {"continueToken": retry, "intent": "advance"}},
        "blockers": {
            "blockers": [
                {
                    "code": blocker.code,
                    "pointer": wire_pointer(blocker.pointer),
                    "message": blocker.message,
                    "suggestedFix": blocker.fix,
                }
                for blocker in event.blockers
            ]
        },
        "retryable": event.retryable,
        "retryContinueToken": retry,
    }
    return reply | _present(
        validation=feedback if any(feedback.values()) else None,
        assessmentFollowup=followup,
        warnings=_drift(event.drift),
    )


def gate_reply(scene: Scene, event: GateOpened) -> Reply:
    """Return the answer that a decision is awaited; the same token gives it until it is there."""
    opened = scene.standing(event.node)
    token = scene.token("ct", event.attempt)
    gate = gate_id(nonce_of(scene.session, event.attempt))
    return {
        "kind": "gate_checkpoint",
        "gateId": gate,
        "gateToken": token,
        "stepId": event.step,
        "gateKind": event.gate,
        "shown": event.shown,
        "showCommand": show_gate_command(gate),
        "isComplete": False,
        "preferences": _preferences(opened.preferences),
        "nextIntent": "await_user_confirmation",
        "nextCall": {"tool": TOOL, "params": {"continueToken": token, "intent": "advance"}},
    }


def show_gate_command(gate: str) -> str:
    """Return the command with which a person sees what waits at a gate."""
    return f"headway gates show {gate}"


def show_step(scene: Scene, opened: Opened, *, resumed: bool = False) -> RenderedStep:
    """Return the text of the step a node stands on."""
    workflow = scene.workflow
    place = locate(workflow, opened.cursor)
    context = merged_context(opened.context, scene.state.folds)
    return render_step(
        StepView(
            workflow=workflow,
            step=place.step,
            loops=place.loops,
            variables=variables_at(place.loops, context),
            first=opened.parent is None,
            resumed=resumed,
            last=workflow.metrics_profile != "none" and is_last_step(workflow, opened.cursor.at),
        )
    )


def pending(scene: Scene, shown: RenderedStep, *, recovery: str = "") -> Reply:
    """Return the wire's pending step; a recovery section follows the prompt."""
    prompt = "\n\n".join([part for part in (shown.prompt, recovery) if part])
    return {"stepId": shown.id, "title": shown.title, "prompt": prompt} | _present(
        agentRole=shown.agent_role, modelTier=shown.model_tier or scene.workflow.model_tier
    )


def rehydrate_call(token: str, workspace: str) -> Reply:
    """Return the call that reads a step again."""
    params: Reply = {"continueToken": token, "intent": "rehydrate", "workspacePath": workspace}
    return {"tool": TOOL, "params": params}


def drift_warnings(drift: tuple[Drift, ...]) -> list[Json]:
    """Return the wire's warnings of changed bindings."""
    return _drift(drift)


def _intent(shown: RenderedStep) -> str:
    return "await_user_confirmation" if shown.confirm else "perform_pending_then_continue"


def _preferences(preferences: Preferences) -> Reply:
    return {"autonomy": preferences.autonomy, "riskPolicy": preferences.risk_policy}


def _drift(drift: tuple[Drift, ...]) -> list[Json]:
    return [
        {
            "kind": "BINDING_DRIFT",
            "slotId": each.slot,
            "pinnedValue": each.pinned,
            "currentValue": each.current,
        }
        for each in drift
    ]


def _ignored_decisions(scene: Scene, event: StepAdvanced) -> list[Json]:
    """Tell an agent that decided about a loop where nobody asked, lest it rely on that."""
    values = [kept.inline for kept in event.output.artifacts]
    kinds = [value.get("kind") for value in values if isinstance(value, dict)]
    if LOOP_CONTROL.kind not in kinds:
        return []
    step = locate(scene.workflow, scene.state.nodes[event.node].opened.cursor).step
    if step.output_contract is not None and step.output_contract.ref == LOOP_CONTROL.ref:
        return []
    message = (
        "The loop decision was kept but counts for nothing: this step does not ask for one. "
        "Decide at the step whose contract asks for it."
    )
    return [{"kind": "LOOP_DECISION_IGNORED", "message": message}]


def _limits(walk: Walk) -> list[Json]:
    return [
        {
            "kind": "LOOP_LIMIT_REACHED",
            "loopTitle": limit.title,
            "maxIterations": limit.max_iterations,
            "message": f"{limit.title} ended at its limit of {limit.max_iterations} passes "
            "although it would have gone on. Say in your notes what is left open.",
        }
        for limit in walk.loop_limits
    ]


def _gaps(gaps: tuple[Gap, ...]) -> list[Json]:
    return [
        {"kind": "GAP_RECORDED", "code": gap.code, "severity": gap.severity, "message": gap.summary}
        for gap in gaps
    ]


def _step_context(assessments: tuple[AssessmentResult, ...]) -> JsonObject | None:
    if not assessments:
        return None
    return {
        "assessments": [
            {
                "assessmentId": result.assessment,
                "dimensions": [
                    {"dimensionId": each.dimension, "level": each.level}
                    | _present(rationale=each.rationale)
                    for each in result.dimensions
                ],
                "normalizationNotes": list(result.notes),
            }
            for result in assessments
        ]
    }


def _present(**fields: Json) -> Reply:
    """Return the fields that hold something."""
    return {name: value for name, value in fields.items() if value not in (None, [], "")}
