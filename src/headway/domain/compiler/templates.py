"""Calling routines: which one a step calls, with what, and what gets lost on the way.

A routine is called by its template id, which follows from its workflow id. Its steps take the place
of the calling step; problems in them are told at the call, since the routine's own file is well.
"""

import contextlib
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from headway.domain.compiler.checking import check
from headway.domain.compiler.functions import functions_at
from headway.domain.compiler.grammar import WORKFLOW
from headway.domain.compiler.nodes import items, record, text, texts
from headway.domain.compiler.reading import Document
from headway.domain.compiler.reporting import (
    Abandoned,
    Report,
    did_you_mean,
    kind_of,
    listed,
    shown,
)  # fmt: skip
from headway.domain.compiler.setting import Scope, Setting
from headway.domain.diagnostics import Path
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Function

_ROUTINE: Final = re.compile(r"(?:([a-z][a-z0-9_-]*)\.)?routine-([a-z0-9_-]+)")
_KEPT: Final = frozenset({"id", "title", "templateCall", "runCondition", "lint"})
_WITHOUT_EFFECT: Final = frozenset({"askForFiles", "hasValidation", "prompt", "promptBlocks"})


class Call(NamedTuple):
    """A routine about to be put in: its steps, where problems with them are told, and its args."""

    steps: Sequence[Json]
    path: Path
    args: JsonObject
    guidance: tuple[str, ...]
    functions: tuple[Function, ...]


def routine_template_id(workflow_id: str) -> str | None:
    """Return the template id under which a workflow can be called; None if it is no routine."""
    found = _ROUTINE.fullmatch(workflow_id)
    return f"{found[1] or 'wr'}.templates.routine.{found[2]}" if found else None


def called_routine(node: JsonObject, path: Path, setting: Setting, scope: Scope) -> Call | None:
    """Return the routine a step calls, or report why it cannot."""
    _warn_lost(node, path, setting)
    path = (*path, "templateCall")
    call = record(node, "templateCall")
    name, args = text(call, "templateId"), record(call, "args")
    _check_args(args, (*path, "args"), setting)
    if scope.args is not None:
        setting.report.add(
            "TEMPLATE_RECURSION", path, f"The routine calls {shown(name)}.",
            "Write the steps out in the routine.",
        )  # fmt: skip
        return None
    routine = setting.sources.routines.get(name)
    if not name:
        return None
    if routine is None:
        known = setting.sources.routines
        setting.report.add(
            "UNKNOWN_TEMPLATE", (*path, "templateId"), f"There is no template {shown(name)}.",
            did_you_mean(name, known, f"Templates are {listed(known)}."),
        )  # fmt: skip
        return None
    if not _is_sound(name, routine, path, setting):
        return None
    return Call(
        steps=items(routine.root, "steps"),
        path=(*path, f"<{text(routine.root, 'id')}>", "steps"),
        args=args,
        guidance=texts(routine.root, "metaGuidance"),
        functions=functions_at(routine.root, "workflow"),
    )


def _is_sound(name: str, routine: Document, path: Path, setting: Setting) -> bool:
    if name in setting.checked_routines:
        return setting.checked_routines[name]
    own = Report(routine.name, routine.position)
    with contextlib.suppress(Abandoned):
        check(WORKFLOW, routine.root, (), own)
    setting.checked_routines[name] = not own.has_errors
    if own.has_errors:
        first = own.diagnostics()[0]
        setting.report.add(
            "ROUTINE_BROKEN", (*path, "templateId"),
            f"The routine {shown(name)} has problems, the first at line {first.line} of "
            f"{first.file}: {first.what}",
            "Mend the routine's file first.",
        )  # fmt: skip
    return not own.has_errors


def _check_args(args: JsonObject, path: Path, setting: Setting) -> None:
    for name, value in args.items():
        if not isinstance(value, str | int | float):
            setting.report.add(
                "TEMPLATE_ARG_TYPE", (*path, name), f"{name} is {kind_of(value)}: {shown(value)}.",
                "Write it as text.",
            )  # fmt: skip


def _warn_lost(node: JsonObject, path: Path, setting: Setting) -> None:
    for key, value in node.items():
        if key not in _KEPT and key not in _WITHOUT_EFFECT and value is not False:
            setting.report.add(
                "FIELD_LOST_IN_TEMPLATE", (*path, key), f"{key} is not passed to the routine.",
                "Put it on a step of its own, or into the routine.", at_key=True,
            )  # fmt: skip
