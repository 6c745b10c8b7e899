"""Events as bytes: the one stored form, and the way back.

Laws.
1. What `encode` writes, `decode` reads as an equal event: `encode` reads back what it wrote with
   the very decoder that will load it later, and refuses what does not come back the same.
2. Equal events have equal bytes: JSON with sorted keys, fields at their default left out.
3. The stored bytes are never rewritten. They name the schema version they were written in; older
   ones are lifted step by step on reading (`upcasters`), newer ones are refused, never guessed at.

The stored form is an envelope of two members: `e`, the event, and `v`, the schema version.
"""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NoReturn, Protocol, TypeAlias, TypeVar

import msgspec

from headway.domain.errors import InvalidInput, SessionNotHealthy
from headway.domain.events import Event
from headway.domain.values import JsonObject, Value

SCHEMA_VERSION: Final = 1

# Lifts an event's JSON from one schema version to the next.
Upcaster: TypeAlias = Callable[[JsonObject], JsonObject]


E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


class Envelope(Protocol[E_co]):
    """The stored form of one union of events; its fields are those named above."""

    def __init__(self, *, e: E_co, v: int) -> None: ...

    @property
    def e(self) -> E_co:
        """Return the event."""

    @property
    def v(self) -> int:
        """Return the schema version."""


class SessionEnvelope(Value):
    """The envelope of a session's events."""

    e: Event
    v: int


class _OldEnvelope(Value):
    e: JsonObject
    v: int


class _Version(msgspec.Struct):  # open, unlike a Value: it looks for the version alone
    v: int


class EventCodec(Generic[E]):
    """Writes events in the schema version `current`, and reads them back from any up to it."""

    def __init__(
        self, envelope: type[Envelope[E]], current: int, upcasters: Mapping[int, Upcaster]
    ) -> None:
        """Take the envelope of the union, and the upcaster of each version before `current`."""
        assert set(upcasters) == set(range(1, current))
        self._envelope = envelope
        self._current = current
        self._upcasters = upcasters
        self._encoder = msgspec.json.Encoder(order="sorted")
        self._decoder = msgspec.json.Decoder(envelope)

    def encode(self, event: E) -> bytes:
        """Return the stored bytes. Raises InvalidInput for an event that would not come back."""
        try:
            data = self._encoder.encode(self._envelope(e=event, v=self._current))
            same = _same(event, self._decoder.decode(data).e)
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
            _refuse(str(error), error)
        if not same:
            _refuse("it holds a value that JSON does not have")
        return data

    def decode(self, data: bytes) -> E:
        """Return the event. Raises SessionNotHealthy for bytes that no known version wrote."""
        try:
            envelope = self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._decode_old(data, error)
        if envelope.v == self._current:
            return envelope.e
        return self._decode_old(data, None)

    def _decode_old(self, data: bytes, cause: Exception | None) -> E:
        """Read bytes that are not of the current version, or are of none."""
        try:
            version = msgspec.json.decode(data, type=_Version).v
            if version > self._current:
                _refuse_newer(version, self._current)
            if version < 1 or version == self._current:
                _refuse_damaged(cause)
            event = msgspec.json.decode(data, type=_OldEnvelope).e
            for step in range(version, self._current):
                event = self._upcasters[step](event)
            return msgspec.convert({"e": event, "v": self._current}, type=self._envelope).e
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            _refuse_damaged(error)


_CODEC: Final = EventCodec(SessionEnvelope, SCHEMA_VERSION, {})


def encode(event: Event) -> bytes:
    """Return the stored bytes of an event. Raises InvalidInput when they could not be read back."""
    return _CODEC.encode(event)


def decode(data: bytes) -> Event:
    """Return the event of stored bytes. Raises SessionNotHealthy when they cannot be understood."""
    return _CODEC.decode(data)


def _same(event: object, back: object) -> bool:
    """Compare what was written with what came back, where a tuple comes back as a list."""
    if event == back:
        return True
    if isinstance(event, msgspec.Struct):
        return type(event) is type(back) and all(
            _same(getattr(event, name), getattr(back, name)) for name in event.__struct_fields__
        )
    if isinstance(event, dict) and isinstance(back, dict):
        return event.keys() == back.keys() and all(_same(event[key], back[key]) for key in back)
    if isinstance(event, list | tuple) and isinstance(back, list | tuple):
        return len(event) == len(back) and all(map(_same, event, back))
    return False


def _refuse(problem: str, cause: Exception | None = None) -> NoReturn:
    raise InvalidInput(
        f"The event cannot be kept, because it could not be read back: {problem}.",
        remedy="Send texts of whole characters, finite numbers, booleans, lists and objects only.",
        details={"kind": "not_storable"},
    ) from cause


def _refuse_newer(version: int, current: int) -> NoReturn:
    raise SessionNotHealthy(
        f"The event was written in schema version {version}; this Headway knows up to {current}.",
        remedy="Update Headway to the version that wrote it, or a later one.",
        details={"kind": "newer_schema", "schema": version, "known": current},
    )


def _refuse_damaged(cause: Exception | None) -> NoReturn:
    raise SessionNotHealthy(
        "The stored bytes of the event are not an event.",
        remedy="Restore the store from a backup; other sessions are not affected.",
        details={"kind": "damaged_event"},
    ) from cause
