"""Files that claim an id: which one of them has it, and what is told of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.adapters.workflows.folders import Folder
from headway.adapters.workflows.reading import ReadFile, file_diagnostic
from headway.domain.compiler.compiling import Compilation
from headway.domain.compiler.grammar import RESERVED_PREFIX
from headway.domain.diagnostics import Diagnostic
from headway.ports.catalogue import Shadow


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that claims an id, and the folder it was found in.

    `template` is what other files call it by, if it is a routine.
    """

    folder: Folder
    read: ReadFile
    template: str | None = None


def is_reserved(claim: Candidate) -> bool:
    """Tell whether a file claims an id that only bundled files may have."""
    return claim.folder.kind != "bundled" and claim.read.id.startswith(RESERVED_PREFIX)


def may_use(claim: Candidate) -> bool:
    """Tell whether a file can serve others as a routine."""
    return claim.read.document is not None and not is_reserved(claim)


def winner_of(claims: Sequence[tuple[Candidate, Compilation]]) -> tuple[Candidate, Compilation]:
    """Return the file that has the id, of those that claim it in order of precedence."""
    declared = [each for each in claims if not each[0].read.guessed] or claims
    folder = declared[0][0].folder
    nearest = [each for each in declared if each[0].folder == folder]
    return next((each for each in nearest if each[1].workflow is not None), nearest[0])


def shadow(loser: Candidate, winner: Candidate) -> Shadow:
    """Return a file that does not have the id, with what decided."""
    return Shadow(path=loser.read.file.path, source=loser.folder.kind, why=_why(loser, winner))


def _why(loser: Candidate, winner: Candidate) -> str:
    if is_reserved(loser):
        return f"Ids that begin with {RESERVED_PREFIX} belong to the bundled workflows."
    if loser.read.guessed and not winner.read.guessed:
        return "It does not say its id, which was guessed from its name."
    if loser.folder != winner.folder:
        return f"Its folder comes later: {winner.folder.path} goes before {loser.folder.path}."
    if loser.read.file.path < winner.read.file.path:
        return "It is broken: in one folder a file that compiles goes first."
    return "Its path comes later in the same folder."


def broken(diagnostics: tuple[Diagnostic, ...]) -> Compilation:
    """Return the outcome of a file that is not even compiled."""
    return Compilation(workflow=None, diagnostics=diagnostics)


def reserved(read: ReadFile) -> Diagnostic:
    """Return what is wrong with a reserved id."""
    return file_diagnostic(
        read.file.path,
        "RESERVED_ID",
        f"The id {read.id} begins with {RESERVED_PREFIX}",
        "Choose another namespace, such as project. or your team's name.",
    )


def lost(claim: Candidate, outcome: Compilation) -> Diagnostic:
    """Return a warning that another file of the same id is broken."""
    path = claim.read.file.path
    first = outcome.diagnostics[0].text() if outcome.diagnostics else "It does not compile."
    return file_diagnostic(
        path,
        "SHADOWED_BROKEN_FILE",
        f"Another file of this id is broken: {first}",
        "Mend it, or give it an id of its own.",
    )
