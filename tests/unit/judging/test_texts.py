"""Texts are cut by code point, inside their limit, with a visible mark."""

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.texts import CUT_MARK, cut_list, cut_text, is_blank

BYTES_MAX = st.integers(min_value=8, max_value=200)


@given(st.text(), BYTES_MAX)
def test_a_cut_text_fits_and_is_a_beginning_of_the_whole(text: str, bytes_max: int) -> None:
    cut = cut_text(text, bytes_max)
    assert len(cut.encode()) <= bytes_max
    if cut != text:
        assert cut.endswith(CUT_MARK)
        assert text.startswith(cut.removesuffix(CUT_MARK))
        assert len(text.encode()) > bytes_max


def test_a_text_that_just_fits_is_left_alone() -> None:
    assert cut_text("é" * 10, 20) == "é" * 10
    assert cut_text("é" * 10 + "x", 20) == "é" * 7 + CUT_MARK


def test_a_list_over_its_total_ends_in_the_mark() -> None:
    assert cut_list(["a" * 30, "b" * 30, "c" * 30], 30, 70) == ("a" * 30, "b" * 30, "[…]")
    assert cut_list(["a", "b"], 30, 70) == ("a", "b")


def test_a_text_is_blank_when_a_reader_would_see_nothing_of_it() -> None:
    for unseen in ("", " \t\n\u00a0\u2003", "\u200b\u200c\u200d\ufeff", "\u3164\uffa0\u2800"):
        assert is_blank(unseen)
    for seen in (".", "0", "-", "\u200bx", "\u00e9", "\u2714", "\u65e5", "\U0001f600"):
        assert not is_blank(seen)
