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
from headway.domain.words import parted, words_in
from headway.domain.workflow import Workflow

_BRINGS_NOTES: Final = (StepAdvanced, AdvanceBlocked, GateOpened)

BlobReader = Callable[[Digest], bytes | None]


def words_brought(events: Iterable[Event], workflow: Workflow, blob: BlobReader) -> str:
    """Return the words of these events, parted by blanks as `domain.words` has them.

    `blob` gives the bytes of notes that are kept as one.
    """
    found: list[str] = []
    for event in events:
        if isinstance(event, SessionStarted):
            found.append(parted(f"{event.goal}\n{event.workflow_id}\n{workflow.name}"))
        elif isinstance(event, _BRINGS_NOTES):
            found.append(_words_of_notes(event.output.notes, blob))
    return " ".join(found)


def words_in_state(state: SessionState, workflow: Workflow, blob: BlobReader) -> frozenset[str]:
    """Return the words of a whole session, from the state that all its events lead to."""
    outcomes = (attempt.outcome for attempt in state.attempts.values())
    # What passed a gate is handed on by the event that the gate's answer led to.
    events = [state.started, *outcomes]
    return words_in(words_brought((each for each in events if each is not None), workflow, blob))


def _words_of_notes(notes: Content | None, blob: BlobReader) -> str:
    if notes is None:
        return ""
    if not notes.blob:
        return parted(str(notes.inline))
    return parted((blob(notes.digest) or b"").decode(errors="replace"))
