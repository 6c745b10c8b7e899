import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import InvalidInput, SessionNotHealthy
from headway.domain.event_codec import EventCodec, SessionEnvelope, decode, encode
from headway.domain.events import (
    CheckpointSaved,
    Content,
    ContextChange,
    Event,
    GapRecorded,
    Output,
    StepAdvanced,
    Walk,
)
from headway.domain.ids import AttemptId, NodeId, digest
from headway.domain.values import Json, JsonObject
from tests.support.strategies import EVENT_KINDS, events, of_type

SAVED = CheckpointSaved(
    node=NodeId("n"), attempt=AttemptId("a"), opened_at=1, checkpoint=NodeId("c")
)


def advanced(inline: Json, context: JsonObject | None = None) -> StepAdvanced:
    return StepAdvanced(
        node=NodeId("n"),
        attempt=AttemptId("a"),
        opened_at=1,
        step="s",
        output=Output(artifacts=(Content(digest=digest(b""), size=0, inline=inline),)),
        walk=Walk(),
        opened=None,
        context=None if context is None else ContextChange(delta=context),
    )


@given(events)
def test_what_is_written_is_read_back(event: Event) -> None:
    assert decode(encode(event)) == event


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_every_kind_comes_back_as_the_same_bytes(kind: type[Event]) -> None:
    @given(of_type(kind))
    def comes_back(event: Event) -> None:
        data = encode(event)
        assert encode(decode(data)) == data

    comes_back()


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        -0.0,
        1e16,
        1e21,
        1e-300,
        5e-324,
        1.7976931348623157e308,
        2**53 - 1,
        2**64,
        "\0\U0001f600",
    ],
)
def test_numbers_and_texts_at_the_edges_come_back(value: Json) -> None:
    event = advanced(value, {"\0": [value, {"\U0001f600": value}], "key": value})
    assert repr(decode(encode(event))) == repr(event)


def test_a_tuple_in_free_json_comes_back_as_a_list() -> None:
    assert decode(encode(advanced((1, (2, {"k": (3,)}))))) == advanced([1, [2, {"k": [3]}]])


def nested(levels: int) -> Json:
    value: Json = None
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param([math.inf], id="infinity"),
        pytest.param("\ud800", id="half a character"),
        pytest.param({"\ud800": 1}, id="half a character as key"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param({1: 2}, id="number as key"),
        pytest.param({1, 2}, id="set"),
        pytest.param(object(), id="object"),
        pytest.param(nested(100_000), id="too deep"),
    ],
)
def test_what_could_not_be_read_back_is_refused_before_it_is_written(value: Json) -> None:
    with pytest.raises(InvalidInput) as caught:
        encode(advanced(value))
    assert caught.value.details["kind"] == "not_storable"


def test_a_field_of_the_wrong_type_is_refused_before_it_is_written() -> None:
    wrong: Json = "one"
    with pytest.raises(InvalidInput, match="opened_at"):
        encode(msgspec.structs.replace(SAVED, opened_at=wrong))


def test_the_stored_form_is_an_envelope_of_sorted_keys() -> None:
    assert encode(SAVED) == (
        b'{"e":{"attempt":"a","checkpoint":"c","event":"checkpoint_saved",'
        b'"node":"n","opened_at":1},"v":1}'
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b'{"v":1}',
        b'{"e":{},"v":0}',
        b'{"e":{},"v":-1}',
        b'{"e":{"event":"unheard_of"},"v":1}',
        b'{"e":{"event":"gap_recorded","gaps":[],"more":1},"v":1}',
        b'{"e":{"event":"gap_recorded","gaps":[]},"v":1,"x":1}',
        b'{"e":{"event":"gap_recorded","gaps":[]},"v":1}x',
        b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_event_are_refused(data: bytes) -> None:
    with pytest.raises(SessionNotHealthy) as caught:
        decode(data)
    assert caught.value.details["kind"] == "damaged_event"


@given(st.binary(max_size=60))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SessionNotHealthy):
        decode(data)


@pytest.mark.parametrize(
    "data", [encode(SAVED)[:-2] + b"2}", b'{"e":{"event":"of the future"},"v":7,"z":[]}']
)
def test_a_newer_version_is_refused_with_the_remedy(data: bytes) -> None:
    with pytest.raises(SessionNotHealthy) as caught:
        decode(data)
    assert "Update Headway" in caught.value.remedy


def add_gaps(event: JsonObject) -> JsonObject:
    return {**event, "gaps": []}


def rename(event: JsonObject) -> JsonObject:
    return {**event, "event": "gap_recorded"}


def test_an_older_version_is_lifted_step_by_step() -> None:
    codec = EventCodec(SessionEnvelope, 3, {1: add_gaps, 2: rename})
    assert codec.decode(b'{"e":{"event":"gap_noted"},"v":1}') == GapRecorded(gaps=())
    assert codec.decode(b'{"e":{"event":"gap_noted","gaps":[]},"v":2}') == GapRecorded(gaps=())
    assert codec.decode(codec.encode(SAVED)) == SAVED
    assert codec.encode(SAVED).endswith(b'"v":3}')


def test_an_older_version_is_lifted_even_if_it_looks_like_the_current_one() -> None:
    codec = EventCodec(SessionEnvelope, 2, {1: lambda event: {**event, "opened_at": 2}})
    assert codec.decode(encode(SAVED)) == msgspec.structs.replace(SAVED, opened_at=2)


def test_a_lifted_event_that_is_still_none_is_refused() -> None:
    codec = EventCodec(SessionEnvelope, 2, {1: lambda event: event})
    with pytest.raises(SessionNotHealthy):
        codec.decode(b'{"e":{"event":"gap_noted"},"v":1}')
