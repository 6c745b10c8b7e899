"""What a list does not show because its rows are damaged: told beside it, on stderr."""

from headway.application.left_out import Kind, left_out
from headway.cli.safe_text import one_line
from headway.cli.terminal import remark
from headway.domain.values import Json


def remark_left_out(kind: Kind, unreadable: Json) -> None:
    """Say which rows a list lacks, by the names the list has of them; nothing where it has none."""
    assert isinstance(unreadable, list | tuple)
    if unreadable:
        remark(one_line(left_out(kind, [str(each) for each in unreadable])))
