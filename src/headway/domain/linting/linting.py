"""Linting one document: what the compiler said, what the rules say, less what is allowed.

The rules speak only of documents that compile: one that does not is mended first, and what is
missing from it would make them err.
"""

from collections.abc import Mapping
from typing import Final

from headway.domain.compiler.compiling import Compilation
from headway.domain.compiler.reading import Document
from headway.domain.compiler.reporting import path_text
from headway.domain.diagnostics import Diagnostic
from headway.domain.linting.allowing import ALLOWANCE_UNUSED, without_allowed
from headway.domain.linting.registry import ALL_CODES, RULES
from headway.domain.linting.rules import Finding, Rule
from headway.domain.linting.subject import Subject

_NAMES: Final = tuple(known.code for known in ALL_CODES)


def lint(
    document: Document,
    compilation: Compilation,
    routines: Mapping[str, Document],
    known: frozenset[str] | None = None,
) -> tuple[Diagnostic, ...]:
    """Return everything there is to say about a document, in the order of the file.

    `routines` are those the document may call, by template id; `known` the ids a delegation may
    name, None if they are not known.
    """
    if compilation.workflow is None:
        return compilation.diagnostics
    subject = Subject(document, routines, known)
    found = [*compilation.diagnostics]
    for rule in RULES:
        found += (_told(document, rule, each) for each in rule.check(subject))
    kept, unused = without_allowed(subject, found, _NAMES)
    kept += (_told(document, ALLOWANCE_UNUSED, each) for each in unused)
    return tuple(sorted(kept, key=lambda each: (each.line, each.column)))


def _told(document: Document, rule: Rule, finding: Finding) -> Diagnostic:
    position = document.position(finding.path, finding.at_key)
    return Diagnostic(
        code=rule.code,
        severity=rule.severity,
        file=document.name,
        line=position.line,
        column=position.column,
        path=path_text(finding.path),
        what=finding.what,
        why=rule.why,
        remedy=finding.remedy or rule.remedy,
        mend=finding.mend,
    )
