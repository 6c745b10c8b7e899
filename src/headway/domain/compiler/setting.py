"""What a workflow's steps are compiled against, and what changes on the way down to one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from headway.domain.compiler.reading import Document
from headway.domain.compiler.reporting import Abandoned, Report, path_text, shown
from headway.domain.diagnostics import Path
from headway.domain.values import JsonObject
from headway.domain.workflow import Assessment, Condition, Function

STEPS_MAX: Final = 10_000
TEXT_CHARS_MAX: Final = 16_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What a workflow may draw on from outside its file.

    `routines` are documents by template id, `bindings` this workflow's overrides by slot.
    """

    routines: Mapping[str, Document] = field(default_factory=dict)
    bindings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The declarations of one workflow, the same for all of its steps, and where problems go."""

    report: Report
    sources: Sources
    slots: Mapping[str, str]
    features: tuple[str, ...]
    assessments: Mapping[str, Assessment]
    contracts: tuple[str, ...]
    ids: dict[str, Path] = field(default_factory=dict)
    checked_routines: dict[str, bool] = field(default_factory=dict)
    chars: list[int] = field(default_factory=lambda: [0])

    def register(self, identifier: str, path: Path) -> None:
        """Note the id of a compiled step or loop; report one that is taken."""
        if not identifier:
            return
        if self.ids.setdefault(identifier, path) is not path:
            self.report.add(
                "DUPLICATE_STEP_ID", (*path, "id"),
                f"The id {shown(identifier)} is already that of {path_text(self.ids[identifier])}.",
                "Give one of the two another id.",
            )  # fmt: skip
        elif len(self.ids) > STEPS_MAX:
            self.report.add(
                "TOO_MANY_STEPS", path, f"This is item {len(self.ids):,}.",
                "Use loops, or split the workflow.",
            )  # fmt: skip
            raise Abandoned

    def spend(self, chars: int, path: Path) -> None:
        """Count compiled text, and end the work when it gets out of hand."""
        self.chars[0] += chars
        if self.chars[0] > TEXT_CHARS_MAX:
            self.report.add(
                "COMPILED_TOO_LARGE", path, "The limit is passed here.",
                "Call fewer routines, or pass them shorter args.",
            )  # fmt: skip
            raise Abandoned


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where in the workflow a step stands: the loops around it and the routine it comes from.

    `functions` are those visible, nearest first. `args` is None outside a routine; inside one, ids
    get the caller's id as prefix, `guidance` is the routine's own, and `inherited` is the caller's
    condition for steps without one.
    """

    functions: tuple[Function, ...] = ()
    loops: tuple[str, ...] = ()
    prefix: str = ""
    args: JsonObject | None = None
    guidance: tuple[str, ...] = ()
    inherited: Condition | None = None
    routine_functions: tuple[Function, ...] = ()
