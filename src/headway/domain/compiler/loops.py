"""Compiling a loop: what steers it, its variables and its body."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from headway.domain.compiler.conditions import condition_at
from headway.domain.compiler.functions import functions_at
from headway.domain.compiler.nodes import record, text
from headway.domain.compiler.prompts import compiled_text
from headway.domain.compiler.reporting import did_you_mean, shown
from headway.domain.compiler.setting import Scope, Setting
from headway.domain.compiler.steps import decides_a_loop
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.diagnostics import Path
from headway.domain.values import JsonObject
from headway.domain.workflow import (
    ByCondition,
    ByCount,
    ByDecision,
    ByItems,
    Item,
    Loop,
    LoopKind,
    LoopSource,
    Malformed,
    Step,
)  # fmt: skip

LOOP_DEPTH_MAX: Final = 4

CompileBody: TypeAlias = Callable[[JsonObject, Path, Scope], tuple[Item, ...]]

_KINDS: Final[dict[str, LoopKind]] = {
    "while": "while",
    "until": "until",
    "for": "for",
    "forEach": "forEach",
}
_STEERING: Final[dict[LoopKind, tuple[str, ...]]] = {
    "while": ("condition", "conditionSource"),
    "until": ("condition", "conditionSource"),
    "for": ("count",),
    "forEach": ("items",),
}


def compile_loop(
    node: JsonObject, path: Path, setting: Setting, scope: Scope, compile_body: CompileBody
) -> Loop:
    """Compile a loop step; `compile_body` knows where its body is."""
    name = text(node, "id")
    setting.register(scope.prefix + name if name else "", path)
    own = functions_at(node, "loop")
    run_condition = condition_at(node, "runCondition", path, setting.report) or scope.inherited
    inner = replace(
        scope, functions=(*own, *scope.functions), loops=(*scope.loops, name), inherited=None
    )
    body = compile_body(node, path, inner)
    loop = record(node, "loop")
    kind = _KINDS.get(text(loop, "type"), "while")
    limit = loop.get("maxIterations")
    if node.get("requireConfirmation"):
        setting.report.add(
            "FIELD_WITHOUT_EFFECT", (*path, "requireConfirmation"),
            "A loop itself asks for no confirmation.", "Ask for it on a step of the body.",
            at_key=True,
        )  # fmt: skip
    return Loop(
        id=scope.prefix + name,
        title=compiled_text(text(node, "title"), (*path, "title"), setting, scope),
        kind=kind,
        source=_source(node, kind, body, path, setting),
        max_iterations=int(limit) if isinstance(limit, int | float) else 1,
        body=body,
        iteration_var=text(loop, "iterationVar") or "currentIteration",
        item_var=text(loop, "itemVar") or "currentItem",
        index_var=text(loop, "indexVar") or "currentIndex",
        run_condition=run_condition,
        functions=own,
    )


def _source(
    node: JsonObject, kind: LoopKind, body: tuple[Item, ...], path: Path, setting: Setting
) -> LoopSource:
    loop, path = record(node, "loop"), (*path, "loop")
    _warn_unused(loop, kind, path, setting)
    match kind:
        case "while" | "until":
            return _condition_source(node, body, path, setting)
        case "for":
            return _count_source(loop, path, setting)
        case "forEach":
            if "items" not in loop:
                setting.report.add(
                    "LOOP_NO_ITEMS", path, "The forEach loop has no items.",
                    'Add "items": the context key that holds the list.',
                )  # fmt: skip
            return ByItems(key=text(loop, "items"))


def _count_source(loop: JsonObject, path: Path, setting: Setting) -> LoopSource:
    count = loop.get("count")
    if "count" not in loop:
        setting.report.add(
            "LOOP_NO_COUNT", path, "The for loop has no count.",
            'Add "count": a number, or the context key that holds one.',
        )  # fmt: skip
    if isinstance(count, int | float) and count == 0 and not isinstance(count, bool):
        setting.report.add(
            "LOOP_COUNT_ZERO", (*path, "count"), "The count is 0, so the body would never run.",
            "Write at least 1, name a context key, or remove the loop.",
        )  # fmt: skip
    return ByCount(count=count if isinstance(count, int | float | str) else 1)


def _condition_source(
    node: JsonObject, body: tuple[Item, ...], path: Path, setting: Setting
) -> LoopSource:
    """Derive what steers a while or until loop: what it says, else what its body asks for."""
    loop, name = record(node, "loop"), text(node, "id")
    explicit, here = record(loop, "conditionSource"), (*path, "conditionSource")
    if explicit.get("kind") == "artifact_contract":
        ref = text(explicit, "contractRef")
        if ref != LOOP_CONTROL_REF:
            setting.report.add(
                "LOOP_CONTRACT", (*here, "contractRef"), f"The contract is {shown(ref)}.",
                did_you_mean(ref, (LOOP_CONTROL_REF,), f"Write {LOOP_CONTROL_REF}."),
            )  # fmt: skip
        if not _has_decision(body):
            setting.report.add(
                "LOOP_NO_DECISION", here, "No step of the body asks for a loop decision.",
                f'Give one "outputContract": {{"contractRef": "{LOOP_CONTROL_REF}"}}.',
            )  # fmt: skip
        return ByDecision(loop_id=text(explicit, "loopId") or name)
    if explicit.get("kind") == "context_variable":
        stated = condition_at(explicit, "condition", here, setting.report)
        return ByCondition(condition=stated or Malformed())
    if any(isinstance(each, Step) and decides_a_loop(each) for each in body):
        return ByDecision(loop_id=name)
    condition = condition_at(loop, "condition", path, setting.report)
    if condition is None and not explicit and "condition" not in loop:
        setting.report.add(
            "LOOP_NO_CONDITION", path, f"The loop {shown(name)} has no condition.",
            'Add a "condition", or a body step whose outputContract is ' + LOOP_CONTROL_REF + ".",
        )  # fmt: skip
    return ByCondition(condition=condition or Malformed())


def _has_decision(body: tuple[Item, ...]) -> bool:
    """Tell whether a decision for this loop can come from its body, at any depth."""
    for each in body:
        if isinstance(each, Step):
            if decides_a_loop(each):
                return True
        elif not isinstance(each.source, ByDecision) and _has_decision(each.body):
            return True
    return False


def _warn_unused(loop: JsonObject, kind: LoopKind, path: Path, setting: Setting) -> None:
    used = _STEERING[kind]
    for key in ("condition", "conditionSource", "count", "items"):
        if key in loop and key not in used:
            setting.report.add(
                "FIELD_WITHOUT_EFFECT", (*path, key), f"A {kind} loop does not use {key}.",
                "Remove it, or change the type of the loop.", at_key=True, mend="remove",
            )  # fmt: skip
