"""What is said of rows that a list leaves out because they cannot be read."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

NAMES_SHOWN_MAX: Final = 5

Kind: TypeAlias = Literal["session", "run"]

_WAY_OUT: Final[dict[Kind, str]] = {
    "session": "`headway verify` says what is wrong, and `headway rebuild` makes its rows anew.",
    "run": "`headway verify` says what is wrong; a backup of the store brings it back.",
}


def left_out(kind: Kind, names: Sequence[str]) -> str:
    """Return in a sentence or two what a list lacks, and what to do about it; it lacks something.

    The names are those of the sessions or runs whose rows cannot be read.
    """
    assert names
    shown = ", ".join(names[:NAMES_SHOWN_MAX])
    more = len(names) - NAMES_SHOWN_MAX
    told = f"{shown} and {more} more" if more > 0 else shown
    if len(names) == 1:
        lacks = f"A damaged {kind} is left out: {told}."
    else:
        lacks = f"{len(names)} damaged {kind}s are left out: {told}."
    return f"{lacks} {_WAY_OUT[kind]}"
