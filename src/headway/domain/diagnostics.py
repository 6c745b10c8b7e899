"""Diagnostics: what is wrong with a workflow file, where, why it matters and how to mend it."""

from typing import Literal, TypeAlias

from headway.domain.values import Value

Severity: TypeAlias = Literal["error", "warning"]
Path: TypeAlias = tuple[str | int, ...]  # keys and indices from the document's root


class Position(Value):
    """A place in a text: line and column count from 1, columns in code points."""

    line: int
    column: int


class Diagnostic(Value):
    """One problem of one workflow file.

    `file` is the name the file was read under (empty for a text without one), `path` the keys and
    indices that lead to the value in question, `what` the problem, `why` the rule behind it,
    `remedy` what to change.
    """

    code: str
    file: str
    line: int
    column: int
    path: str
    what: str
    why: str
    remedy: str
    severity: Severity = "error"

    def text(self) -> str:
        """Return the diagnostic as one line of prose, the way compilers print them."""
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.severity} {self.code}: {self.what} {self.why} {self.remedy}"
