"""Context: merged shallowly, kept in segments, bound by its limits alone and merged."""

import pytest

from headway.domain.commands import Start
from headway.domain.context import change_context, check_merged, fold_of, merge, merged_context
from headway.domain.errors import InvalidInput
from headway.domain.events import Segment
from headway.domain.json_limits import CONTEXT_BYTES_MAX
from headway.domain.values import JsonObject
from tests.support.building import Conversation, step, workflow


def test_merging_replaces_whole_values_and_null_removes_them() -> None:
    under: JsonObject = {"a": {"x": 1}, "b": [1, 2], "c": 3}
    assert merge(under, {"a": {"y": 2}, "b": None, "d": 0}) == {"a": {"y": 2}, "c": 3, "d": 0}


def test_a_small_change_becomes_a_segment_of_its_own() -> None:
    folds: dict[int, JsonObject] = {1: {"long": "x" * 100}}
    segments, change = change_context((Segment(version=1, size=111),), folds, {"a": 1}, 2)
    assert [segment.version for segment in segments] == [1, 2]
    assert change.fold is None


def test_a_change_absorbs_what_it_has_outgrown() -> None:
    folds: dict[int, JsonObject] = {1: {"a": 1, "b": 2}}
    segments, change = change_context((Segment(version=1, size=13),), folds, {"b": None}, 2)
    assert [segment.version for segment in segments] == [2]
    assert fold_of(change) == {"a": 1}


def test_a_removal_stays_visible_above_an_older_segment() -> None:
    folds: dict[int, JsonObject] = {1: {"gone": "x" * 200}, 2: {"b": 1}}
    below = (Segment(version=1, size=211), Segment(version=2, size=7))
    segments, change = change_context(below, folds, {"gone": None}, 3)
    assert [segment.version for segment in segments] == [1, 3]
    assert merged_context(segments, {**folds, 3: fold_of(change)}) == {"b": 1}


def test_a_context_grown_one_key_at_a_time_takes_few_segments() -> None:
    segments: tuple[Segment, ...] = ()
    folds: dict[int, JsonObject] = {}
    written = 0
    for version in range(1, 1001):
        segments, change = change_context(segments, folds, {f"key{version}": "v" * 20}, version)
        folds[version] = fold_of(change)
        written += segments[-1].size
        assert len(segments) <= 24
    assert merged_context(segments, folds) == {f"key{n}": "v" * 20 for n in range(1, 1001)}
    assert written < 14 * segments[0].size  # rewritten as often as a binary counter carries


def test_small_changes_may_not_add_up_to_more_than_the_limit() -> None:
    told = Conversation(workflow(*(step(f"s{number}") for number in range(10))))
    for number in range(8):
        assert told.done(**{f"k{number}": "x" * 30_000})
    before = told.state
    with pytest.raises(InvalidInput) as fault:
        told.done(k8="x" * 30_000)
    assert fault.value.details["kind"] == "context_budget_exceeded"
    assert fault.value.details["method"] == "merged"
    assert told.state == before
    assert told.done(k8="x" * 30_000, k0=None) == "s9"


def test_a_context_of_just_the_limit_is_taken() -> None:
    most = {"k": "x" * (CONTEXT_BYTES_MAX - len('{"k":""}'))}
    check_merged(most, CONTEXT_BYTES_MAX + 1)
    with pytest.raises(InvalidInput):
        check_merged({"k": "x" * (CONTEXT_BYTES_MAX - len('{"k":""}') + 1)}, CONTEXT_BYTES_MAX + 1)


def test_branches_share_what_was_given_before_the_fork_and_nothing_after() -> None:
    told = Conversation(
        workflow(step("a"), step("b"), step("c")), Start(goal="Try it", context={"k": "old"})
    )
    told.done(k="common")
    fork_point = told.opened()
    assert fork_point is not None
    told.done(left=1)
    left = told.context()
    fresh = told.rehydrate(fork_point.node)
    told.send(fresh, right=2, k=None)
    assert left == {"goal": "Try it", "k": "common", "left": 1}
    assert told.context() == {"goal": "Try it", "right": 2}
