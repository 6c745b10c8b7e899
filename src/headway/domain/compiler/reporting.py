"""Collecting problems: each said once, with its place worked out only when there is one.

Law: at most PROBLEMS_MAX are kept; a further one ends the work on the file with a note that there
are more, so that no file, however broken, costs more than it is worth.
"""

import difflib
import itertools
import json
import re
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from headway.domain.compiler.codes import CODES
from headway.domain.diagnostics import Diagnostic, Mend, MendAction, Path, Position
from headway.domain.values import Json

PROBLEMS_MAX: Final = 100
SHOWN_MAX: Final = 60  # code points of a value shown in a message
COMPARED_MAX: Final = 128  # code points of a name worth a did-you-mean
CANDIDATES_MAX: Final = 500  # names it is compared with
LIKENESS_LEAST: Final = 0.6  # of difflib's ratio

_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w.-]*|<[\w.-]+>")


class Abandoned(Exception):
    """The work on a file ends here; what was found stands in its report."""


class Report:
    """The problems of one file so far."""

    def __init__(self, file: str, locate: Callable[[Path, bool], Position]) -> None:
        self._file = file
        self._locate = locate
        self._found: list[Diagnostic] = []
        self._full = False
        self.has_errors = False

    def add(  # noqa: PLR0913 - the fields of a diagnostic
        self,
        code: str,
        path: Path,
        what: str,
        remedy: str,
        *,
        why: str = "",
        at_key: bool = False,
        mend: MendAction | None = None,
    ) -> None:
        """Record a problem of the value at `path`, or of its key. `why` sharpens the code's rule.

        `mend` says how the value can be mended where that is certain.

        Raises Abandoned when the report is full.
        """
        rule = CODES[code]
        self.has_errors = self.has_errors or rule.severity == "error"
        if len(self._found) >= PROBLEMS_MAX:
            self._full = self.has_errors = True
            raise Abandoned
        position = self._locate(path, at_key)
        self._found.append(
            Diagnostic(
                code=code,
                severity=rule.severity,
                file=self._file,
                line=position.line,
                column=position.column,
                path=path_text(path),
                what=what,
                why=why or rule.why,
                remedy=remedy,
                mend=Mend(action=mend, path=path) if mend else None,
            )
        )

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return what was found, in the order of the file."""
        found = sorted(self._found, key=lambda each: (each.line, each.column))
        if self._full:
            last = found[-1]
            more = msgspec.structs.replace(
                last,
                code="TOO_MANY_PROBLEMS",
                severity="error",
                what=f"The file has more than {PROBLEMS_MAX} problems.",
                why=CODES["TOO_MANY_PROBLEMS"].why,
                remedy="Mend the ones listed and look again.",
                mend=None,
            )
            found.append(more)
        return tuple(found)


def path_text(path: Path) -> str:
    """Return a path as authors write it: `steps[0].promptBlocks.goal`."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif _PLAIN_KEY.fullmatch(part):
            parts.append(f".{part}" if parts else part)
        else:
            parts.append(f"[{shown(part)}]")
    return "".join(parts)


def shown(value: Json) -> str:
    """Return a value as it may stand in a message: JSON, cut to a sentence's length."""
    try:
        text = msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, shown by its escape
        text = json.dumps(value)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"


def kind_of(value: Json) -> str:
    """Return what a value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case dict():
            return "an object"
        case _:
            return "a list"


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a remedy that names the known name closest to a misspelt one, else `otherwise`."""
    meant = nearest(name, known)
    return f"Did you mean {shown(meant)}?" if meant else otherwise


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a misspelt one is likely to stand for, empty if none is."""
    if len(name) > COMPARED_MAX:
        return ""
    scored = ((_likeness(name, each), each) for each in itertools.islice(known, CANDIDATES_MAX))
    likeness, best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    return best if likeness >= LIKENESS_LEAST else ""


def _likeness(name: str, known: str) -> float:
    """Return how alike two names are, leaving the dotted parts they begin with out of account."""
    ours, theirs = name.casefold().split("."), known.casefold().split(".")
    while len(ours) > 1 and len(theirs) > 1 and ours[0] == theirs[0]:
        del ours[0], theirs[0]
    matcher = difflib.SequenceMatcher(None, ".".join(ours), ".".join(theirs))
    return matcher.ratio() if matcher.quick_ratio() >= LIKENESS_LEAST else 0.0


def listed(names: Iterable[str], empty: str = "none") -> str:
    """Return names as a phrase: `a, b, c`."""
    return ", ".join(names) or empty
