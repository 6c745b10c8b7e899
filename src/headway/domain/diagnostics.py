"""Diagnostics: what is wrong with a workflow file, where, why it matters and how to mend it."""

from typing import Literal, TypeAlias

from headway.domain.values import Json, Value

Severity: TypeAlias = Literal["error", "warning", "info"]
MendAction: TypeAlias = Literal["remove", "quote", "enlist", "put"]
Path: TypeAlias = tuple[str | int, ...]  # keys and indices from the document's root


class Position(Value):
    """A place in a text: line and column count from 1, columns in code points."""

    line: int
    column: int


class Mend(Value):
    """A change of a file that is certain to be right: it mends the problem and nothing else.

    `remove` takes away the value at `path`, with its key; `quote` makes text of the scalar written
    there; `enlist` puts it into a list; `put` gives the key at `path` a value, new or not.
    """

    action: MendAction
    path: Path
    value: Json = None  # of `put`


class Diagnostic(Value):
    """One problem of one workflow file.

    `file` is the name the file was read under (empty for a text without one), `path` the keys and
    indices that lead to the value in question, `what` the problem, `why` the rule behind it,
    `remedy` what to change. An error keeps the workflow from being started, a warning is a likely
    mistake, an info a matter of craft.
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
    mend: Mend | None = None

    def text(self) -> str:
        """Return the diagnostic as one line of prose, the way compilers print them."""
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.severity} {self.code}: {self.what} {self.why} {self.remedy}"
