"""A history that holds together: each event refers only to what the events before it recorded.

Laws.
1. Every history the decider wrote fits.
2. A history that fits can be folded, and every position in it found in a workflow that `stands`
   accepts for its nodes. So bytes from elsewhere are judged here before anything builds on them.
"""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from headway.domain.events import (
    AdvanceBlocked,
    CheckpointSaved,
    ChecksRecorded,
    Content,
    ContextChange,
    Cursor,
    Event,
    GapRecorded,
    GateDecided,
    GateOpened,
    Opened,
    Output,
    PreferencesChanged,
    SessionCompleted,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import Digest, NodeId
from headway.domain.workflow import Item, Loop, Step, Workflow

_DIGEST: Final = re.compile(rb"sha256:[0-9a-f]{64}")


class Continuity:
    """What the events so far recorded, as far as later ones may refer to it."""

    def __init__(self) -> None:
        self.version = 0
        self.openings: dict[NodeId, list[int]] = {}  # the versions that gave a node its standing
        self._opened_at: set[int] = set()
        self._folds: set[int] = set()
        self._gates: set[int] = set()

    def misfit(self, event: Event) -> str | None:
        """Take in the next event; return what does not fit, in words."""
        self.version += 1
        if (self.version == 1) != isinstance(event, SessionStarted):
            return "is not where a session's start belongs"
        problem = self._unknown(event)
        if problem is not None:
            return problem
        if isinstance(event, SessionStarted | StepAdvanced):
            self._fold(event.context)
        if isinstance(event, GateOpened):
            self._gates.add(self.version)
        if isinstance(event, SessionStarted | StepAdvanced | PreferencesChanged) and event.opened:
            return self._open(event.opened)
        return None

    def _unknown(self, event: Event) -> str | None:
        match event:
            case StepAdvanced() | AdvanceBlocked() | CheckpointSaved() | GateOpened():
                known = event.opened_at in self.openings.get(event.node, ())
            case PreferencesChanged():
                known = event.opened_at in self.openings.get(event.opened.node, ())
            case ChecksRecorded():
                known = event.node in self.openings
            case GateDecided():
                known = event.node in self.openings and event.opened_gate in self._gates
            case SessionCompleted():
                known = event.node is None or event.node in self.openings
            case SessionStarted() | GapRecorded():
                known = True
            case _:
                assert_never(event)
        return None if known else "speaks of a step that was not open"

    def _open(self, opened: Opened) -> str | None:
        if opened.parent is not None and opened.parent not in self._opened_at:
            return "follows a step that was never open"
        if any(segment.version not in self._folds for segment in opened.context):
            return "has a context that was never recorded"
        self.openings.setdefault(opened.node, []).append(self.version)
        self._opened_at.add(self.version)
        return None

    def _fold(self, change: ContextChange | None) -> None:
        if change is not None:
            self._folds.add(self.version)


def stands(workflow: Workflow, cursor: Cursor) -> bool:
    """Tell whether a cursor names a step of a workflow."""
    items: tuple[Item, ...] = workflow.steps
    if len(cursor.passes) != len(cursor.at) - 1:
        return False
    for index in cursor.at[:-1]:
        loop = items[index] if 0 <= index < len(items) else None
        if not isinstance(loop, Loop):
            return False
        items = loop.body
    last = cursor.at[-1]
    return 0 <= last < len(items) and isinstance(items[last], Step)


def named_blobs(event: Event) -> Iterator[tuple[Digest, int | None]]:
    """Yield the blobs an event names, with their size where it says one."""
    if isinstance(event, SessionStarted):
        yield Digest(event.workflow), None
    elif isinstance(event, StepAdvanced | AdvanceBlocked | GateOpened):
        for content in _contents(event.output):
            if content.blob:
                yield content.digest, content.size
    elif isinstance(event, ChecksRecorded):
        for result in event.results:
            if result.output_digest is not None:
                yield result.output_digest, None


def mentions(data: object) -> set[Digest]:
    """Return every digest spelled in an event's bytes, whatever it stands for, damaged or not."""
    if not isinstance(data, bytes):
        return set()
    return {Digest(found.decode("ascii")) for found in _DIGEST.findall(data)}


def _contents(output: Output) -> Iterator[Content]:
    if output.notes is not None:
        yield output.notes
    yield from output.artifacts
