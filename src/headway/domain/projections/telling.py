"""Events in words: one line each, for people. Texts are cut where they are shown, never stored cut.

A line never holds a line break or a control character: what an agent wrote must not be able to draw
over a person's screen.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, assert_never

from headway.domain.conditions import describe
from headway.domain.cursor import Place
from headway.domain.events import (
    AdvanceBlocked,
    AssessmentResult,
    Blocker,
    CheckpointSaved,
    CheckResult,
    ChecksRecorded,
    Content,
    Drift,
    Gap,
    GapRecorded,
    GateDecided,
    GateOpened,
    Output,
    PreferencesChanged,
    Skip,
    StepAdvanced,
    Walk,
)
from headway.domain.preferences import Preferences
from headway.domain.texts import cut_text
from headway.domain.values import Value
from headway.domain.workflow import Item, Loop, Workflow

TEXT_BYTES_MAX: Final = 400

Kind: TypeAlias = Literal[
    "step_done", "step_open", "step_blocked", "step_gated", "skipped", "limit", "fork",
    "blocked", "fix", "notes", "artifact", "checkpoint", "gate", "gap", "check_passed",
    "check_failed", "assessment", "preferences", "drift", "complete", "complete_with_gaps",
]  # fmt: skip

# Control characters, line and paragraph separators, and the marks that turn the writing direction.
_UNSHOWN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+"
)
_HEADING: Final = re.compile(r"^[#>*\-\s]+")


class Told(Value):
    """A line of text and what kind of thing it tells."""

    kind: Kind
    text: str


def one_line(text: str) -> str:
    """Return the text as one line that is safe to show, cut to a bound."""
    return cut_text(_UNSHOWN.sub(" ", text).strip(), TEXT_BYTES_MAX)


def step_label(title: str, place: Place) -> str:
    """Return a step's title and id, and the pass of each loop around it, counted from 1."""
    label = f"{one_line(title)} ({place.step.id})"
    if not place.loops:
        return label
    passes = ", ".join(f"{one_line(loop.title)} {number + 1}" for loop, number in place.loops)
    return f"{label} [{passes}]"


def walk_rows(workflow: Workflow, walk: Walk) -> Iterator[Told]:
    """Tell what was passed over between two steps, and the loops that met their limit."""
    items = _items(workflow) if walk.skips else {}
    for skip in walk.skips:
        yield Told(kind="skipped", text=_skip(skip, items.get(skip.item)))
    if walk.skips_omitted:
        yield Told(kind="skipped", text=f"{walk.skips_omitted} more, not recorded one by one")
    for limit in walk.loop_limits:
        text = f"{one_line(limit.title)} ended at its limit of {limit.max_iterations} passes"
        yield Told(kind="limit", text=f"{text} although it would have gone on")


def gap_row(gap: Gap) -> Told:
    """Tell a gap."""
    return Told(kind="gap", text=one_line(f"{gap.code} ({gap.severity}): {gap.summary}"))


def preferences_row(source: str, chosen: Preferences) -> Told:
    """Tell who chose how far a session may go by itself."""
    text = f"{source} chose {chosen.autonomy}, {chosen.risk_policy}"
    return Told(kind="preferences", text=text)


def fact_rows(
    event: StepAdvanced
    | AdvanceBlocked
    | CheckpointSaved
    | GateOpened
    | GateDecided
    | ChecksRecorded
    | PreferencesChanged
    | GapRecorded,
) -> Iterator[Told]:
    """Tell an event that happened on a node."""
    match event:
        case StepAdvanced():
            yield from _advanced(event)
        case AdvanceBlocked():
            for blocker in event.blockers:
                yield Told(kind="blocked", text=_blocker(blocker))
                yield Told(kind="fix", text=one_line(blocker.fix))
        case CheckpointSaved():
            yield Told(kind="checkpoint", text="checkpoint saved")
        case GateOpened():
            yield Told(kind="gate", text=f"waits for a decision ({event.gate})")
        case GateDecided():
            reason = f": {event.rationale}" if event.rationale else ""
            yield Told(kind="gate", text=one_line(f"{event.verdict} by {event.decided_by}{reason}"))
        case ChecksRecorded():
            yield from (_check(result) for result in event.results)
        case PreferencesChanged():
            yield preferences_row(event.source, event.opened.preferences)
        case GapRecorded():
            yield from (gap_row(gap) for gap in event.gaps)
        case _:
            assert_never(event)


def _advanced(event: StepAdvanced) -> Iterator[Told]:
    yield from _output(event.output)
    yield from (_assessment(each) for each in event.assessments)
    yield from (gap_row(gap) for gap in event.gaps)
    yield from (_drift(each) for each in event.drift)


def _output(output: Output) -> Iterator[Told]:
    if output.notes is not None:
        yield Told(kind="notes", text=_first_line(output.notes))
    for artifact in output.artifacts:
        yield Told(kind="artifact", text=_artifact(artifact))


def _first_line(notes: Content) -> str:
    if not isinstance(notes.inline, str):
        return f"notes of {notes.size:,} bytes"
    lines = (_HEADING.sub("", one_line(line)) for line in notes.inline.splitlines())
    return next((line for line in lines if line), "(empty notes)")


def _artifact(artifact: Content) -> str:
    kind = artifact.inline.get("kind") if isinstance(artifact.inline, dict) else None
    name = one_line(kind) if isinstance(kind, str) and kind else "artifact"
    return f"{name}, {artifact.size:,} bytes"


def _skip(skip: Skip, item: Item | None) -> str:
    name = f"{one_line(item.title)} ({skip.item})" if item else skip.item
    # A loop that had nothing to do says so itself; anything else is a condition that did not hold.
    if item and item.run_condition and describe(item.run_condition) == skip.condition:
        return one_line(f"{name}: not the case that {skip.condition}")
    return one_line(f"{name}: {skip.condition}")


def _blocker(blocker: Blocker) -> str:
    return one_line(f"{blocker.code}: {blocker.message}")


def _check(result: CheckResult) -> Told:
    if result.problem:
        return Told(kind="check_failed", text=one_line(f"check {result.check}: {result.problem}"))
    if result.exit_code is None:
        return Told(kind="check_failed", text=f"check {result.check} did not run")
    kind: Kind = "check_failed" if result.exit_code else "check_passed"
    seconds = result.duration_ms / 1000
    text = f"check {result.check}: exit code {result.exit_code} after {seconds:.1f} s"
    return Told(kind=kind, text=text)


def _assessment(result: AssessmentResult) -> Told:
    levels = ", ".join(f"{each.dimension} {each.level}" for each in result.dimensions)
    return Told(kind="assessment", text=one_line(f"{result.assessment}: {levels}"))


def _drift(drift: Drift) -> Told:
    text = f"{drift.slot} was {drift.pinned} at the start and is {drift.current} now"
    return Told(kind="drift", text=one_line(text))


def _items(workflow: Workflow) -> dict[str, Item]:
    found: dict[str, Item] = {}
    waiting = list(workflow.steps)
    while waiting:
        item = waiting.pop()
        found[item.id] = item
        if isinstance(item, Loop):
            waiting.extend(item.body)
    return found
