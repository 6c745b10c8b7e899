"""The words a session is found by: its goal, its workflow's name and id, and all notes handed in.

They are a projection: each append adds those of its own events, and the whole set can be made anew
from the stream.
"""

from collections.abc import Callable, Iterable
from typing import Final

from headway.domain.events import (
    AdvanceBlocked,
    Content,
    Event,
    GateOpened,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import Digest
from headway.domain.state import SessionState
from headway.domain.words import words_of
from headway.domain.workflow import Workflow

_BRINGS_NOTES: Final = (StepAdvanced, AdvanceBlocked, GateOpened)

BlobReader = Callable[[Digest], bytes | None]


def words_brought(events: Iterable[Event], workflow: Workflow, blob: BlobReader) -> frozenset[str]:
    """Return the words of these events; `blob` gives the bytes of notes that are kept as one."""
    found: list[frozenset[str]] = []
    for event in events:
        if isinstance(event, SessionStarted):
            found.append(words_of(f"{event.goal}\n{event.workflow_id}\n{workflow.name}"))
        elif isinstance(event, _BRINGS_NOTES):
            found.append(_words_in(event.output.notes, blob))
    return frozenset().union(*found)


def words_in_state(state: SessionState, workflow: Workflow, blob: BlobReader) -> frozenset[str]:
    """Return the words of a whole session, from the state that all its events lead to."""
    outcomes = (attempt.outcome for attempt in state.attempts.values())
    # What passed a gate is handed on by the event that the gate's answer led to.
    events = [state.started, *outcomes]
    return words_brought((event for event in events if event is not None), workflow, blob)


def _words_in(notes: Content | None, blob: BlobReader) -> frozenset[str]:
    if notes is None:
        return frozenset()
    if not notes.blob:
        return words_of(str(notes.inline))
    return words_of((blob(notes.digest) or b"").decode(errors="replace"))
