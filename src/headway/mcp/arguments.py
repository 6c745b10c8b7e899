"""Tool arguments -> requests: forgiving about form, strict about meaning.

In this order: an optional argument that is null counts as not given; the aliases of older prompts
are put in their place; a JSON text stands for the object it spells where an object is asked for;
then the tool's schema decides. Every problem is listed, none is repaired by guessing, and a call
with problems reaches no verb.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from headway.application.faults import InvalidInput
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectMode,
    InspectWorkflow,
    Intent,
    Json,
    JsonObject,
    ListWorkflows,
    ManageWorkflowSource,
    ModelTier,
    Preferences,
    Request,
    ResumeSession,
    StartWorkflow,
)
from headway.mcp.checking import SUGGESTIONS_MAX, Problem, near, problems
from headway.mcp.schemas import INPUT_SCHEMAS

# Where each alias of continue_workflow belongs.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "contextVariables": ("context",),
    "notes": ("output", "notesMarkdown"),
    "artifacts": ("output", "artifacts"),
}
_INSPECT_MODES: Final[Mapping[str, InspectMode]] = {"metadata": "metadata", "flow": "flow"}
OBJECT_FIELDS: Final = ("output", "context", "preferences")


def parse_arguments(tool: str, arguments: JsonObject) -> Request:
    """Return the request a tool call stands for; `InvalidInput` lists all that is wrong with it."""
    schema = INPUT_SCHEMAS[tool]
    given, found = _prepare(tool, schema, arguments)
    found += problems(schema, given)
    if not found and tool == "continue_workflow":
        found += _continue_problems(given)
    if found:
        raise _invalid(tool, given, found)
    return BUILDERS[tool](given)


def unknown_tool(name: str) -> InvalidInput:
    """Return the fault for a tool that does not exist."""
    suggestions = near(name, list(INPUT_SCHEMAS))
    hint = f"Did you mean {' or '.join(suggestions)}?" if suggestions else ""
    return InvalidInput(
        f"There is no tool {name[:80]!r}.",
        remedy=hint or f"Call one of {', '.join(INPUT_SCHEMAS)}.",
        details={"suggestions": list(suggestions)},
    )


def _prepare(
    tool: str, schema: JsonObject, arguments: JsonObject
) -> tuple[dict[str, Json], list[Problem]]:
    required = schema["required"]
    assert isinstance(required, Sequence)
    given = {key: value for key, value in arguments.items() if value is not None or key in required}
    found: list[Problem] = []
    for field in OBJECT_FIELDS:
        if isinstance(given.get(field), str):
            given[field] = _spelt_object(given[field])
    if tool == "continue_workflow":
        for alias in [name for name in ALIASES if name in given]:
            found += _place(given, alias, ALIASES[alias])
    return given, found


def _spelt_object(value: Json) -> Json:
    assert isinstance(value, str)
    try:
        spelt: Json = json.loads(value, object_pairs_hook=_once, parse_constant=_refuse)
        json.dumps(spelt, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # also a lone surrogate; the schema says what was expected
        return value
    return spelt if isinstance(spelt, Mapping) else value


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _refuse(_constant: str) -> Json:
    raise ValueError


def _place(given: dict[str, Json], alias: str, target: tuple[str, ...]) -> list[Problem]:
    name = ".".join(target)
    value = given.pop(alias)
    if alias == "contextVariables" and isinstance(value, str):
        value = _spelt_object(value)
    holder: dict[str, Json] = given
    for key in target[:-1]:
        inner = holder.get(key, {})
        if not isinstance(inner, Mapping):
            return [
                Problem(path=alias, message=f"cannot stand beside an {key} that is not an object")
            ]
        holder[key] = inner = dict(inner)
        holder = inner
    if target[-1] in holder:
        return [Problem(path=alias, message=f"says the same as {name}; give only {name}")]
    holder[target[-1]] = value
    return []


def _continue_problems(given: JsonObject) -> list[Problem]:
    if _intent(given) == "advance":
        return []
    found = []
    explicit = "intent" in given
    if given.get("output"):
        message = (
            "cannot be handed in with intent rehydrate; use intent advance to hand the step in"
        )
        found.append(Problem(path="output", message=message))
    if given.get("context"):
        message = "counts only with intent advance; leave it out to read the step again"
        found.append(Problem(path="context", message=message))
    if explicit and "workspacePath" not in given:
        message = "is required with intent rehydrate"
        found.append(Problem(path="workspacePath", message=message))
    return found


def _intent(given: JsonObject) -> Intent:
    match given.get("intent"):
        case "advance":
            return "advance"
        case "rehydrate":
            return "rehydrate"
        case _:
            return "advance" if given.get("output") else "rehydrate"


def _invalid(tool: str, given: JsonObject, found: Sequence[Problem]) -> InvalidInput:
    sentences = "; ".join(f"{problem.path or 'arguments'} {problem.message}" for problem in found)
    suggestions: list[Json] = []
    # The likeliest name for each problem goes before the second guess for any.
    for rank in range(SUGGESTIONS_MAX):
        likely = [item.suggestions[rank] for item in found if len(item.suggestions) > rank]
        suggestions += [name for name in dict.fromkeys(likely) if name not in suggestions]
    return InvalidInput(
        f"{tool} was not called: {sentences}.",
        remedy=f"Correct the arguments named in validationErrors and call {tool} again.",
        details={
            "validationErrors": [{"path": item.path, "message": item.message} for item in found],
            "suggestions": suggestions[:SUGGESTIONS_MAX],
            "correctTemplate": _template(tool, given),
        },
    )


def _template(tool: str, given: JsonObject) -> JsonObject:
    """Return the call that was meant with every argument it needs, by example."""
    schema = INPUT_SCHEMAS[tool]
    required = schema["required"]
    assert isinstance(required, Sequence)
    call = {str(key): _example(schema, str(key)) for key in required}
    if tool != "continue_workflow":
        return call
    if given.get("intent") == "rehydrate":
        return call | {"intent": "rehydrate", "workspacePath": _example(schema, "workspacePath")}
    if _intent(given) == "advance":
        notes = _example(_part(schema, "output"), "notesMarkdown")
        return call | {"intent": "advance", "output": {"notesMarkdown": notes}}
    return call


def _example(schema: JsonObject, key: str) -> str:
    return f"<{_describe(_part(schema, key))}>"


def _part(schema: JsonObject, key: str) -> JsonObject:
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    part = properties[key]
    assert isinstance(part, Mapping)
    return part


def _describe(part: JsonObject) -> str:
    allowed = part.get("enum")
    if isinstance(allowed, Sequence):
        return " | ".join(str(name) for name in allowed)
    return str(part.get("description", "value")).rstrip(".")


def _text(given: JsonObject, key: str) -> str:
    value = given[key]
    assert isinstance(value, str)
    return value


def _optional(given: JsonObject, key: str) -> str | None:
    return _text(given, key) if key in given else None


def _list(given: JsonObject) -> ListWorkflows:
    tags = given.get("tags", ())
    assert isinstance(tags, Sequence)
    return ListWorkflows(
        workspace_path=_text(given, "workspacePath"),
        tags=tuple(str(tag) for tag in tags),
        include_sources=given.get("includeSources") is True,
    )


def _inspect(given: JsonObject) -> InspectWorkflow:
    return InspectWorkflow(
        workflow_id=_text(given, "workflowId"),
        workspace_path=_text(given, "workspacePath"),
        mode=_INSPECT_MODES.get(str(given.get("mode")), "preview"),
    )


def _start(given: JsonObject) -> StartWorkflow:
    context = given.get("context", {})
    assert isinstance(context, Mapping)
    return StartWorkflow(
        workflow_id=_text(given, "workflowId"),
        workspace_path=_text(given, "workspacePath"),
        goal=_text(given, "goal"),
        model_tier=_model_tier(given),
        context=context,
        preferences=_preferences(given.get("preferences")),
    )


def _model_tier(given: JsonObject) -> ModelTier | None:
    match given.get("modelTier"):
        case "lightweight":
            return "lightweight"
        case "mid":
            return "mid"
        case "heavy":
            return "heavy"
        case _:
            return None


def _preferences(chosen: Json) -> Preferences | None:
    if not isinstance(chosen, Mapping) or not chosen:
        return None
    preferences = Preferences()
    match chosen.get("autonomy"):
        case "full_auto_stop_on_user_deps":
            preferences = Preferences(autonomy="full_auto_stop_on_user_deps")
        case "full_auto_never_stop":
            preferences = Preferences(autonomy="full_auto_never_stop")
        case _:
            pass
    match chosen.get("riskPolicy"):
        case "balanced":
            return Preferences(autonomy=preferences.autonomy, risk_policy="balanced")
        case "aggressive":
            return Preferences(autonomy=preferences.autonomy, risk_policy="aggressive")
        case _:
            return preferences


def _continue(given: JsonObject) -> ContinueWorkflow:
    output, context = given.get("output", {}), given.get("context")
    assert isinstance(output, Mapping)
    assert context is None or isinstance(context, Mapping)
    artifacts = output.get("artifacts", ())
    assert isinstance(artifacts, Sequence)
    return ContinueWorkflow(
        continue_token=_text(given, "continueToken"),
        intent=_intent(given),
        notes=_optional(output, "notesMarkdown"),
        artifacts=tuple(artifacts),
        context=context,
        workspace_path=_optional(given, "workspacePath"),
    )


def _checkpoint(given: JsonObject) -> CheckpointWorkflow:
    return CheckpointWorkflow(checkpoint_token=_text(given, "checkpointToken"))


def _resume(given: JsonObject) -> ResumeSession:
    return ResumeSession(
        workspace_path=_text(given, "workspacePath"),
        query=_optional(given, "query"),
        run_id=_optional(given, "runId"),
        session_id=_optional(given, "sessionId"),
        git_branch=_optional(given, "gitBranch"),
        git_head_sha=_optional(given, "gitHeadSha"),
        same_workspace_only=given.get("sameWorkspaceOnly") is True,
    )


def _manage(given: JsonObject) -> ManageWorkflowSource:
    return ManageWorkflowSource(
        action="detach" if given.get("action") == "detach" else "attach",
        path=_text(given, "path"),
    )


BUILDERS: Final[Mapping[str, Callable[[JsonObject], Request]]] = {
    "list_workflows": _list,
    "inspect_workflow": _inspect,
    "start_workflow": _start,
    "continue_workflow": _continue,
    "checkpoint_workflow": _checkpoint,
    "resume_session": _resume,
    "manage_workflow_source": _manage,
}
