"""What a diagnosis says of one part of a home."""

from typing import Literal, TypeAlias

from headway.domain.values import Value

Level: TypeAlias = Literal["ok", "warning", "problem"]


class Finding(Value, omit_defaults=False):
    """What was found out about one part; `remedy` says what to do unless all is well."""

    part: str
    level: Level
    told: str
    remedy: str = ""
