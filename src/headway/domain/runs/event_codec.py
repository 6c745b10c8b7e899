"""The events of runs as bytes; the laws are those of the sessions' codec."""

from typing import Final

from headway.domain.event_codec import EventCodec
from headway.domain.runs.events import RunEvent
from headway.domain.values import Value

SCHEMA_VERSION: Final = 1


class _Envelope(Value):
    e: RunEvent
    v: int


_CODEC: Final = EventCodec(_Envelope, SCHEMA_VERSION, {})


def encode(event: RunEvent) -> bytes:
    """Return the stored bytes of an event. Raises InvalidInput when they could not be read back."""
    return _CODEC.encode(event)


def decode(data: bytes) -> RunEvent:
    """Return the event of stored bytes. Raises SessionNotHealthy when they cannot be understood."""
    return _CODEC.decode(data)
