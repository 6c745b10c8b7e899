"""The id of a file about to be written: of the right form, and nobody else's."""

from headway.domain.compiler.checking import check
from headway.domain.compiler.grammar import RESERVED_PREFIX, WORKFLOW
from headway.domain.compiler.reporting import Report
from headway.domain.diagnostics import Position
from headway.domain.errors import InvalidInput

_NOWHERE = Position(line=1, column=1)


def require_free_form(workflow_id: str) -> None:
    """Raise InvalidInput unless a file of one's own may have this id."""
    report = Report("", lambda _path, _at_key: _NOWHERE)
    check(WORKFLOW.required["id"], workflow_id, ("id",), report)
    for found in report.diagnostics():
        raise InvalidInput(f"{found.what} {found.why}", remedy=found.remedy)
    if workflow_id.startswith(RESERVED_PREFIX):
        raise InvalidInput(
            f"The id {workflow_id} begins with {RESERVED_PREFIX}, as bundled ones do.",
            remedy="Choose another namespace, such as project. or your team's name.",
        )


def file_name_of(workflow_id: str, suffix: str) -> str:
    """Return what a file of this id is called: the id without its namespace."""
    return workflow_id.rpartition(".")[2] + suffix
