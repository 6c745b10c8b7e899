"""Texts: whether one says anything at all, and how one is cut for display.

What is stored stays whole; only what is shown, or repeated in a blocker, is cut: by code point,
never inside one, with a visible mark (D8).
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

CUT_MARK: Final = " […]"
_MARK_BYTES: Final = len(CUT_MARK.encode())

# Separators, control and format characters, and what stands alone in no script: combining marks.
_UNSEEN: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})
# Letters and a symbol by category, yet drawn as nothing: Hangul fillers and the empty Braille cell.
_DRAWN_AS_NOTHING: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def is_blank(text: str) -> bool:
    """Tell whether a reader would see nothing: white space, zero-width and filler characters."""
    return all(
        character in _DRAWN_AS_NOTHING or unicodedata.category(character) in _UNSEEN
        for character in text
    )


def cut_text(text: str, bytes_max: int) -> str:
    """Return the text if its UTF-8 form fits, else as much of it as fits with the mark behind."""
    assert bytes_max >= _MARK_BYTES
    if len(text) * 4 <= bytes_max:
        return text
    # One code point more than can fit is enough to see whether the text does.
    data = text[: bytes_max + 1].encode("utf-8", "replace")
    if len(data) <= bytes_max and len(text) <= bytes_max:
        return text
    kept = data[: bytes_max - _MARK_BYTES].decode("utf-8", "ignore")
    return kept.rstrip() + CUT_MARK


def cut_list(items: Iterable[str], each_bytes_max: int, total_bytes_max: int) -> tuple[str, ...]:
    """Return the items, each cut, up to a total; a last item of just the mark is for the rest."""
    kept: list[str] = []
    total = _MARK_BYTES
    for item in items:
        text = cut_text(item, each_bytes_max)
        total += len(text.encode("utf-8", "replace"))
        if total > total_bytes_max:
            return (*kept, CUT_MARK.strip())
        kept.append(text)
    return tuple(kept)
