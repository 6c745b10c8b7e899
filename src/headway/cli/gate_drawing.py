"""A gate as text for whoever decides: everything that is to be judged, and nothing that acts.

What an agent wrote is shown as it is, but for the characters that would move the cursor, colour the
line or turn the direction of writing: no text can pretend to be another part of the page.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from headway.application.requests import Json, Reply
from headway.cli.tree_drawing import Style

_UNSHOWN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
INDENT: Final = "    "


def gate_lines(gate: Reply, style: Style) -> Iterator[str]:
    """Yield a gate whole; its digest comes last, after everything it stands for."""
    yield style.paint(f"{_line(gate['gateId'])}  {_line(gate['gateKind'])}", "bold")
    yield f"session {_line(gate['sessionId'])}  {_line(gate['workflowId'])}"
    yield f"waits since {_time(gate['openedAtMs'])}"
    yield from _section("Goal", gate["goal"], style)
    yield from _section(f"Step {_line(gate['stepId'])}: {_line(gate['title'])}", "", style)
    yield from _section("What the agent was asked", gate["prompt"], style)
    yield from _section("Notes handed in", gate["notes"] or "(none)", style)
    artifacts = _list(gate["artifacts"])
    for number, artifact in enumerate(artifacts, 1):
        yield from _section(f"Artifact {number} of {len(artifacts)}", _json(artifact), style)
    if gate["context"]:
        yield from _section("Context it would set", _json(gate["context"]), style)
    for name, title in (("assessments", "Assessment"), ("gaps", "Gap"), ("checks", "Check")):
        for each in _list(gate[name]):
            yield from _section(title, _json(each), style)
    yield ""
    yield from _standing(gate)


def list_lines(listed: Reply, style: Style) -> Iterator[str]:
    """Yield two lines a gate."""
    for gate in _list(listed["gates"]):
        assert isinstance(gate, dict)
        head = f"{_line(gate['gateId'])}  waits since {_time(gate['openedAtMs'])}"
        if "problem" in gate:
            yield style.paint(head, "bold")
            yield f"{INDENT}{_line(gate['sessionId'])}: {_line(gate['problem'])}"
            continue
        yield style.paint(f"{head}  {_line(gate['gateKind'])}", "bold")
        yield f"{INDENT}{_line(gate['title'])} ({_line(gate['stepId'])})  {_line(gate['goal'])}"
    if listed["more"]:
        yield "There are more; --limit shows them."


def decided_lines(decided: Reply) -> Iterator[str]:
    """Yield what became of a gate that was just answered."""
    yield f"{_line(decided['gateId'])} {_line(decided['verdict'])} by {_line(decided['decidedBy'])}"
    if decided["isComplete"]:
        yield "The workflow is complete on this branch."
    elif decided["verdict"] == "approved":
        yield f"Next step: {_line(decided['nextStep'])}. The agent gets it when it asks again."
    else:
        yield f"Back to: {_line(decided['nextStep'])}. The agent is told why when it asks again."


def _standing(gate: Reply) -> Iterator[str]:
    decision = gate["decision"]
    if isinstance(decision, Mapping):
        by = f"{_line(decision['verdict'])} by {_line(decision['decidedBy'])}"
        reason = f": {_line(decision['rationale'])}" if decision["rationale"] else ""
        yield f"{by} at {_time(decision['decidedAtMs'])}{reason}"
        return
    name, shown = _line(gate["gateId"]), _line(gate["shown"])
    yield f"shown  {shown}"
    yield f"headway gates approve {name} --shown {shown}"
    yield f"headway gates reject {name} --shown {shown} --because REASON"


def _section(title: str, text: Json, style: Style) -> Iterator[str]:
    yield ""
    yield style.paint(_line(title), "bold")
    if text:
        yield from (f"{INDENT}{line}" for line in _UNSHOWN.sub(" ", str(text)).split("\n"))


def _line(value: Json) -> str:
    return " ".join(_UNSHOWN.sub(" ", str(value)).split())


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def _time(value: Json) -> str:
    assert isinstance(value, int)
    return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M} UTC"
