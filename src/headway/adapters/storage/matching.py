"""Do the words asked for stand in a session? The same answer whatever the store.

Words are runs of letters and digits, compared without regard to case. A word asked for is found
where a word begins with it; one in a script beyond ASCII, which may not part its words, is found
anywhere. All of them must be found.
"""

import re
import unicodedata
from typing import Final

from headway.ports.sessions import SessionSummary

_WORD: Final = re.compile(r"[^\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in the form they are compared in."""
    return tuple(_WORD.findall(_folded(text)))


def holds_words(words: tuple[str, ...], *texts: str) -> bool:
    """Tell whether every word is found in the texts; no word is found nowhere."""
    if not words:
        return False
    whole = _folded("\n".join(texts))
    starts = " " + " ".join(_WORD.findall(whole))
    return all((f" {word}" if word.isascii() else word) in starts for word in words)


def summary_holds(words: tuple[str, ...], summary: SessionSummary) -> bool:
    """Tell whether goal, notes and workflow of a session hold every word."""
    return holds_words(
        words, summary.goal, summary.recap, summary.workflow_id, summary.workflow_name
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
