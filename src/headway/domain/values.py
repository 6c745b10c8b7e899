"""The base of every stored or compared value, and the JSON values users bring along.

A `Value` is frozen, keyword-only and closed: a field it does not know is refused when it is read,
so a stored record is either understood whole or not at all.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, dataclass_transform

import msgspec

if TYPE_CHECKING:
    # What JSON text parses to. Read-only by its type: parsed values are shared, never mutated.
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
    JsonObject: TypeAlias = Mapping[str, Json]
else:  # msgspec reads these at run time and cannot follow a recursive alias
    Json = Any
    JsonObject = dict[str, Any]


TIME_MAX: Final = 253_402_300_800_000  # the end of the year 9999, beyond which no date is told

# Milliseconds since 1970 UTC that can be told as a date; held to it when a stored one is read.
Moment: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=TIME_MAX)]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,  # what is frozen when it is made cannot come to hold itself
):
    """A closed, immutable record; fields at their default are left out of its JSON form."""
