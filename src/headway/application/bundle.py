"""A bundle: a session on the move, with its workflow, blobs and proofs. JSON Lines.

The first line is the header. Then comes a line for each event, in order, that holds the event's
stored bytes exactly; then a line for each blob, in base64; and the last line holds the SHA-256 of
all bytes before it. A line has one spelling, so that whatever is changed in one is noticed there.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn, TypeVar

import msgspec

from headway.application.proving import History, read_workflow, tell, unplaced
from headway.domain.chain import GENESIS
from headway.domain.errors import InvalidInput
from headway.domain.ids import Digest, SessionId, StreamId, digest
from headway.domain.values import Value
from headway.domain.workflow import Workflow
from headway.ports.custody import SealedEvent, StoredEvent
from headway.ports.ledger import Blob

BUNDLE_VERSION: Final = 1
LINE_BYTES_MAX: Final = 256 << 20
HEADER_LINES: Final = 1

T = TypeVar("T", bound=msgspec.Struct)

_SESSION: Final = re.compile(r"sess_[a-z2-7]{26}")
_AGAIN: Final = "Copy the file again, whole and unchanged, or export the session once more."


class Header(Value):
    """What a bundle holds: counts of its lines, and the hash of its last event in hex."""

    bundle: int
    session: SessionId
    ledger: str
    workflow: str
    events: int
    blobs: int
    head: str


class _Version(msgspec.Struct):  # open, unlike a Value: it looks for the version alone
    bundle: int


class _EventLine(Value):
    version: int
    recorded_at: int
    hash: str
    event: msgspec.Raw


class _BlobLine(Value):
    blob: Digest
    data: str


class _Last(Value):
    sha256: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read and holds together."""

    header: Header
    events: list[SealedEvent]
    blobs: list[Blob]
    history: History
    workflow: Workflow
    notes: bytes | None  # the newest, when they are a blob


def bundle_lines(
    header: Header, events: Iterable[SealedEvent], blobs: Iterable[Blob]
) -> Iterator[bytes]:
    """Yield the lines of a bundle."""
    total = hashlib.sha256()
    for line in _body(header, events, blobs):
        total.update(line)
        yield line
    yield _line(_Last(sha256=total.hexdigest()))


def read_bundle(lines: Iterable[bytes], stream: StreamId | None = None) -> Bundle:
    """Return what the lines of a bundle hold, all of it verified. Raises InvalidInput.

    `stream` is the name it is to get; by default that of the session it names.
    """
    reader = _Reader(lines)
    header = _header(reader)
    history = History(stream or StreamId(f"session:{header.session}"))
    events: list[SealedEvent] = []
    tell(history, _events(reader, header, events))
    if history.problem is not None:
        at = (history.problem.version or 0) + HEADER_LINES
        _refuse(at, f"its event {history.problem.version} {history.problem.what}")
    if history.state.started is None or history.hash.hex() != header.head:
        _refuse(1, "the header names another end than the events have")
    if header.workflow != history.state.started.workflow:
        _refuse(1, "the header names another workflow than the first event")
    blobs = dict(_blobs(reader, header, history))
    _check_last(reader)
    for name, (version, _) in history.blobs.items():
        if name not in blobs:
            _refuse(version + HEADER_LINES, f"the blob {name} that its event names is not there")
    workflow = read_workflow(blobs[Digest(header.workflow)])
    if workflow is None:
        _refuse(None, "the workflow in it cannot be read")
    misplaced = unplaced(history, workflow)
    if misplaced is not None:
        _refuse((misplaced.version or 0) + HEADER_LINES, f"its event {misplaced.what}")
    return Bundle(
        header=header,
        events=events,
        blobs=[Blob(digest=name, data=data) for name, data in blobs.items()],
        history=history,
        workflow=workflow,
        notes=blobs[history.notes.digest] if history.notes and history.notes.blob else None,
    )


def _body(header: Header, events: Iterable[SealedEvent], blobs: Iterable[Blob]) -> Iterator[bytes]:
    yield _line(header)
    for event in events:
        yield _line(
            _EventLine(
                version=event.version,
                recorded_at=event.recorded_at,
                hash=event.hash.hex(),
                event=msgspec.Raw(event.data),
            )
        )
    for blob in blobs:
        yield _line(_BlobLine(blob=blob.digest, data=base64.b64encode(blob.data).decode("ascii")))


class _Reader:
    """Hands out lines one by one, counts them, and hashes what it handed out."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self.number = 0
        self.total = hashlib.sha256()

    def next(self, kind: type[T]) -> T:
        """Return the next line as what it should be."""
        line = self.raw()
        try:
            found = msgspec.json.decode(line, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            _refuse(self.number, f"it is not what should stand there ({error})", error)
        if _line(found) != line:
            _refuse(self.number, "it is not spelled as it was written")
        self.total.update(line)
        return found

    def raw(self) -> bytes:
        """Return the next line as it stands, not hashed."""
        self.number += 1
        line = next(self._lines, b"")
        if not line:
            _refuse(self.number, "the file ends before it")
        if not line.endswith(b"\n"):
            _refuse(self.number, "the file is cut off in it, or it is too long")
        return line


def _header(reader: _Reader) -> Header:
    line = reader.raw()
    try:
        version = msgspec.json.decode(line, type=_Version).bundle
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        _refuse(1, "it is not the header of a bundle", error)
    if version != BUNDLE_VERSION:
        raise InvalidInput(
            f"The bundle is of version {version}; this Headway reads version {BUNDLE_VERSION}.",
            remedy="Import it with the version of Headway that wrote it, or a later one, "
            "or export the session again with this one.",
            details={"kind": "bundle_version", "line": 1, "version": version},
        )
    again = _Reader([line])
    header = again.next(Header)
    reader.total = again.total
    if not _SESSION.fullmatch(header.session):
        _refuse(1, "it names no session")
    return header


def _events(reader: _Reader, header: Header, events: list[SealedEvent]) -> Iterator[StoredEvent]:
    for _ in range(header.events):
        found = reader.next(_EventLine)
        own = _unhex(reader.number, found.hash)
        event = SealedEvent(found.version, found.recorded_at, own, bytes(found.event))
        events.append(event)
        yield StoredEvent(*event)


def _blobs(reader: _Reader, header: Header, history: History) -> Iterator[tuple[Digest, bytes]]:
    left = dict(history.blobs)
    for _ in range(header.blobs):
        found = reader.next(_BlobLine)
        try:
            data = base64.b64decode(found.data, validate=True)
        except (binascii.Error, ValueError) as error:
            _refuse(reader.number, "its blob is not base64", error)
        if digest(data) != found.blob:
            _refuse(reader.number, "its blob does not match its digest")
        _, size = left.pop(found.blob, (0, -1))
        if size not in (None, len(data)):
            _refuse(reader.number, "its blob is not one that the events name")
        yield found.blob, data


def _check_last(reader: _Reader) -> None:
    expected = reader.total.hexdigest()
    if reader.next(_Last).sha256 != expected:
        _refuse(
            reader.number,
            "the lines before it are not those that its hash was made of; all but the header were "
            "proven one by one, so the header or this line was changed",
        )
    try:
        reader.raw()
    except InvalidInput:
        return
    _refuse(reader.number, "it stands after the last line")


def _unhex(number: int, text: str) -> bytes:
    try:
        raw = bytes.fromhex(text)
    except ValueError as error:
        _refuse(number, "its hash is not spelled in hex", error)
    if len(raw) != len(GENESIS) or raw.hex() != text:
        _refuse(number, "its hash is not spelled as it was written")
    return raw


def _line(value: msgspec.Struct) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _refuse(number: int | None, problem: str, cause: Exception | None = None) -> NoReturn:
    where = "The bundle cannot be imported: " + (f"line {number}: " if number else "")
    raise InvalidInput(
        f"{where}{problem}.",
        remedy=_AGAIN,
        details={"kind": "bundle_damaged", "line": number},
    ) from cause
