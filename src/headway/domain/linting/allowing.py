"""Allowances: findings that the author of a file has decided to live with, each with a reason.

`lint: {allow: {CODE: reason}}` at the root is for the whole file, on a step or loop for what lies
inside it. An error cannot be allowed: the workflow would not start whatever its file says. An
allowance that hides nothing is itself a finding, so that none outlives what it was for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headway.domain.compiler.codes import CODES
from headway.domain.compiler.nodes import record
from headway.domain.compiler.reporting import did_you_mean, path_text, shown
from headway.domain.diagnostics import Diagnostic, Mend, Path
from headway.domain.linting.rules import Finding, Rule
from headway.domain.linting.subject import Subject

ALLOWANCE_UNUSED: Final = Rule(
    code="ALLOWANCE_UNUSED",
    severity="warning",
    title="An allowance hides a finding",
    why="An allowance that hides nothing would hide the next finding of its code, unseen.",
    remedy="Remove it.",
    check=lambda _: (),  # judged here, when all others have spoken
)


@dataclass(frozen=True, slots=True)
class _Allowance:
    code: str
    path: Path  # of its entry
    within: str  # the part of the file it speaks for
    takes_all: bool  # whether nothing else stands beside it in the lint settings


def without_allowed(
    subject: Subject, found: Sequence[Diagnostic], codes: Sequence[str]
) -> tuple[list[Diagnostic], list[Finding]]:
    """Return what is not allowed, and the allowances that hide nothing; `codes` are all known."""
    allowances = list(_allowances(subject))
    if not allowances:
        return list(found), []
    used: set[Path] = set()
    kept = []
    for diagnostic in found:
        by = [each for each in allowances if _allows(each, diagnostic)]
        used.update(each.path for each in by)
        if not by:
            kept.append(diagnostic)
    return kept, [_unused(each, codes) for each in allowances if each.path not in used]


def _allowances(subject: Subject) -> Iterator[_Allowance]:
    holders = [(subject.root, ()), *((unit.node, unit.path) for unit in subject.units)]
    for node, path in holders:
        allowed = record(record(node, "lint"), "allow")
        for code in allowed:
            yield _Allowance(
                code, (*path, "lint", "allow", code), path_text(path), len(allowed) == 1
            )


def _allows(allowance: _Allowance, diagnostic: Diagnostic) -> bool:
    if diagnostic.severity == "error" or diagnostic.code != allowance.code:
        return False
    rest = diagnostic.path.removeprefix(allowance.within)
    inside = not allowance.within or rest != diagnostic.path
    return inside and (not allowance.within or not rest or rest[0] in ".[")


def _unused(allowance: _Allowance, codes: Sequence[str]) -> Finding:
    code, path = allowance.code, allowance.path
    if code not in codes:
        what, remedy = f"There is no code {shown(code)}.", did_you_mean(code, codes, "Remove it.")
    elif code in CODES and CODES[code].severity == "error":
        what, remedy = f"{code} is an error, and errors cannot be allowed.", "Mend it."
    else:
        what, remedy = f"Nothing here is reported as {code}.", ""
    mend = Mend(action="remove", path=path[:-2] if allowance.takes_all else path)
    return Finding(path, what, remedy, at_key=True, mend=mend)
