"""The recap for whoever takes a session up: what was done, newest first, within a bound of bytes.

Laws.
1. The text never exceeds its bound in UTF-8 and is never cut inside a code point.
2. Notes give way before each other: a long one is cut by itself, with a mark, while others wait, so
   one cannot push out the rest. The newest are served first; what is left out is counted.
3. Function definitions get what notes leave over.
4. Only recorded facts, in the author's and the agent's own words; the same facts, the same text.

Theory of operation. Headings and omission lines are paid for first. The rest is dealt out in order
of worth: the newest note before this step, the newest after it, and so on in turn. Each takes what
it needs or, where the others need the room too, a third of what is left.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from headway.domain.rendering.functions import describe_function
from headway.domain.texts import cut_text
from headway.domain.values import Value
from headway.domain.workflow import Function

RECOVERY_BYTES_MAX: Final = 24_576
TITLE_BYTES_MAX: Final = 72
KINDS_BYTES_MAX: Final = 256
ENTRY_BYTES_MIN: Final = 192  # a title, and enough of a note to be worth its place
OMISSION_BYTES_MAX: Final = 56
SHARES: Final = 3

_HEADING: Final = "## Where this session stands"
_DOWNSTREAM: Final = "### What was done from this step on (newest first)"
_ANCESTRY: Final = "### What led here (newest first)"
_FUNCTIONS: Final = "### Functions in scope"
_HEADINGS_BYTES: Final = 2 + max(len(_DOWNSTREAM), len(_ANCESTRY), len(_FUNCTIONS))


class Recap(Value):
    """What one step left behind: its title, its notes, and the kinds of its artifacts."""

    title: str
    notes: str = ""
    artifacts: tuple[str, ...] = ()


class RecoveryFacts(Value):
    """The facts a recap is made of.

    `branches` counts the nodes that follow this one; `tip` is the title of the step the session
    stands at, None when that is this node; `downstream` holds the steps on the way there, from this
    one on, `ancestry` those that led here, both newest first; `functions` those in scope, nearest
    first.
    """

    branches: int = 0
    tip: str | None = None
    downstream: tuple[Recap, ...] = ()
    ancestry: tuple[Recap, ...] = ()
    functions: tuple[Function, ...] = ()


def render_recovery(facts: RecoveryFacts, bytes_max: int = RECOVERY_BYTES_MAX) -> str:
    """Return the recap in at most `bytes_max` bytes, "" when there is nothing to tell."""
    if facts == RecoveryFacts():
        return ""
    opening = [_HEADING, _branches(facts)]
    frames = [
        _HEADINGS_BYTES + OMISSION_BYTES_MAX
        for held in (facts.downstream, facts.ancestry, facts.functions)
        if held
    ]
    downstream, ancestry = _deal(
        facts.downstream, facts.ancestry, bytes_max - _cost(opening) - sum(frames)
    )
    blocks = [
        *opening,
        *_section(_DOWNSTREAM, downstream, len(facts.downstream), "older steps"),
        *_section(_ANCESTRY, ancestry, len(facts.ancestry), "older steps"),
    ]
    blocks += _functions(facts.functions, bytes_max - _cost(blocks))
    # Below a few hundred bytes the frame alone is too much; the bound holds all the same.
    return _clip("\n\n".join(blocks), bytes_max)


def _branches(facts: RecoveryFacts) -> str:
    if facts.tip is None and facts.downstream:
        return (
            "The session ended with this step. Handing it in again opens another branch beside "
            "what is done."
        )
    if facts.tip is None:
        where = "This step is where the session stands."
    else:
        where = (
            f"The session has gone on from here and stands at: {_line(facts.tip, TITLE_BYTES_MAX)}"
        )
    if facts.branches == 0:
        return where
    ways = "One branch leads" if facts.branches == 1 else f"{facts.branches} branches lead"
    return f"{where}\n{ways} on from this step; going on from here opens another beside it."


def _deal(
    downstream: Sequence[Recap], ancestry: Sequence[Recap], room: int
) -> tuple[list[str], list[str]]:
    """Return the entries there is room for, each list a newest-first beginning of its facts."""
    told: tuple[list[str], list[str]] = ([], [])
    turns = zip_longest(((1, each) for each in ancestry), ((0, each) for each in downstream))
    queue = [turn for pair in turns for turn in pair if turn is not None]
    waiting = sum(_cost([_entry(recap)]) for _, recap in queue)
    for place, (section, recap) in enumerate(queue):
        entry = _entry(recap)
        waiting -= _cost([entry])
        share = room // min(SHARES, len(queue) - place)
        allowed = max(share, room - waiting, min(room, ENTRY_BYTES_MIN))
        if _cost([entry]) > allowed:
            if allowed < ENTRY_BYTES_MIN:
                break
            entry = _cut_entry(recap, allowed - _cost([""]))
        told[section].append(entry)
        room -= _cost([entry])
    return told


def _entry(recap: Recap) -> str:
    lines = [f"#### {_line(recap.title, TITLE_BYTES_MAX)}"]
    notes = recap.notes.strip()
    if notes:
        lines.append(notes)
    if recap.artifacts:
        lines.append(f"Artifacts: {_line(', '.join(recap.artifacts), KINDS_BYTES_MAX)}")
    return "\n".join(lines)


def _cut_entry(recap: Recap, bytes_max: int) -> str:
    """Return the entry with its note cut; without its artifacts where they would crowd it out."""
    frame = _entry(Recap(title=recap.title, artifacts=recap.artifacts))
    artifacts = recap.artifacts
    if _size(frame) > bytes_max // 2:
        artifacts = ()
        frame = _entry(Recap(title=recap.title))
    notes = cut_text(recap.notes.strip(), bytes_max - _size(frame) - 1)
    return _entry(Recap(title=recap.title, notes=notes, artifacts=artifacts))


def _section(heading: str, told: list[str], held: int, what: str) -> list[str]:
    if held == 0:
        return []
    left_out = held - len(told)
    omission = [f"({left_out} {what} left out for length.)"] if left_out else []
    return [heading, *told, *omission]


def _functions(functions: tuple[Function, ...], room: int) -> list[str]:
    """Return the definitions that fit whole, in order, up to the first that does not."""
    room -= _HEADINGS_BYTES + OMISSION_BYTES_MAX
    told: list[str] = []
    for function in functions:
        entry = describe_function(function)
        room -= _cost([entry])
        if room < 0:
            break
        told.append(entry)
    return _section(_FUNCTIONS, told, len(functions), "function definitions")


def _line(text: str, bytes_max: int) -> str:
    """Return a text on one line, with dots where it was cut."""
    line = " ".join(text.split())
    return line if _size(line) <= bytes_max else _clip(line, bytes_max - 3) + "..."


def _clip(text: str, bytes_max: int) -> str:
    data = text.encode(errors="replace")
    return text if len(data) <= bytes_max else data[: max(0, bytes_max)].decode(errors="ignore")


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _cost(blocks: Sequence[str]) -> int:
    """Return the bytes that blocks take in the text, the blank line after each included."""
    return sum(_size(block) + 2 for block in blocks)
