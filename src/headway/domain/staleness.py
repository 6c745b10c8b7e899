"""Staleness: whether a workflow was last looked over against the rules of authoring in force.

The rules have a number. An author who has looked a file over, with the linter's help, stamps it
with that number; when the rules move on, the stamp tells which files to look at again.
"""

from typing import Final, Literal, TypeAlias

from headway.domain.values import JsonObject, Value

STAMP_KEY: Final = "validatedAgainstSpecVersion"
# Raised when a rule is added that a sound file may well break. Numbers up to 3 are those of the
# rules WorkRail has; a file stamped with one was looked over against other rules than these.
SPEC_VERSION: Final = 4

Level: TypeAlias = Literal["none", "possible", "likely"]


class Staleness(Value):
    """How likely it is that a file has fallen behind the rules, and why."""

    level: Level
    reason: str

    def told(self) -> JsonObject:
        """Return it in the wire's names."""
        return {"level": self.level, "reason": self.reason}


def staleness_of(stamp: int | None) -> Staleness:
    """Return how stale a file with this stamp is; None stands for no stamp."""
    if stamp is None:
        return Staleness(
            level="possible",
            reason="The file does not say which version of the rules it was looked over against.",
        )
    if stamp == SPEC_VERSION:
        return Staleness(
            level="none", reason=f"It was looked over against version {stamp}, the one in force."
        )
    return Staleness(
        level="likely",
        reason=f"It was looked over against version {stamp}; version {SPEC_VERSION} is in force.",
    )
