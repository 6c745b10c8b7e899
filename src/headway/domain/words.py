"""Words: the form in which texts are searched, the same whatever the store.

A word is a run of letters and digits, without regard to case and accents. Scripts that do not part
their words (Chinese, Japanese, Thai and their like) are kept in overlapping pairs of characters. A
word asked for is found where it stands; one of PREFIX_MIN letters or more also where a word begins
with it.
"""

import re
import unicodedata
from typing import Final

from headway.domain.values import Value

TEXT_CHARS_MAX: Final = 1 << 18  # searched of one text
WORD_CHARS_MAX: Final = 50  # of one word; the rest of a longer one is not looked at
PREFIX_MIN: Final = 4
REPEATED_CHARS_MAX: Final = 1 << 12  # of parted words; in more of them none stands twice
ASKED_MAX: Final = 100  # of a query with more words the longest are asked for

_UNPARTED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30fa\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_RUN: Final = re.compile(rf"([{_UNPARTED}]+)|((?:(?![{_UNPARTED}])[^\W_])+)")
_ASCII_PARTED: Final = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")


class Asked(Value):
    """A word asked for; `beginning` when a word that only begins with it will do."""

    word: str
    beginning: bool


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return words_in(parted(text))


def words_in(words: str) -> frozenset[str]:
    """Return the words that stand parted by blanks."""
    found = frozenset(words.split())
    if max(map(len, found), default=0) <= WORD_CHARS_MAX:  # so nearly always
        return found
    return frozenset(word[:WORD_CHARS_MAX] for word in found)


def parted(text: str) -> str:
    """Return the words of a text parted by blanks, for `words_in`; one may stand there twice.

    An advance takes a note so far and no further: that is a tenth of the work.
    """
    text = _folded(text[:TEXT_CHARS_MAX])
    if not text.isascii():
        return " ".join(_words_of_any(text))
    words = text.encode().translate(_ASCII_PARTED).decode()
    return words if len(words) <= REPEATED_CHARS_MAX else " ".join(words_in(words))


def _words_of_any(text: str) -> set[str]:
    """Return the words of a folded text of any scripts."""
    words: set[str] = set()
    for unparted, word in _RUN.findall(text):
        if word:
            words.add(word[:WORD_CHARS_MAX])
        # The last character stands alone, so that each of them begins a pair.
        words.update(unparted[at : at + 2] for at in range(len(unparted)))
    return words


def asked_in(text: str) -> frozenset[Asked]:
    """Return what a query asks for; nothing when there is no word in it."""
    asked: set[Asked] = set()
    for unparted, whole in _RUN.findall(_folded(text)):
        if whole:
            word = whole[:WORD_CHARS_MAX]
            asked.add(Asked(word=word, beginning=len(word) >= PREFIX_MIN))
        elif len(unparted) == 1:
            asked.add(Asked(word=unparted, beginning=True))
        else:
            pairs = (unparted[at : at + 2] for at in range(len(unparted) - 1))
            asked.update(Asked(word=pair, beginning=False) for pair in pairs)
    longest = sorted(asked, key=lambda each: (-len(each.word), each.word))
    return frozenset(longest[:ASKED_MAX])


def holds(words: frozenset[str], asked: Asked) -> bool:
    """Tell whether a word asked for is among these."""
    if asked.word in words:
        return True
    return asked.beginning and any(word.startswith(asked.word) for word in words)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain)
