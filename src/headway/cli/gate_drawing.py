"""A gate as text for whoever decides: everything that is to be judged, and nothing that acts.

What an agent wrote is shown whole and as it is, but for the characters that act (`safe_text.py`).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from headway.application.requests import Json, Reply
from headway.cli.safe_text import moment, one_line, shown
from headway.cli.style import Style

INDENT: Final = "    "


def gate_lines(gate: Reply, style: Style) -> Iterator[str]:
    """Yield a gate whole; its digest comes last, after everything it stands for."""
    yield style.paint(f"{one_line(gate['gateId'])}  {one_line(gate['gateKind'])}", "bold")
    yield f"session {one_line(gate['sessionId'])}  {one_line(gate['workflowId'])}"
    yield f"waits since {_time(gate['openedAtMs'])}"
    yield from _section("Goal", gate["goal"], style)
    yield from _section(f"Step {one_line(gate['stepId'])}: {one_line(gate['title'])}", "", style)
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
        head = f"{one_line(gate['gateId'])}  waits since {_time(gate['openedAtMs'])}"
        if "problem" in gate:
            yield style.paint(head, "bold")
            yield f"{INDENT}{one_line(gate['sessionId'])}: {one_line(gate['problem'])}"
            continue
        yield style.paint(f"{head}  {one_line(gate['gateKind'])}", "bold")
        step = f"{one_line(gate['title'])} ({one_line(gate['stepId'])})"
        yield f"{INDENT}{step}  {one_line(gate['goal'])}"
    if listed["more"]:
        yield "There are more; --limit shows them."


def decided_lines(decided: Reply, run: str | None) -> Iterator[str]:
    """Yield what became of a gate that was just answered, and of the run that was parked there."""
    verdict = f"{one_line(decided['verdict'])} by {one_line(decided['decidedBy'])}"
    yield f"{one_line(decided['gateId'])} {verdict}"
    if decided["isComplete"]:
        yield "The workflow is complete on this branch."
    elif run is not None:
        yield f"Next step: {one_line(decided['nextStep'])}."
    elif decided["verdict"] == "approved":
        yield f"Next step: {one_line(decided['nextStep'])}. The agent gets it when it asks again."
    else:
        yield f"Back to: {one_line(decided['nextStep'])}. The agent is told why when it asks again."
    if run is not None:
        yield goes_on(run)


def goes_on(run: str) -> str:
    """Return that a run which was parked waits for a worker again."""
    return f"The run {run} goes on with the next free worker, or: headway runs resume {run}"


def _standing(gate: Reply) -> Iterator[str]:
    decision = gate["decision"]
    if isinstance(decision, Mapping):
        by = f"{one_line(decision['verdict'])} by {one_line(decision['decidedBy'])}"
        reason = f": {one_line(decision['rationale'])}" if decision["rationale"] else ""
        yield f"{by} at {_time(decision['decidedAtMs'])}{reason}"
        return
    name, shown = one_line(gate["gateId"]), one_line(gate["shown"])
    yield f"shown  {shown}"
    yield f"headway gates approve {name} --shown {shown}"
    yield f"headway gates reject {name} --shown {shown} --because REASON"


def _section(title: str, text: Json, style: Style) -> Iterator[str]:
    yield ""
    yield style.paint(one_line(title), "bold")
    if text:
        yield from (f"{INDENT}{line}" for line in shown(text).split("\n"))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def _time(value: Json) -> str:
    assert isinstance(value, int)
    return moment(value)
