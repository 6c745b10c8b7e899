"""Linting texts without a catalogue around them."""

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.diagnostics import Diagnostic
from headway.domain.linting.linting import lint

KNOWN = frozenset({"acme.case", "acme.review"})  # what delegations of the cases may name


def read(text: str, name: str = "case.yaml") -> Document:
    """Return a text that can be read as a document."""
    document = read_document(text.encode(), name)
    assert isinstance(document, Document), [each.text() for each in document]
    return document


def linted(document: Document) -> tuple[Diagnostic, ...]:
    """Return everything that is said of a document."""
    return lint(document, compile_workflow(document, Sources()), {}, KNOWN)


def codes(text: str, name: str = "case.yaml") -> list[str]:
    """Return the codes of what is said of a text."""
    return [each.code for each in linted(read(text, name))]
