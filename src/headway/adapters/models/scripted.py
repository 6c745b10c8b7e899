"""A model that says what a transcript says: for demos, tests and reports of bugs.

Where it stands is told by the conversation alone: each reply carries, as its native form, the turn
that follows. So a run that another process takes up goes on in the script where it was, whatever of
the conversation was summed up since.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
import re2

from headway.adapters.models.transcript import Expectation, Matches, Transcript, Turn
from headway.domain.runs.messages import Message, ModelRequest, Reply, Results, Told, ToolCall
from headway.domain.values import Value
from headway.ports.models import Heard, ModelFailed, Traits, unheard

SHOWN_MAX: Final = 600


class _Mark(Value):
    """What a reply's native form says: the turn that follows, and how many replies there were."""

    next: int
    replies: int


class ScriptedModel:
    """Replies from a transcript; a script that is wrong about the run fails loudly."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._failed: dict[int, int] = {}  # how often a turn has failed, in this process

    @property
    def name(self) -> str:
        """Return `scripted:` and the transcript's path."""
        return f"scripted:{self._transcript.path}"

    @property
    def traits(self) -> Traits:
        """Return the traits that the transcript gives it."""
        return self._transcript.traits

    async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
        """Return the next turn's reply, which comes in one part.

        Raises ModelFailed: what the turn says, or `unusable` when the model was told something
        other than the turn expects, or the script has run out.
        """
        if any(isinstance(each, Told) and each.origin == "turns" for each in request.messages):
            return self._summary()
        mark = _mark(request.messages)
        told = "\n".join(_told(request.messages))
        position = self._position(mark.next, told)
        turn = self._transcript.turns[position]
        self._fail(position, turn)
        heard()
        replies = mark.replies + 1
        return Reply(
            text=turn.text,
            stop=turn.stop,
            model=self.name,
            calls=tuple(
                ToolCall(id=f"call-{replies}-{number}", name=name, arguments=arguments)
                for number, (name, arguments) in enumerate(turn.calls, 1)
            ),
            usage=turn.usage,
            native=msgspec.json.encode(_Mark(next=turn.then, replies=replies)).decode(),
        )

    def _summary(self) -> Reply:
        if self._transcript.summary is None:
            raise ModelFailed(
                "unusable", f"{self._transcript.path}: a summary is asked for, and it has none"
            )
        return Reply(text=self._transcript.summary, stop="end", model=self.name)

    def _position(self, start: int, told: str) -> int:
        """Return the turn to be played: the next one, or where unmet expectations lead."""
        position, seen = start, set[int]()
        while position not in seen:
            seen.add(position)
            if position >= len(self._transcript.turns):
                raise self._wrong(self._transcript.turns[-1], "the script has run out", told)
            turn = self._transcript.turns[position]
            missing = next((each for each in turn.expect if not _met(each, told)), None)
            if missing is None:
                return position
            if turn.otherwise is None:
                raise self._wrong(turn, f"it expects {_words(missing)}", told)
            position = turn.otherwise
        turn = self._transcript.turns[position]
        raise self._wrong(turn, "`otherwise` leads back to it and nothing is met", told)

    def _fail(self, position: int, turn: Turn) -> None:
        failure, failed = turn.fail, self._failed.get(position, 0)
        if failure is not None and failed < failure.times:
            self._failed[position] = failed + 1
            raise ModelFailed(
                failure.problem, failure.message, retry_after_ms=failure.retry_after_ms
            )

    def _wrong(self, turn: Turn, what: str, told: str) -> ModelFailed:
        shown = told if len(told) <= SHOWN_MAX else told[:SHOWN_MAX] + " [...]"
        return ModelFailed(
            "unusable",
            f"{self._transcript.path}, line {turn.line}: {what}. The model was last told: {shown}",
        )


def _mark(messages: tuple[Message, ...]) -> _Mark:
    natives = (each.native for each in reversed(messages) if isinstance(each, Reply))
    native = next(natives, None)
    return _Mark(next=0, replies=0) if native is None else msgspec.json.decode(native, type=_Mark)


def _told(messages: tuple[Message, ...]) -> Iterator[str]:
    """Yield what the model was told since its last reply."""
    last = max((i for i, each in enumerate(messages) if isinstance(each, Reply)), default=-1)
    for message in messages[last + 1 :]:
        match message:
            case Told(text=text):
                yield text
            case Results(results=results):
                yield from (result.text for result in results)
            case _:  # pragma: no cover - no reply follows the last one
                raise AssertionError


def _met(expected: Expectation, told: str) -> bool:
    if isinstance(expected, Matches):
        return re2.search(expected.matches, told) is not None
    return expected in told


def _words(expected: Expectation) -> str:
    return f"/{expected.matches}/" if isinstance(expected, Matches) else repr(expected)
