"""The parts of a conversation: what a model is sent, in order, each named by its blob.

Law. A reply and what came of its calls stay together: where turns are replaced by a summary, both
go, or both stay.
"""

from typing import Literal, TypeAlias

from headway.domain.ids import Digest
from headway.domain.runs.events import CallAsked
from headway.domain.runs.messages import Origin
from headway.domain.values import Value

CallState: TypeAlias = Literal["waiting", "running", "ended", "failed", "interrupted"]


class CallStanding(Value):
    """A call and what has become of it; `text` is set once it ended."""

    asked: CallAsked
    state: CallState = "waiting"
    text: Digest | None = None


class ToldPart(Value, tag="told"):
    """A text of ours in the conversation."""

    text: Digest
    origin: Origin


class ReplyPart(Value, tag="reply"):
    """A reply in the conversation, the one of this turn."""

    turn: int
    reply: Digest


class ResultsPart(Value, tag="results"):
    """What came of the calls of the reply before it."""

    calls: tuple[CallStanding, ...]


Part: TypeAlias = ToldPart | ReplyPart | ResultsPart


def turns_until(parts: tuple[Part, ...], last: int) -> tuple[Part, ...]:
    """Return what stands up to the end of a turn, its results included."""
    return parts[: _end_of(parts, last)]


def compacted(
    parts: tuple[Part, ...], last: int, summary: Digest, prompt: ToldPart | None
) -> tuple[Part, ...]:
    """Return the parts with a summary in the place of all turns up to `last`.

    The prompt of the present step is told after it, where it would else be gone.
    """
    kept = parts[_end_of(parts, last) :]
    again = () if prompt is None or prompt in kept else (prompt,)
    return (ToldPart(text=summary, origin="summary"), *again, *kept)


def _end_of(parts: tuple[Part, ...], last: int) -> int:
    """Return how many parts there are up to the end of a turn, 0 when it is not among them."""
    for place, part in enumerate(parts, 1):
        if isinstance(part, ReplyPart) and part.turn == last:
            return place + (place < len(parts) and isinstance(parts[place], ResultsPart))
    return 0
