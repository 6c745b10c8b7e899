"""Which blobs a run's events name: what must be kept as long as the run is."""

from typing import assert_never

from headway.domain.ids import Digest
from headway.domain.runs.events import (
    AbortAsked,
    ChangesCommitted,
    ChangesSaved,
    CompactionAsked,
    ConversationCompacted,
    GateReached,
    LimitNeared,
    ModelAsked,
    ModelErred,
    ModelReplied,
    PauseAsked,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSteered,
    RunSubmitted,
    SessionJoined,
    StepReached,
    StuckNoticed,
    TextTold,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
    WorktreePlanned,
)


def run_blobs(event: RunEvent) -> tuple[Digest, ...]:
    """Return the blobs that an event names. The digest of a call's arguments names none."""
    match event:
        case SessionJoined(system=blob) | TextTold(text=blob) | RunSteered(text=blob):
            return (blob,)
        case ModelReplied(reply=blob) | ConversationCompacted(summary=blob):
            return (blob,)
        case ChangesSaved(patch=blob):
            return (blob,)
        case ToolEnded(text=text, whole=whole):
            return (text,) if whole is None else (text, whole)
        case (
            RunSubmitted()
            | RunClaimed()
            | WorktreePlanned()
            | StepReached()
            | WorkflowCompleted()
            | GateReached()
            | AbortAsked()
            | PauseAsked()
            | ModelAsked()
            | ModelErred()
            | CompactionAsked()
            | StuckNoticed()
            | LimitNeared()
            | ToolStarted()
            | ChangesCommitted()
            | RunEnded()
            | RunResumed()
        ):
            return ()
        case _:
            assert_never(event)
