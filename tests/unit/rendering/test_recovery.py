from hypothesis import given
from hypothesis import strategies as st

from headway.domain.rendering.recovery import (
    RECOVERY_BYTES_MAX,
    Recap,
    RecoveryFacts,
    render_recovery,
)
from headway.domain.workflow import Function

TEXTS = st.text(max_size=200) | st.builds(
    lambda text, times: text * times, st.text(min_size=1, max_size=20), st.integers(0, 2_000)
)
RECAPS = st.lists(
    st.builds(Recap, title=TEXTS, notes=TEXTS, artifacts=st.lists(TEXTS, max_size=3).map(tuple)),
    max_size=12,
).map(tuple)
FACTS = st.builds(
    RecoveryFacts,
    branches=st.integers(0, 10_000),
    tip=st.none() | TEXTS,
    downstream=RECAPS,
    ancestry=RECAPS,
    functions=st.lists(
        st.builds(Function, name=TEXTS, definition=TEXTS, scope=st.just("step")), max_size=4
    ).map(tuple),
)


def recaps(count: int, notes: str = "done") -> tuple[Recap, ...]:
    return tuple(Recap(title=f"Step {index}", notes=f"{index}: {notes}") for index in range(count))


@given(FACTS, st.integers(0, 30_000))
def test_the_recap_never_exceeds_its_bound(facts: RecoveryFacts, bytes_max: int) -> None:
    text = render_recovery(facts, bytes_max)
    assert len(text.encode()) <= bytes_max
    assert text == render_recovery(facts, bytes_max)


@given(FACTS, st.integers(1_024, 30_000))
def test_the_newest_notes_are_always_begun(facts: RecoveryFacts, bytes_max: int) -> None:
    text = render_recovery(facts, bytes_max)
    for notes in [held[0].notes for held in (facts.downstream, facts.ancestry) if held]:
        assert notes.strip()[:8].rstrip() in text


def test_nothing_to_tell_is_no_text() -> None:
    assert render_recovery(RecoveryFacts()) == ""


def test_short_histories_are_told_whole_and_newest_first() -> None:
    facts = RecoveryFacts(
        branches=2,
        tip="Ship it",
        downstream=(Recap(title="Review", notes="Looks right."),),
        ancestry=(
            Recap(title="Build", notes="Built.", artifacts=("wr.coding_handoff",)),
            Recap(title="Plan", notes="Planned."),
        ),
        functions=(Function(name="doThing", definition="Do it.", scope="workflow"),),
    )
    text = render_recovery(facts)
    order = [
        "Ship it",
        "2 branches",
        "Looks right.",
        "Built.",
        "wr.coding_handoff",
        "Planned.",
        "Do it.",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "left out" not in text


def test_one_giant_note_does_not_push_out_the_others() -> None:
    giant = Recap(title="Giant", notes="G" * 1_000_000)
    text = render_recovery(RecoveryFacts(ancestry=(giant, *recaps(20))))
    assert all(f"{index}: done" in text for index in range(20))
    assert text.count("G") > RECOVERY_BYTES_MAX // 2


def test_the_oldest_notes_give_way_and_are_counted() -> None:
    text = render_recovery(RecoveryFacts(ancestry=recaps(100, "x" * 400)), 8_192)
    told = text.count("#### ")
    assert [f"#### Step {index}\n" in text for index in range(100)] == [
        index < told for index in range(100)
    ]
    assert f"({100 - told} older steps left out for length.)" in text


def test_function_definitions_are_the_first_to_go() -> None:
    functions = (Function(name="f", definition="d" * 2_000, scope="workflow"),)
    text = render_recovery(RecoveryFacts(ancestry=recaps(3), functions=functions), 1_024)
    assert "2: done" in text
    assert "(1 function definitions left out for length.)" in text


def test_a_node_at_the_tip_says_so() -> None:
    text = render_recovery(RecoveryFacts(ancestry=recaps(1)))
    assert "This step is where the session stands." in text
