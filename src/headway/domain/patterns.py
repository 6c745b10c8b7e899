r"""Regular expressions of workflow files: JavaScript's notation, matched in linear time.

The matcher is RE2, which has no backtracking and therefore neither look-around nor back-references;
a pattern that asks for them is a problem with a remedy, not a slow search. What the two spell
differently is translated: `\uXXXX`, `\cX`, `[^]`, `\s` and `.` as JavaScript means them, unknown
escapes as the character itself. Left as RE2 has it: case folding is Unicode's, and `\b` and `\w`
know ASCII only, as in JavaScript.

Time grows with the text times the size of the pattern, and patterns have a memory limit.
"""

from functools import lru_cache
from typing import Final

import re2

from headway.domain.values import Value

PATTERN_MEMORY_BYTES_MAX: Final = 4 << 20
PATTERN_CHARS_MAX: Final = 8192
PATTERNS_CACHED_MAX: Final = 128

_FLAGS: Final = "dgimsuvy"
_SPACE: Final = (
    # Ends in a class, so that a hyphen behind it in a bracket is no range.
    r"\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}\s"
)
_NOT_SPACE: Final = (
    r"\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"
)
_LINE_ENDS: Final = r"\n\r\x{2028}\x{2029}"
_LINE_END_TABLE: Final = str.maketrans("\r\u2028\u2029", "\n\n\n")
_SAME_ESCAPES: Final = frozenset("dDwWtnvfr")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)
_LOW_SURROGATES: Final = range(0xDC00, 0xE000)
_CODE_POINT_MAX: Final = 0x10FFFF


class PatternProblem(Value):
    """Why a pattern cannot be used, and what to write in its place."""

    what: str
    remedy: str


class Pattern:
    """A pattern ready to search with; made by `compile_pattern` alone."""

    __slots__ = ("_compiled", "_one_line_end")

    def __init__(self, compiled: "re2._Regexp", *, one_line_end: bool) -> None:
        self._compiled = compiled
        self._one_line_end = one_line_end

    def found_in(self, text: str) -> bool:
        """Tell whether the pattern matches anywhere in the text."""
        if self._one_line_end:
            text = (
                text.translate(_LINE_END_TABLE) if not text.isascii() else text.replace("\r", "\n")
            )
        return self._compiled.search(text.encode("utf-8", "replace")) is not None


def search(pattern: Pattern, text: str) -> bool:
    """Tell whether the pattern matches anywhere in the text, in time linear in its length."""
    return pattern.found_in(text)


@lru_cache(maxsize=PATTERNS_CACHED_MAX)
def compile_pattern(
    pattern: str, flags: str = "", *, ignore_case: bool = False
) -> Pattern | PatternProblem:
    """Return the pattern under JavaScript's flag letters, or say what is wrong with it."""
    if len(pattern) > PATTERN_CHARS_MAX:
        return PatternProblem(
            what=f"The pattern has {len(pattern)} characters, more than {PATTERN_CHARS_MAX}.",
            remedy="Split it into several rules.",
        )
    unknown = [f for f in flags if f not in _FLAGS]
    if unknown or len(set(flags)) != len(flags) or {"u", "v"} <= set(flags):
        return PatternProblem(
            what=f'The flags "{flags}" are not a set of regular expression flags.',
            remedy=f"Use each of the letters {', '.join(_FLAGS)} at most once, and not u with v.",
        )
    try:
        source = _Translation(pattern, flags).text()
        compiled = re2.compile(source, _options(ignore_case=ignore_case or "i" in flags))
    except _CannotTranslateError as problem:
        return problem.problem
    except re2.error as error:
        return _refused(error)
    # With `m`, JavaScript sees a line end at each of its terminators, RE2 at line feeds only.
    one_line_end = "m" in flags and r"\r" not in pattern and r"\u202" not in pattern
    return Pattern(compiled, one_line_end=one_line_end)


def _options(*, ignore_case: bool) -> "re2.Options":
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES_MAX
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignore_case
    return options


def _refused(error: Exception) -> PatternProblem:
    reason = error.args[0] if error.args else b""
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    if "repetition size" in text:
        remedy = "Repeat at most 1000 times."
    elif "too large" in text:
        remedy = "Make the pattern smaller: fewer or smaller counted repetitions."
    else:
        remedy = "Write it in the syntax JavaScript and RE2 share."
    return PatternProblem(what=f"The pattern is not accepted: {text}.", remedy=remedy)


class _CannotTranslateError(Exception):
    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.problem: Final = PatternProblem(what=what, remedy=remedy)


class _Translation:
    """One pass over a pattern in JavaScript's notation, writing it in RE2's."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.unicode = "u" in flags or "v" in flags
        self.dot = r"[\x{0}-\x{10ffff}]" if "s" in flags else f"[^{_LINE_ENDS}]"
        self.prefix = ("(?m)" if "m" in flags else "") + (r"\A" if "y" in flags else "")
        self.at = 0

    def text(self) -> str:
        out = []
        while self.at < len(self.pattern):
            out.append(self._next())
        body = "".join(out)
        return f"{self.prefix}(?:{body})" if self.prefix else body

    def _next(self) -> str:
        char = self.pattern[self.at]
        if char == "[":
            return self._char_class()
        if char == "\\":
            return self._escape(in_class=False)
        if char == "(":
            self._refuse_look_around()
        self.at += 1
        return self.dot if char == "." else char

    def _refuse_look_around(self) -> None:
        if self.pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), self.at):
            raise _CannotTranslateError(
                f"The pattern looks ahead or behind at character {self.at + 1}.",
                "Say it with two rules joined by and/not, or match the surroundings themselves.",
            )

    def _char_class(self) -> str:
        negated = self.pattern.startswith("[^", self.at)
        self.at += 2 if negated else 1
        out = []
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            char = self.pattern[self.at]
            if char == "\\":
                out.append(self._escape(in_class=True))
            else:
                out.append(r"\[" if char == "[" else r"\^" if char == "^" else char)
                self.at += 1
        if self.at >= len(self.pattern):
            raise _CannotTranslateError("A [ is never closed.", r"Close it with ], or write \[.")
        self.at += 1
        if not out:
            return r"[\x{0}-\x{10ffff}]" if negated else r"[^\x{0}-\x{10ffff}]"
        return f"[{'^' if negated else ''}{''.join(out)}]"

    def _escape(self, *, in_class: bool) -> str:
        if self.at + 1 >= len(self.pattern):
            raise _CannotTranslateError(
                "The pattern ends in a single backslash.", r"Write \\ for one."
            )
        char = self.pattern[self.at + 1]
        self.at += 2
        if char in _SAME_ESCAPES:
            return f"\\{char}"
        if char in "sS":
            inner = _SPACE if char == "s" else _NOT_SPACE
            return inner if in_class else f"[{inner}]"
        if char in "bB":
            return r"\x{8}" if in_class and char == "b" else f"\\{char}"
        if char in "123456789k" and not in_class:
            return self._back_reference(char)
        if char in "pP" and self.unicode:
            return self._property(char)
        if char in "ux":
            return self._code_escape(char)
        if char == "0":
            return r"\x{0}"
        if char == "c" and self.pattern[self.at : self.at + 1].isalpha():
            self.at += 1
            return f"\\x{{{ord(self.pattern[self.at - 1]) % 32:x}}}"
        return _literal(char)

    def _back_reference(self, char: str) -> str:
        if char == "k" and "(?<" not in self.pattern:
            return "k"
        raise _CannotTranslateError(
            f"The pattern refers back to a group at character {self.at - 1}.",
            "Write out what may stand there; matching has no memory of groups.",
        )

    def _property(self, char: str) -> str:
        end = self.pattern.find("}", self.at)
        if self.pattern[self.at : self.at + 1] != "{" or end < 0:
            return f"\\{char}"
        name = self.pattern[self.at + 1 : end].rpartition("=")[2]
        self.at = end + 1
        return f"\\{char}{{{name}}}"

    def _code_escape(self, char: str) -> str:
        r"""Translate `\xHH`, `\uXXXX` (a surrogate pair as one character) and `\u{...}`."""
        code = self._hex(2 if char == "x" else 4)
        if code is None:
            return char
        if code in _HIGH_SURROGATES and self.pattern.startswith("\\u", self.at):
            self.at += 2
            low = self._hex(4)
            if low in _LOW_SURROGATES and low is not None:
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        if code in _HIGH_SURROGATES or code in _LOW_SURROGATES or code > _CODE_POINT_MAX:
            raise _CannotTranslateError(
                f"The pattern names U+{code:04X}, which is no character.",
                r"Name whole characters, such as \u{1F600}.",
            )
        return f"\\x{{{code:x}}}"

    def _hex(self, digits: int) -> int | None:
        if digits == 4 and self.pattern.startswith("{", self.at):  # noqa: PLR2004
            end = self.pattern.find("}", self.at)
            inner = self.pattern[self.at + 1 : end] if end > 0 else ""
            length = len(inner) + 2
        else:
            inner = self.pattern[self.at : self.at + digits]
            length = digits if len(inner) == digits else 0
        if not length or not inner or not _HEX.issuperset(inner) or len(inner) > 16:  # noqa: PLR2004
            return None
        self.at += length
        return int(inner, 16)


def _literal(char: str) -> str:
    return f"\\{char}" if char.isascii() and not char.isalnum() and char != "\0" else char
