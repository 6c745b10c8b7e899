"""Transcripts: what a scripted model says, read from YAML and checked before anything runs.

`docs/scripted-models.md` describes the form. Every problem is an `InvalidInput` that names the file
and the line.
"""

from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import re2

from headway.domain.compiler.trouble import Trouble
from headway.domain.compiler.yaml_reading import Places, read_yaml
from headway.domain.errors import InvalidInput
from headway.domain.runs.messages import StopReason, Usage
from headway.domain.values import Json, JsonObject, Value
from headway.ports.models import ModelProblem, Traits

BYTES_MAX: Final = 1_000_000
DEPTH_MAX: Final = 64
KEYS: Final = frozenset({"turns", "traits", "summary"})
KNOWN: Final = "name, expect, otherwise, text, calls, stop, usage, fail, then"
REMEDY: Final = "docs/scripted-models.md shows the form of a transcript with an example."


class Matches(Value):
    """A regular expression that is to be found in what the model was told."""

    matches: str


Expectation: TypeAlias = str | Matches
Written: TypeAlias = Expectation | tuple[Expectation, ...]


class Failure(Value):
    """No reply, `times` times, before the turn's reply is given."""

    problem: ModelProblem
    message: str = "the script says so"
    retry_after_ms: int | None = None
    times: int = 1


class WrittenTurn(Value):
    """A turn as the file has it; `calls` are maps of one tool to its arguments."""

    name: str | None = None
    expect: Written = ()
    otherwise: str | None = None
    text: str = ""
    calls: tuple[dict[str, Json], ...] = ()
    stop: StopReason | None = None
    usage: Usage = Usage()
    fail: Failure | None = None
    then: str | None = None


class Turn(Value):
    """One reply: the line it stands on, what must have been told before, and where it leads.

    `calls` are names with the text of their arguments; `then` and `otherwise` are positions.
    """

    line: int
    expect: tuple[Expectation, ...]
    text: str
    calls: tuple[tuple[str, str], ...]
    stop: StopReason
    usage: Usage
    fail: Failure | None
    then: int
    otherwise: int | None


class Transcript(Value):
    """A script: its turns, the first of which is the first reply. Past the last it has run out.

    `traits` are what a run is to know of the model that it plays, `summary` is its reply when it is
    asked to sum up turns.
    """

    path: str
    turns: tuple[Turn, ...]
    traits: Traits = Traits()
    summary: str | None = None


def read_transcript(path: Path) -> Transcript:
    """Return the transcript of a file. Raises InvalidInput for one that cannot be used."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
        text = data.decode()
    except OSError as error:
        raise _unusable(path, None, f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _unusable(path, None, "it is not UTF-8 text") from error
    if len(data) > BYTES_MAX:
        raise _unusable(path, None, f"it has more than {BYTES_MAX:,} bytes")
    try:
        tree, places = read_yaml(text, DEPTH_MAX)
    except Trouble as trouble:
        raise _unusable(path, trouble.position.line, trouble.what) from trouble
    if not isinstance(tree, dict) or not isinstance(tree.get("turns"), list):
        raise _unusable(path, 1, "it must hold the key `turns` with a list")
    if not set(tree) <= KEYS:
        raise _unusable(path, 1, "it may hold the keys `turns`, `traits` and `summary` alone")
    traits = _traits(path, tree["traits"], places()) if "traits" in tree else Traits()
    summary = tree.get("summary")
    if summary is not None and not isinstance(summary, str):
        raise _unusable(path, places()[("summary",)][1].line, "its summary must be a text")
    turns = _turns(path, tree["turns"], places())
    return Transcript(path=str(path), turns=turns, traits=traits, summary=summary)


def _traits(path: Path, tree: Json, places: Places) -> Traits:
    try:
        return msgspec.convert(tree, Traits)
    except msgspec.ValidationError as error:
        raise _unusable(path, places[("traits",)][1].line, f"of its traits, {error}") from error


def _turns(path: Path, trees: list[Json], places: Places) -> tuple[Turn, ...]:
    lines = [places["turns", index][1].line for index in range(len(trees))]
    written = [_written(path, line, tree) for line, tree in zip(lines, trees, strict=True)]
    if not written:
        raise _unusable(path, 1, "it has no turn")
    names: dict[str, int] = {}
    for index, turn in enumerate(written):
        if turn.name in names:
            raise _unusable(path, lines[index], f"a turn before is called {turn.name!r} already")
        if turn.name is not None:
            names[turn.name] = index

    def position(line: int, name: str) -> int:
        if name not in names:
            raise _unusable(path, line, f"no turn is called {name!r}")
        return names[name]

    return tuple(
        Turn(
            line=line,
            expect=_expectations(path, line, turn.expect),
            text=turn.text,
            calls=tuple(_call(path, line, call) for call in turn.calls),
            stop=turn.stop or ("tools" if turn.calls else "end"),
            usage=turn.usage,
            fail=turn.fail,
            then=index + 1 if turn.then is None else position(line, turn.then),
            otherwise=None if turn.otherwise is None else position(line, turn.otherwise),
        )
        for index, (line, turn) in enumerate(zip(lines, written, strict=True))
    )


def _written(path: Path, line: int, tree: Json) -> WrittenTurn:
    if not isinstance(tree, dict):
        raise _unusable(path, line, "a turn must be a map")
    try:
        return msgspec.convert(tree, WrittenTurn)
    except msgspec.ValidationError as error:
        raise _unusable(path, line, f"{error} (a turn may hold {KNOWN})") from error


def _expectations(path: Path, line: int, written: Written) -> tuple[Expectation, ...]:
    several = written if isinstance(written, tuple) else (written,)
    for each in several:
        if isinstance(each, Matches) and not _compiles(each.matches):
            raise _unusable(path, line, f"{each.matches!r} is no regular expression")
    return several


def _compiles(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return False
    return True


def _call(path: Path, line: int, call: JsonObject) -> tuple[str, str]:
    if len(call) != 1:
        raise _unusable(path, line, "a call must be a map of one tool's name to its arguments")
    ((name, arguments),) = call.items()
    # A text is sent as it stands, so that a script can send what is no JSON.
    sent = (
        arguments if isinstance(arguments, str) else msgspec.json.encode(arguments or {}).decode()
    )
    return name, sent


def _unusable(path: Path, line: int | None, what: str) -> InvalidInput:
    place = str(path) if line is None else f"{path}, line {line}"
    return InvalidInput(
        f"The transcript {place} cannot be used: {what}.",
        remedy=REMEDY,
        details={"kind": "transcript_unusable", "path": str(path), "line": line},
    )
