"""To verify a long session: the walk along its chain, and the whole proof with all that stands by.

The promise is on the walk: reading each event from the file and hashing it anew. The floor beside
it is SHA-256 over as many bytes of the same lengths, in memory.
"""

import hashlib
from collections.abc import Iterator

from bench.figures import Figure
from bench.timing import repeated
from headway.application.engine import Engine
from headway.application.proving import History, stored_events, walk
from headway.application.verify_store import verify_store
from headway.domain.ids import StreamId

GROUP = "verify"
WALK_MAX = 0.02  # milliseconds an event: 50,000 events a second
REPEATS = 5


def measure_verify(engine: Engine) -> Iterator[Figure]:
    """Yield what it costs to verify the longest session there is."""
    version, stream = max((_version(engine, name), name) for name in engine.records.streams())
    events = walk(History(stream), stored_events(engine.records, stream, version))
    lengths = [len(event.data) for event in events]

    def floor() -> None:
        for length in lengths:
            hashlib.sha256(bytes(length)).digest()

    def walked() -> None:
        history = History(stream)
        for _ in walk(history, stored_events(engine.records, stream, version)):
            pass
        assert history.version == version, history.problem

    def whole() -> None:
        report = verify_store(engine, _session(stream))
        assert not report.problems, report.problems

    note = f"{version:,} events"
    hashed = repeated(floor, REPEATS) / version
    yield Figure(
        group=GROUP, name="SHA-256 of an event's bytes", value=hashed, unit="ms", note=note
    )
    once = repeated(walked, REPEATS) / version
    rate = f"{1_000 / once:,.0f} events/s"
    yield Figure(
        group=GROUP, name="the walk, an event", value=once, unit="ms", target=WALK_MAX, note=rate
    )
    once = repeated(whole, 3) / version
    rate = f"{1_000 / once:,.0f} events/s, with blobs, attempts and summary"
    yield Figure(group=GROUP, name="all of it, an event", value=once, unit="ms", note=rate)


def _version(engine: Engine, stream: StreamId) -> int:
    end = engine.records.standing(stream)
    assert end is not None
    assert isinstance(end.version, int)
    return end.version


def _session(stream: StreamId) -> str:
    return stream.partition(":")[2]
