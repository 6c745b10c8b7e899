"""The events of runs as a store keeps them: sealed like a session's, in the codec of runs."""

from collections.abc import Iterable, Sequence

from headway.adapters.storage.database import Row
from headway.adapters.storage.sealing import Head, Sealed, in_chain, proven, told_where
from headway.domain.ids import StreamId
from headway.domain.runs.event_codec import decode, encode
from headway.domain.runs.events import RunEvent
from headway.ports.queue import RunRecorded


def encoded(events: Sequence[RunEvent]) -> list[tuple[RunEvent, bytes]]:
    """Return events with their bytes. Raises InvalidInput for one that would not come back."""
    assert events, "a write without events records nothing"
    return [(event, encode(event)) for event in events]


def recorded_run(sealed: Iterable[Sealed[RunEvent]]) -> tuple[RunRecorded, ...]:
    """Return sealed events as the queue hands them out."""
    return tuple(
        RunRecorded(version=each.version, recorded_at=each.recorded_at, event=each.event)
        for each in sealed
    )


def read_back(
    stream: StreamId, rows: Iterable[Row], after: Head, end: Head
) -> tuple[RunRecorded, ...]:
    """Return the events of rows, all checked. Raises SessionNotHealthy."""
    found = []
    for row, prev_hash in in_chain(stream, rows, after, end):
        checked = proven(stream, row, prev_hash)
        with told_where(stream, checked.version):
            event = decode(checked.data)
        found.append(
            RunRecorded(version=checked.version, recorded_at=checked.recorded_at, event=event)
        )
    return tuple(found)
