"""Replies as text: what an agent that sees only text needs in order to act by itself.

The text is drawn from the structured reply and never says more than it. Every text ends with the
next call, exact tokens included. A shape unknown here is printed as JSON, whole.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from headway.application.requests import Json, JsonObject

DESCRIPTION_SHOWN_MAX: Final = 300
ENCODER: Final = json.JSONEncoder(ensure_ascii=False)  # made once, for every call of a reply


def render_reply(tool: str, reply: JsonObject) -> str:
    """Return a reply as text for an agent."""
    match tool:
        case "list_workflows":
            return _workflows(reply)
        case "start_workflow":
            return _step(reply)
        case "continue_workflow":
            return _continued(reply)
        case "checkpoint_workflow":
            return _checkpoint(reply)
        case "resume_session":
            return _candidates(reply)
        case _:
            return _json(reply)


def render_fault(envelope: JsonObject) -> str:
    """Return an error envelope as text: what happened, what to do, then the details."""
    details = _object(envelope, "details")
    rest = {key: value for key, value in details.items() if key != "suggestion"}
    lines = [
        f"Error {_text(envelope, 'code')}: {_text(envelope, 'message')}",
        _text(details, "suggestion"),
        _json(rest) if rest else "",
    ]
    return "\n\n".join(line for line in lines if line)


def _continued(reply: JsonObject) -> str:
    match reply.get("kind"):
        case "blocked":
            return _blocked(reply)
        case "gate_checkpoint":
            return _gate(reply)
        case _:
            return _step(reply)


def _step(reply: JsonObject) -> str:
    parts = [_warnings(reply), _assessed(reply)]
    pending = _object(reply, "pending")
    if pending:
        parts += [_heading(pending), _text(pending, "prompt"), _text(reply, "briefing")]
        parts.append(_how_to_go_on(reply))
    elif reply.get("isComplete") is True:
        parts.append(
            "The workflow is complete. Nothing is left to call; report the result to the user."
        )
    else:
        parts.append(_next_call(reply))
    return _joined(parts)


def _heading(pending: JsonObject) -> str:
    role = _text(pending, "agentRole")
    heading = f"# {_text(pending, 'title')} (step {_text(pending, 'stepId')})"
    return f"{heading}\n\nYour role: {role}" if role else heading


def _how_to_go_on(reply: JsonObject) -> str:
    lines = ["---"]
    done = "When the step is done,"
    if reply.get("nextIntent") == "await_user_confirmation":
        done += " show the user the result and wait for their confirmation. Then"
    token = _text(reply, "retryContinueToken") or _text(reply, "continueToken")
    if token:
        call: JsonObject = {
            "continueToken": token,
            "intent": "advance",
            "output": {"notesMarkdown": "<what you did, found and decided>"},
        }
        lines.append(f"{done} call continue_workflow with\n{_json(call)}")
    lines.append(_checkpoint_call(reply))
    return _joined(lines)


def _checkpoint_call(reply: JsonObject) -> str:
    checkpoint = _text(reply, "checkpointToken")
    if not checkpoint:
        return ""
    call = _json({"checkpointToken": checkpoint})
    return f"To mark progress without leaving the step: checkpoint_workflow {call}"


def _blocked(reply: JsonObject) -> str:
    parts = ["Blocked: the step was not handed in, and nothing of this call was applied."]
    for number, blocker in enumerate(_objects(_object(reply, "blockers"), "blockers"), start=1):
        fix = _text(blocker, "suggestedFix") or _text(blocker, "fix")
        parts.append(
            f"{number}. {_text(blocker, 'code')} ({_pointed_at(blocker)}): "
            + _text(blocker, "message")
            + (f"\n   {fix}" if fix else "")
        )
    told = "\n".join(parts)
    validation = _object(reply, "validation")
    more = [*_texts(validation, "issues"), *_texts(validation, "suggestions")]
    # The blockers quote most of the feedback; what they leave out is told, what they say is not.
    parts.append("\n".join(f"- {each}" for each in more if each.strip() not in told))
    followup = _object(reply, "assessmentFollowup")
    if followup:
        parts.append(f"{_text(followup, 'title')}: {_text(followup, 'guidance')}")
    parts.append(_warnings(reply))
    pending = _object(reply, "pending")
    if pending:
        parts += [_heading(pending), _text(pending, "prompt")]
    if reply.get("retryable") is False:
        parts.append("Sending it again cannot help: this needs the user or the workflow's author.")
    else:
        parts += [_retry(reply), _checkpoint_call(reply)]
    return _joined(parts)


def _pointed_at(blocker: JsonObject) -> str:
    pointer = _object(blocker, "pointer")
    named = [f"{key} {_text(pointer, key)}" for key in pointer if key != "kind"]
    return ", ".join(named) or _text(pointer, "kind")


def _retry(reply: JsonObject) -> str:
    token = _text(reply, "retryContinueToken") or _text(reply, "continueToken")
    blockers = _objects(_object(reply, "blockers"), "blockers")
    asked = any("output.artifacts" in _text(each, "suggestedFix") for each in blockers)
    output: JsonObject = {"notesMarkdown": "<notes>"}
    call: JsonObject = {
        "continueToken": token,
        "intent": "advance",
        "output": {**output, "artifacts": ["<every artifact>"]} if asked else output,
    }
    return (
        "---\n\nDo what is missing, then call continue_workflow with this token, "
        f"sending everything that should count:\n{_json(call)}"
    )


def _gate(reply: JsonObject) -> str:
    step, kind, gate = (_text(reply, key) for key in ("stepId", "gateKind", "gateId"))
    answers = f"headway gates approve {gate} or headway gates reject {gate}"
    call: JsonObject = {"continueToken": _text(reply, "gateToken"), "intent": "advance"}
    return _joined(
        [
            f"Step {step} was handed in and waits for a decision ({kind}).",
            f"Stop and tell the user to judge it: {_text(reply, 'showCommand')}, then {answers}.",
            "After the decision, call continue_workflow with",
            _json(call),
        ]
    )


def _workflows(reply: JsonObject) -> str:
    parts = []
    for item in _objects(reply, "workflows"):
        about = _text(item, "description")[:DESCRIPTION_SHOWN_MAX]
        parts.append(f"- {_text(item, 'workflowId')}: {_text(item, 'name')}. {about}")
    text = "\n".join(parts) if parts else "No workflow was found."
    broken = [_broken(file) for file in _objects(reply, "validationWarnings")]
    sources = [_folder(source) for source in _objects(reply, "sources")]
    return _joined(
        [
            text,
            "Files with problems:\n" + "\n".join(broken) if broken else "",
            "Folders searched:\n" + "\n".join(sources) if sources else "",
            _warnings(reply),
            'Start one: start_workflow with {"workflowId", "workspacePath", "goal"}.'
            if parts
            else "",
        ]
    )


def _checkpoint(reply: JsonObject) -> str:
    return _joined(
        [
            "Progress is saved and the step stays open: go on with the continueToken you hold.",
            "To read the step again later or in another chat, call continue_workflow with\n"
            + _json(_object(_object(reply, "nextCall"), "params")),
            f"The resume token {_text(reply, 'resumeToken')} serves for that as well.",
        ]
    )


def _candidates(reply: JsonObject) -> str:
    parts = []
    for item in _objects(reply, "candidates"):
        title = _text(item, "sessionTitle") or _text(item, "sessionId")
        parts.append(
            f"## {title} ({_text(item, 'workflowId')}, {_standing(item)}, "
            f"match {_text(item, 'confidence')}, {_text(item, 'sessionId')})\n\n"
            f"{_text(item, 'matchExplanation')}\n\n{_text(item, 'snippet')}\n\n{_next_call(item)}"
        )
    total = reply.get("totalEligible")
    told = f"{len(parts)} of {total} sessions that match, the best first."
    if not parts:
        told = "No session matches. Try other words, an id or a branch, or start a new session."
    return _joined([told, _warnings(reply), *parts])


def _standing(item: JsonObject) -> str:
    if item.get("isComplete") is True:
        return "complete"
    waits = "waits for a decision " if item.get("status") == "gated" else ""
    return f"{waits}at step {_text(item, 'pendingStepId')}"


def _assessed(reply: JsonObject) -> str:
    lines = []
    for assessment in _objects(_object(reply, "stepContext"), "assessments"):
        levels = ", ".join(
            f"{_text(item, 'dimensionId')} = {_text(item, 'level')}"
            for item in _objects(assessment, "dimensions")
        )
        notes = " ".join(_texts(assessment, "normalizationNotes"))
        lines.append(
            f"Recorded assessment {_text(assessment, 'assessmentId')}: {levels}. {notes}".rstrip()
        )
    return "\n".join(lines)


def _warnings(reply: JsonObject) -> str:
    warnings = reply.get("warnings")
    if not isinstance(warnings, Sequence) or isinstance(warnings, str):
        return ""
    return "\n".join(f"Warning: {_warning(warning)}" for warning in warnings)


def _warning(warning: Json) -> str:
    if isinstance(warning, str):
        return warning
    if not isinstance(warning, Mapping):
        return _json(warning)
    return _text(warning, "message") or _diagnostic(warning) or _json(warning)


def _broken(file: JsonObject) -> str:
    told = [_diagnostic(error) or _json(error) for error in _objects(file, "errors")]
    return "\n".join([f"- {_text(file, 'workflowId')} cannot be started:", *told])


def _folder(source: JsonObject) -> str:
    total, shadowed = source.get("totalCount"), source.get("shadowedCount")
    held = "not there" if source.get("stale") is True else f"holds {_json(total)}"
    hidden = f", {_json(shadowed)} of them shadowed" if shadowed else ""
    told = source.get("problems")
    problems = told if isinstance(told, Sequence) and not isinstance(told, str) else ()
    line = f"- {_text(source, 'path')} ({_text(source, 'kind')}): {held}{hidden}"
    return "\n".join([line, *(f"  {problem}" for problem in problems)])


def _diagnostic(error: JsonObject) -> str:
    if not _text(error, "what"):
        return ""
    where = f"{_text(error, 'file')}:{_json(error.get('line'))}:{_json(error.get('column'))}"
    told = " ".join(_text(error, key) for key in ("what", "why", "remedy"))
    return f"  {where}: {_text(error, 'code')}: {told}"


def _next_call(reply: JsonObject) -> str:
    call = _object(reply, "nextCall")
    if not call:
        return ""
    return f"Next: call {_text(call, 'tool')} with\n{_json(call.get('params'))}"


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _json(value: Json) -> str:
    return ENCODER.encode(value)


def _text(holder: JsonObject, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _texts(holder: JsonObject, key: str) -> list[str]:
    value = holder.get(key)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [item for item in value if isinstance(item, str)]


def _object(holder: JsonObject, key: str) -> JsonObject:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}


def _objects(holder: JsonObject, key: str) -> list[JsonObject]:
    value = holder.get(key)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [item for item in value if isinstance(item, Mapping)]
