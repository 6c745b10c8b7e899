"""The laws of a bundle: it brings back what was exported, and whatever is changed in it is refused.

Refused means: a coded fault that names the line, and nothing written.
"""

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.application.bundle import read_bundle
from headway.application.engine import Engine
from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.verify_store import verify_store
from headway.domain.chain import GENESIS, event_hash
from headway.domain.errors import Fault, InvalidInput
from headway.domain.ids import digest
from headway.domain.values import Json
from tests.support.walked import finish, other_engine, sessions, walk

NOTES = "A note that is kept as a blob. " * 3_000


@cache
def exported() -> bytes:
    here = other_engine(3)
    finish(here, walk(here, notes=NOTES))
    return b"".join(export_session(here, sessions(here)[0]).lines)


@cache
def untouched() -> Engine:
    return other_engine()


def refused(data: bytes) -> InvalidInput:
    """Return the refusal of a damaged bundle, having checked that nothing was written."""
    there = untouched()
    with pytest.raises(InvalidInput) as caught:
        import_session(there, data.splitlines(keepends=True))
    assert there.records.streams() == ()
    assert there.records.blobs() == ()
    assert caught.value.remedy
    return caught.value


def test_a_bundle_holds_the_stored_bytes_and_is_read_back_whole() -> None:
    lines = exported().splitlines(keepends=True)
    bundle = read_bundle(lines)
    assert [event.data in line for event, line in zip(bundle.events, lines[1:], strict=False)]
    hashes = [event.hash for event in bundle.events]
    made = GENESIS
    for event, own in zip(bundle.events, hashes, strict=True):
        made = event_hash(made, event.version, event.recorded_at, event.data)
        assert made == own
    assert len(lines) == 1 + len(bundle.events) + len(bundle.blobs) + 1


@settings(max_examples=400)
@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_flipped_byte_anywhere_is_refused_and_its_line_named(place: int, flip: int) -> None:
    data = bytearray(exported())
    at = place % len(data)
    data[at] ^= flip
    fault = refused(bytes(data))
    line = exported().count(b"\n", 0, at) + 1
    named = fault.details["line"]
    last = exported().count(b"\n")
    assert isinstance(named, int)
    # A new line break moves the lines after it; a header that still reads well fails at the end.
    assert named in (line, line + 1) or (line == 1 and named == last), (line, named, fault)


@settings(max_examples=100)
@given(st.integers(min_value=0))
def test_a_bundle_cut_off_anywhere_is_refused(place: int) -> None:
    data = exported()
    refused(data[: place % len(data)])


@pytest.mark.parametrize("seed", range(30))
def test_lines_that_are_moved_doubled_or_left_out_are_refused(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  reproducible damage
    lines = exported().splitlines(keepends=True)
    at, other = chance.sample(range(len(lines)), 2)
    damage: list[Callable[[], object]] = [
        lambda: lines.pop(at),
        lambda: lines.insert(other, lines[at]),
        lambda: lines.insert(other, lines.pop(at)),
        lambda: lines.append(lines[at]),
    ]
    chance.choice(damage)()
    if b"".join(lines) != exported():
        refused(b"".join(lines))


@settings(max_examples=150)
@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_bytes_of_anything_are_refused(data: bytes) -> None:
    refused(data)


@pytest.mark.parametrize("version", [0, 2, 99])
def test_a_bundle_of_another_version_is_refused_with_the_remedy(version: int) -> None:
    fault = refused(exported().replace(b'"bundle":1', b'"bundle":%d' % version, 1))
    assert f"version {version}" in fault.message
    assert "a later one" in fault.remedy


@dataclass
class Parts:
    """What a bundle is made of, to be changed."""

    events: list[dict[str, Json]]
    blobs: dict[str, bytes]


def forged(change: Callable[[Parts], object]) -> bytes:
    """Return the bundle with events changed by someone who makes every hash anew."""
    bundle = read_bundle(exported().splitlines(keepends=True))
    events: list[dict[str, Json]] = [json.loads(event.data) for event in bundle.events]
    blobs = {str(blob.digest): blob.data for blob in bundle.blobs}
    change(Parts(events, blobs))
    lines, own = [], GENESIS
    for version, event in enumerate(events, 1):
        data = json.dumps(event, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
        own = event_hash(own, version, 5, data)
        lines.append(
            b'{"version":%d,"recorded_at":5,"hash":"%s","event":%s}\n'
            % (version, own.hex().encode(), data)
        )
    for data in blobs.values():
        text = base64.b64encode(data)
        lines.append(b'{"blob":"%s","data":"%s"}\n' % (digest(data).encode(), text))
    header = msgspec.structs.replace(
        bundle.header, events=len(events), blobs=len(blobs), head=own.hex()
    )
    lines.insert(0, msgspec.json.encode(header) + b"\n")
    whole = b"".join(lines)
    return whole + b'{"sha256":"%s"}\n' % digest(whole).removeprefix("sha256:").encode()


def node(event: dict[str, Json]) -> dict[str, Json]:
    inner = event["e"]
    assert isinstance(inner, dict)
    return inner


def position(event: dict[str, Json], at: Json) -> None:
    opened = node(event)["opened"]
    assert isinstance(opened, dict)
    opened["cursor"] = {"at": at}


def test_a_bundle_made_anew_by_its_own_rules_is_taken() -> None:
    there = other_engine()
    import_session(there, forged(lambda _: None).splitlines(keepends=True))
    assert verify_store(there).problems == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.events.pop(0),
        lambda it: it.events.append(it.events[0]),
        lambda it: it.events.clear(),
        lambda it: node(it.events[2]).update(node="node_elsewhere"),
        lambda it: node(it.events[2]).update(opened_at=77),
        lambda it: node(it.events[2]).update(event="step_taken"),
        lambda it: position(it.events[0], [99]),
        lambda it: position(it.events[0], [-1]),
        lambda it: position(it.events[0], []),
        lambda it: position(it.events[0], [2]),
        lambda it: it.events[3].update(v=99),
        lambda it: it.blobs.clear(),
        lambda it: it.blobs.update(other=b"not named"),
        lambda it: node(it.events[0]).update(workflow=digest(NOTES.encode())),
    ],
)
def test_a_history_that_does_not_hold_together_is_refused_though_its_hashes_match(
    change: Callable[[Parts], object],
) -> None:
    refused(forged(change))


@settings(max_examples=60)
@given(st.integers(min_value=0), st.integers(min_value=0), st.data())
def test_an_event_with_a_forged_value_is_refused_or_verifies_clean(
    which: int, field: int, data: st.DataObject
) -> None:
    def change(parts: Parts) -> None:
        event = node(parts.events[which % len(parts.events)])
        names = sorted(set(event) - {"event"})
        name = names[field % len(names)]
        event[name] = data.draw(
            st.none() | st.integers(-3, 300) | st.text(max_size=5) | st.just({}) | st.just([])
        )

    there = other_engine()
    refusal: Fault | None = None
    try:
        import_session(there, forged(change).splitlines(keepends=True))
    except Fault as fault:
        refusal = fault
    assert (refusal is None) == bool(there.records.streams())
    assert verify_store(there).problems == ()
