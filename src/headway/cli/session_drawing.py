"""Sessions as text: two lines in a list; one by itself on a page."""

from collections.abc import Iterator, Sequence
from typing import Final

from headway.application.describe_session import GateStanding, SessionDescription, StepLeft
from headway.cli.options import indented_json
from headway.cli.safe_text import moment, one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style, fitted
from headway.ports.sessions import SessionSummary

INDENT: Final = "   "
NAME_WIDTH: Final = 13
HEAD_CHARACTERS: Final = 12  # of a commit
STEPS_FIRST: Final = 5  # a longer session is shown by its beginning and its end
STEPS_LAST: Final = 15
COLOURS: Final = {
    "in_progress": "bold", "blocked": "red", "gated": "yellow",
    "complete": "green", "complete_with_gaps": "yellow",
}  # fmt: skip


def list_lines(summary: SessionSummary, style: Style) -> Iterator[str]:
    """Yield two lines: id, status, step and time; then workflow and goal."""
    step = f" at {one_line(summary.step_id)}" if summary.step_id else ""
    status = words(summary.status)
    head = f"{summary.session}  {status}{step}  {moment(summary.updated_at)}"
    yield style.paint(fitted(head, max(style.width, WIDTH_MIN), style), COLOURS[summary.status])
    told = f"    {one_line(summary.workflow_id)}: {one_line(summary.goal)}"
    yield fitted(told, max(style.width, WIDTH_MIN), style)


def show_lines(told: SessionDescription, style: Style, *, whole: bool) -> Iterator[str]:
    """Yield the page of a session: what it is, where it stands, what was done."""
    width = max(style.width, WIDTH_MIN)
    head = fitted(f"{told.session_id}  {words(told.status)}", width, style)
    yield style.paint(head, COLOURS[told.status])
    for name, text in _facts(told):
        lines = list(wrapped(one_line(text), width - NAME_WIDTH))
        yield style.paint(name.ljust(NAME_WIDTH), "dim") + lines[0]
        yield from (" " * NAME_WIDTH + line for line in lines[1:])
    yield from _here(told, style, width)
    yield from _steps(told.steps, style, width, whole=whole)
    if told.gaps:
        yield from _title(f"Gaps ({len(told.gaps)})", style)
        for gap in told.gaps:
            yield from _hung(f"{gap.code} ({gap.severity}): {gap.summary}", width)
    if told.gates:
        yield from _title(f"Gates ({len(told.gates)})", style)
        for gate in told.gates:
            yield from _hung(_gate(gate), width)


def words(name: str) -> str:
    """Return a name of the engine's as people write it."""
    return name.replace("_", " ")


def _facts(told: SessionDescription) -> Iterator[tuple[str, str]]:
    counts = told.counts
    yield "goal", told.goal
    yield "workflow", f"{told.workflow_name} ({told.workflow_id} {told.workflow_version})"
    yield "pinned as", told.workflow_hash
    yield "begun", moment(told.started_at)
    yield "last touched", moment(told.updated_at)
    yield "workspace", told.workspace
    if told.git_head or told.branch:
        head = told.git_head[:HEAD_CHARACTERS] if told.git_head else "no commit yet"
        yield "git", f"{told.branch or 'no branch'} at {head}"
    yield "preferences", f"{words(told.autonomy)}, {told.risk_policy} ({told.preferences_source})"
    yield "gates", told.gate_mode
    parts = [
        _many(counts.steps, "step", "steps") + " done",
        *([_many(counts.refusals, "refusal", "refusals")] if counts.refusals else []),
        *([_many(counts.forks, "fork", "forks")] if counts.forks else []),
        *([_many(counts.checkpoints, "checkpoint", "checkpoints")] if counts.checkpoints else []),
        *([_many(counts.checks, "check", "checks")] if counts.checks else []),
        *([_many(len(told.gaps), "gap", "gaps")] if told.gaps else []),
        _many(counts.events, "event", "events"),
    ]
    yield "so far", ", ".join(parts)


def _here(told: SessionDescription, style: Style, width: int) -> Iterator[str]:
    if told.here is None:
        return
    yield from _title("Stands at", style)
    yield from _hung(told.here.label, width)
    for blocker in told.here.blockers:
        yield from _hung(f"refused, {blocker.code}: {blocker.message}", width)
        yield from _hung(f"to do: {blocker.fix}", width)


def _steps(steps: Sequence[StepLeft], style: Style, width: int, *, whole: bool) -> Iterator[str]:
    if steps:
        yield from _title("Steps", style)
    mark = "✔" if style.unicode else "+"
    left_out = 0 if whole else max(len(steps) - STEPS_FIRST - STEPS_LAST, 0)
    for number, step in enumerate(steps, 1):
        if left_out and STEPS_FIRST < number <= STEPS_FIRST + left_out:
            if number == STEPS_FIRST + 1:
                yield f"... {left_out:,} steps left out (--full shows them)"
            continue
        branch = f"  branch {step.branch}" if step.branch > 1 else ""
        time = moment(step.left_at)
        label = fitted(f"{mark} {step.label}", width - len(time) - len(branch) - 2, style)
        yield f"{style.paint(label, 'green')}{branch}  {style.paint(time, 'dim')}"
        yield from _handed_in(step, style, width)


def _handed_in(step: StepLeft, style: Style, width: int) -> Iterator[str]:
    if step.notes is not None:
        for line in wrapped(_plain_mark(step, style), width - len(INDENT)):
            yield f"{INDENT}{line}".rstrip()
    for artifact in step.artifacts:
        mark = "▪" if style.unicode else "*"
        told = f"{INDENT}{mark} artifact {one_line(artifact.kind)}, {artifact.size:,} bytes"
        yield style.paint(fitted(told, width, style), "dim")
        if artifact.value is not None:
            for line in wrapped(indented_json(artifact.value), width - 2 * len(INDENT)):
                yield f"{INDENT * 2}{line}"


def _plain_mark(step: StepLeft, style: Style) -> str:
    """Return the notes; where they were cut, the mark says how to see the rest."""
    notes = step.notes or "(empty notes)"
    notes = f"{notes} (--full shows the rest)" if step.cut else notes
    return notes if style.unicode else notes.encode("ascii", "replace").decode()


def _gate(gate: GateStanding) -> str:
    if gate.verdict is None:
        return f"{gate.gate_id} at {gate.step_id} waits since {moment(gate.opened_at)}"
    why = f": {gate.rationale}" if gate.rationale else ""
    return f"{gate.gate_id} at {gate.step_id} {gate.verdict} by {gate.decided_by}{why}"


def _title(text: str, style: Style) -> Iterator[str]:
    yield ""
    yield style.paint(text, "bold")


def _hung(text: str, width: int) -> Iterator[str]:
    """Yield a text indented, further lines of it deeper."""
    for number, line in enumerate(wrapped(one_line(text), width - 2 * len(INDENT))):
        yield f"{INDENT if number == 0 else INDENT * 2}{line}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"
