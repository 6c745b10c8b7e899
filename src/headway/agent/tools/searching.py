"""Finding files by name and lines by what stands in them.

Folders that hold what was fetched or built are passed over. Answers are in the order of paths, so
that they can be paged and are the same whenever nothing changed.
"""

import asyncio
import itertools
import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import re2
from msgspec import Meta

from headway.agent.tools.confining import Confined
from headway.agent.tools.files import PATH, SNIFFED_BYTES, is_binary
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.values import Value

FOUND_MAX: Final = 200
SECONDS_MAX: Final = 20.0
LINE_CHARS_MAX: Final = 500
FILE_BYTES_MAX: Final = 16 << 20
CONTEXT_MAX: Final = 10
PASSED_OVER: Final = frozenset(
    {".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".venv", "__pycache__"}
    | {"node_modules"}
)
OFFSET = Meta(ge=0, description="How many to pass over, to see more than an answer holds.")
NAMES = Meta(
    min_length=1,
    max_length=1_000,
    description="`*` and `?` within a name, `**` over folders, `{a,b}`; without a `/` it is the "
    "name of a file in any folder.",
)


class Glob(Value):
    """Arguments of glob."""

    pattern: Annotated[str, NAMES]
    path: Annotated[str, PATH] = "."
    offset: Annotated[int, OFFSET] = 0


class Grep(Value):
    """Arguments of grep."""

    pattern: Annotated[str, Meta(min_length=1, max_length=2_000, description="RE2's notation.")]
    path: Annotated[str, PATH] = "."
    glob: Annotated[str, NAMES] | None = None
    ignore_case: bool = False
    files_only: Annotated[bool, Meta(description="Show paths, not lines.")] = False
    context: Annotated[int, Meta(ge=0, le=CONTEXT_MAX, description="Lines around each.")] = 0
    offset: Annotated[int, OFFSET] = 0


def glob(folder: Confined) -> Tool[Glob]:
    """Return the tool that lists files."""

    async def work(arguments: Glob) -> Answer:
        return await asyncio.to_thread(_glob, folder, arguments)

    return Tool("glob", "List files whose path fits a pattern, in order.", Glob, work)


def grep(folder: Confined) -> Tool[Grep]:
    """Return the tool that finds lines."""

    async def work(arguments: Grep) -> Answer:
        return await asyncio.to_thread(_grep, folder, arguments)

    return Tool(
        "grep",
        "Find lines that match a regular expression, as path:line:text, in the text files of a "
        "folder or in one file.",
        Grep,
        work,
    )


def glob_pattern(pattern: str) -> "re2._Regexp":
    """Return the expression a path below the searched folder must match. Raises ToolFailed.

    It is matched in linear time: a pattern that is not would stop the whole process, and with it
    the heartbeats of every run.
    """
    wanted = pattern if "/" in pattern else f"**/{pattern}"
    parts, depth = list[str](), 0
    for token in re.findall(r"\*\*/|\*\*|\[[^\]/]+\]|.", wanted, re.DOTALL):
        if token in {"{", "}"}:
            depth += 1 if token == "{" else -1
        if token.startswith("[") and len(token) > 1:
            inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
        else:
            parts.append(_GLOB.get(token) or ("|" if token == "," and depth else re.escape(token)))
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile("".join(parts), options)
    except re2.error as error:
        raise ToolFailed(
            f"{pattern!r} is no pattern for paths. Close every bracket and brace in it."
        ) from error


_GLOB: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


class _Deadline:
    """How long a search may take; past it, what was found so far is the answer."""

    def __init__(self) -> None:
        self._end = time.monotonic() + SECONDS_MAX
        self.passed = False

    def reached(self) -> bool:
        self.passed = self.passed or time.monotonic() > self._end
        return self.passed


def _glob(folder: Confined, arguments: Glob) -> Answer:
    start, wanted, deadline = (
        folder.find(arguments.path),
        glob_pattern(arguments.pattern),
        _Deadline(),
    )
    if not start.is_dir():
        raise ToolFailed(f"{arguments.path!r} is not a folder.")
    found = (folder.shown(path) for path in _files(start, deadline) if _fits(path, start, wanted))
    return _listed(found, arguments.offset, deadline)


def _grep(folder: Confined, arguments: Grep) -> Answer:
    start, deadline = folder.find(arguments.path), _Deadline()
    if not start.exists():
        raise ToolFailed(f"{arguments.path!r} does not exist.")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not arguments.ignore_case
    try:
        pattern = re2.compile(arguments.pattern, options)
    except re2.error as error:
        raise ToolFailed(
            f"{arguments.pattern!r} is no regular expression of RE2, which has neither look-around "
            f"nor back-references: {error}."
        ) from error
    wanted = None if arguments.glob is None else glob_pattern(arguments.glob)
    files = _files(start, deadline) if start.is_dir() else iter((folder.find_file(arguments.path),))
    base = start if start.is_dir() else start.parent
    chosen = (path for path in files if wanted is None or _fits(path, base, wanted))
    search = partial(_lines_of, folder, arguments, pattern)
    found = itertools.chain.from_iterable(map(search, chosen))
    return _listed(found, arguments.offset, deadline)


def _listed(found: Iterator[str], offset: int, deadline: _Deadline) -> Answer:
    shown = list(itertools.islice(found, offset, offset + FOUND_MAX))
    more = next(found, None) is not None
    if deadline.passed:
        shown.append(f"[stopped after {SECONDS_MAX:.0f} s; search in a smaller folder]")
    elif more:
        shown.append(f"[there is more: offset {offset + FOUND_MAX} shows it]")
    return Answer(text="\n".join(shown) or "Nothing was found.")


def _files(start: Path, deadline: _Deadline) -> Iterator[Path]:
    """Yield the regular files below a folder, in order; links are not followed."""
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        for name in sorted(names):
            if deadline.reached():
                return
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _fits(path: Path, base: Path, wanted: "re2._Regexp") -> bool:
    name = path.relative_to(base).as_posix().encode("utf-8", "replace")  # it may be no text
    return wanted.fullmatch(name.decode()) is not None


def _lines_of(
    folder: Confined, arguments: Grep, pattern: "re2._Regexp", path: Path
) -> Iterator[str]:
    """Yield the matching lines of a file as they are shown; a file that is no text has none."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX)
    except OSError:  # not for us to read; the shell will say why
        return
    if is_binary(data[:SNIFFED_BYTES]):
        return
    shown = folder.shown(path)
    lines = data.decode(errors="replace").splitlines()
    hits = [number for number, line in enumerate(lines) if pattern.search(line) is not None]
    if arguments.files_only:
        yield from [shown] if hits else []
        return
    matched = set(hits)
    around = {
        n for hit in hits for n in range(hit - arguments.context, hit + arguments.context + 1)
    }
    for number in sorted(around & set(range(len(lines)))):
        mark = ":" if number in matched else "-"
        yield f"{shown}{mark}{number + 1}{mark}{lines[number][:LINE_CHARS_MAX]}"
