"""The text of a step: the author's prompt, and around it only what the step really demands.

Laws. What the engine will refuse, the text has asked for. The author's own words stand first, after
a banner where there are loops. Loop ids are never shown. The same facts give the same text, so a
recorded outcome can be told again.
"""

from typing import Literal, TypeAlias

from headway.domain.conditions import holds
from headway.domain.loops import Around
from headway.domain.rendering.banner import render_banner
from headway.domain.rendering.criteria import render_criteria
from headway.domain.rendering.functions import functions_in_scope, render_functions
from headway.domain.rendering.interpolate import interpolate
from headway.domain.rendering.metrics import metrics_footer
from headway.domain.rendering.parallel import render_delegations
from headway.domain.rendering.requirements import (
    render_assessments,
    render_checks,
    render_contract,
    render_notes,
)
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import ModelTier, Step, Workflow

SectionOrigin: TypeAlias = Literal[
    "loop", "author", "guidance", "criteria", "contract", "assessments", "notes", "checks",
    "functions", "fragments", "metrics",
]  # fmt: skip


class StepView(Value):
    """What the text of a step depends on.

    `loops` are those around the step, outermost first, each with its pass from 0; `variables` the
    context with the loops' variables laid over it. `first` marks the first step of a session,
    `resumed` a step told to someone who takes the session up: both get the long form of what the
    short one takes as known. `last` is `is_last_step` of the step's address.
    """

    workflow: Workflow
    step: Step
    variables: JsonObject
    loops: Around = ()
    first: bool = False
    resumed: bool = False
    last: bool = False


class Section(Value):
    """A part of a step's text, and what it comes from."""

    origin: SectionOrigin
    text: str


class RenderedStep(Value):
    """A step as an agent gets it. `confirm` tells that the user is to confirm before going on."""

    id: str
    title: str
    prompt: str
    agent_role: str | None = None
    model_tier: ModelTier | None = None
    confirm: bool = False


def render_step(request: StepView) -> RenderedStep:
    """Return the step for the agent, every placeholder replaced."""
    step = request.step
    role = None if step.agent_role is None else interpolate(step.agent_role, request.variables)
    return RenderedStep(
        id=step.id,
        title=interpolate(step.title, request.variables),
        prompt="\n\n".join([section.text for section in render_sections(request)]),
        agent_role=role,
        model_tier=step.model_tier,
        confirm=_confirms(step, request.variables),
    )


def render_sections(request: StepView) -> tuple[Section, ...]:
    """Return the parts of a step's text in order; joined by empty lines they are the prompt."""
    workflow, step, variables = request.workflow, request.step, request.variables
    parts: tuple[tuple[SectionOrigin, str], ...] = (
        ("loop", render_banner(step, request.loops, variables)),
        ("author", _authored(step, variables)),
        ("guidance", _guidance(step, variables)),
        ("criteria", render_criteria(step, variables)),
        ("contract", render_contract(step.output_contract, workflow.contracts)),
        ("assessments", render_assessments(workflow, step)),
        ("notes", render_notes(step, at_length=request.first or request.resumed)),
        ("checks", render_checks(step.checks)),
        ("functions", _functions(request)),
        ("fragments", _fragments(step, variables)),
        ("metrics", metrics_footer(workflow.metrics_profile, last=request.last)),
    )
    return tuple([Section(origin=origin, text=text) for origin, text in parts if text])


def _authored(step: Step, variables: JsonObject) -> str:
    written = interpolate(step.prompt, variables)
    if step.kind != "parallel":
        return written
    return "\n\n".join(part for part in (written, render_delegations(step, variables)) if part)


def _guidance(step: Step, variables: JsonObject) -> str:
    if not step.guidance:
        return ""
    return "\n".join(["Guidance:", *(f"- {interpolate(tip, variables)}" for tip in step.guidance)])


def _functions(request: StepView) -> str:
    step = request.step
    if not step.function_references and not step.function_calls:
        return ""
    return render_functions(functions_in_scope(request.workflow, request.loops, step), step)


def _fragments(step: Step, variables: JsonObject) -> str:
    return "\n\n".join(
        [
            interpolate(fragment.text, variables)
            for fragment in step.fragments
            if holds(fragment.when, variables)
        ]
    )


def _confirms(step: Step, variables: JsonObject) -> bool:
    asked = step.confirmation
    return asked is not None and step.kind != "parallel" and holds(asked.when, variables)
