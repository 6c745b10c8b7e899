"""The prompt of a parallel step: written by the engine, since the author names only delegations."""

from collections.abc import Iterator
from typing import Final

from headway.domain.coercions import to_text
from headway.domain.conditions import holds
from headway.domain.rendering.interpolate import interpolate, unset
from headway.domain.values import JsonObject
from headway.domain.workflow import Delegation, Step

_NOTHING: Final = "None of this step's delegations applies now. Continue at once."
_PROCEDURE: Final = """\
1. Start all of them now, side by side, each with its own inputs.
2. Wait until every one has come back; keep what each of them found.
3. Then continue, with all results in hand."""


def render_delegations(step: Step, variables: JsonObject) -> str:
    """Return which work to hand to subagents, with its inputs, and how."""
    active = [each for each in step.delegations if holds(each.when, variables)]
    if not active:
        return _NOTHING
    entries = [
        "\n".join(_entry(number, delegation, variables))
        for number, delegation in enumerate(active, start=1)
    ]
    work = "this piece of work to a subagent" if len(active) == 1 else "this work to subagents"
    return "\n\n".join([f"Hand {work}:", *entries, f"How:\n{_PROCEDURE}"])


def _entry(number: int, delegation: Delegation, variables: JsonObject) -> Iterator[str]:
    inputs = _inputs(delegation, variables)
    written = interpolate(delegation.goal or "", variables)
    goal = written or inputs.get("familyName") or delegation.workflow_id
    yield f"{number}. Workflow `{delegation.workflow_id}`"
    yield f"   Goal: {goal}"
    if delegation.model_tier:
        yield f"   Model tier: {delegation.model_tier}"
    if delegation.allowed_tools:
        yield f"   Tools it should need: {', '.join(delegation.allowed_tools)}"
    if inputs:
        yield "   Inputs:"
        for name, value in inputs.items():
            yield f"   - {name}: {value}"


def _inputs(delegation: Delegation, variables: JsonObject) -> dict[str, str]:
    """Return the inputs by the name the subagent knows; an argument wins over a mapped value."""
    inputs = {}
    for ours, theirs in delegation.context_mapping.items():
        value = variables.get(ours)
        inputs[theirs] = unset(ours) if value is None else to_text(value)
    for name, value in delegation.args.items():
        inputs[name] = interpolate(value, variables)
    return inputs
