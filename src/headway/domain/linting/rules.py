"""What a rule of the linter is: a code, its reasons, and one small function."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from headway.domain.diagnostics import Mend, Path, Severity
from headway.domain.linting.subject import Subject


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that breaks a rule; `at_key` points to the key instead of the value.

    `remedy` is given where more can be said than the rule's own remedy says, `mend` where a
    program can do it.
    """

    path: Path
    what: str
    remedy: str = ""
    at_key: bool = False
    mend: Mend | None = None


Check: TypeAlias = Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: how much it weighs, what it asks for, why, and what to do about a finding."""

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str
    check: Check


def rule(
    code: str, severity: Severity, title: str, *, why: str, remedy: str
) -> Callable[[Check], Rule]:
    """Make a rule of the function below it."""
    return lambda check: Rule(code, severity, title, why, remedy, check)
