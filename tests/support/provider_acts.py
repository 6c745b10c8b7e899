"""What a fake provider does when it is asked, in nobody's wire format."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str  # as it is sent, JSON or not


@dataclass(frozen=True)
class Took:
    """Tokens of one reply; `fresh` were neither read from a cache nor written to one."""

    fresh: int = 100
    cache_read: int = 0
    cache_write: int = 0
    out: int = 20


@dataclass(frozen=True)
class Says:
    """A whole reply, in pieces of one word; `gap` seconds lie between them."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    stop: Literal["end", "tools", "length", "refused"] | None = None
    took: Took = field(default_factory=Took)
    gap: float = 0.0


@dataclass(frozen=True)
class BreaksOff:
    """The first half of a reply; then the line is cut, or the stream ends as if it were whole."""

    reply: Says
    abruptly: bool = True


@dataclass(frozen=True)
class Fails:
    """An answer with an error; `inside`: in a stream that had begun well."""

    status: int
    code: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()
    inside: bool = False


@dataclass(frozen=True)
class Babbles:
    """An answer of no known form."""

    body: bytes
    content_type: str = "text/event-stream"


@dataclass(frozen=True)
class Silent:
    """The beginning of an answer, and then nothing, until whoever asked is gone."""


Act: TypeAlias = Says | BreaksOff | Fails | Babbles | Silent
