"""Compiling a list of steps: the workflow's own, a loop's body, or a routine's.

A loop's body may be named by the id of a step beside the loop. That step then lives in the loop and
nowhere else. A step that calls a routine is replaced by the routine's steps.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from headway.domain.compiler.checking import misspelt_keys
from headway.domain.compiler.conditions import condition_at
from headway.domain.compiler.grammar import STANDARD_STEP
from headway.domain.compiler.loops import LOOP_DEPTH_MAX, compile_loop
from headway.domain.compiler.nodes import text
from headway.domain.compiler.reporting import did_you_mean, listed, shown
from headway.domain.compiler.setting import Scope, Setting
from headway.domain.compiler.steps import compile_parallel, compile_standard
from headway.domain.compiler.templates import called_routine
from headway.domain.diagnostics import Path
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Item

_PROMPT_KEYS: Final = ("prompt", "promptBlocks", "templateCall")


def compile_body(
    values: Sequence[Json], path: Path, setting: Setting, scope: Scope
) -> tuple[Item, ...]:
    """Compile the steps of a list, in order."""
    return _Body(values, path, setting).compile(scope)


class _Body:
    """One list of steps, which may refer to each other as loop bodies."""

    def __init__(self, values: Sequence[Json], path: Path, setting: Setting) -> None:
        self._nodes = [value if isinstance(value, dict) else {} for value in values]
        self._path = path
        self._setting = setting
        self._index: dict[str, int] = {}
        for index, node in enumerate(self._nodes):
            if name := text(node, "id"):
                self._index.setdefault(name, index)
        self._inside: dict[int, bool] = {}  # steps that are bodies; whether their loop was met
        for node in self._nodes:
            target = self._index.get(text(node, "body")) if node.get("type") == "loop" else None
            if target is not None:
                self._inside[target] = False

    def compile(self, scope: Scope) -> tuple[Item, ...]:
        compiled: list[Item] = []
        for index in range(len(self._nodes)):
            if index not in self._inside:
                compiled += self._item(index, scope)
        for index, met in self._inside.items():
            if not met:
                self._report_cycle(index)
        return tuple(compiled)

    def _item(self, index: int, scope: Scope) -> tuple[Item, ...]:
        node, path = self._nodes[index], (*self._path, index)
        match node.get("type"):
            case "loop":
                return self._loop(node, path, scope)
            case "parallel":
                return compile_parallel(node, path, self._setting, scope)
            case None if node and self._has_one_prompt(node, path):
                if "templateCall" in node:
                    return self._routine(node, path, scope)
                return compile_standard(node, path, self._setting, scope)
            case _:
                return ()  # told when its shape was checked

    def _has_one_prompt(self, node: JsonObject, path: Path) -> bool:
        present = [key for key in node if key in _PROMPT_KEYS]
        misspelt = misspelt_keys(STANDARD_STEP, node)
        if not present and not {*misspelt.values()} & {*_PROMPT_KEYS}:
            self._setting.report.add(
                "NO_PROMPT", path, f"The step {shown(text(node, 'id'))} has no prompt.",
                'Add "prompt": "What to do."',
            )  # fmt: skip
        for extra in present[1:]:
            self._setting.report.add(
                "PROMPT_AND_BLOCKS_BOTH_SET", (*path, extra),
                f"{extra} stands beside {present[0]}.", "Keep one of them.", at_key=True,
            )  # fmt: skip
        return bool(present)

    def _routine(self, node: JsonObject, path: Path, scope: Scope) -> tuple[Item, ...]:
        call = called_routine(node, path, self._setting, scope)
        if call is None:
            return ()
        own = condition_at(node, "runCondition", path, self._setting.report)
        inner = Scope(
            functions=scope.functions,
            loops=scope.loops,
            prefix=f"{text(node, 'id')}.",
            args=call.args,
            guidance=call.guidance,
            inherited=own,
            routine_functions=call.functions,
        )
        return compile_body(call.steps, call.path, self._setting, inner)

    def _loop(self, node: JsonObject, path: Path, scope: Scope) -> tuple[Item, ...]:
        name = text(node, "id")
        if len(scope.loops) == LOOP_DEPTH_MAX:
            self._setting.report.add(
                "LOOP_TOO_DEEP", path,
                f"The loop {shown(name)} lies inside {listed(scope.loops)}.",
                "Move it out, or into a workflow of its own.",
            )  # fmt: skip
            return ()
        return (compile_loop(node, path, self._setting, scope, self._loop_body),)

    def _loop_body(self, node: JsonObject, path: Path, scope: Scope) -> tuple[Item, ...]:
        body = node.get("body")
        if isinstance(body, list):
            return compile_body(body, (*path, "body"), self._setting, scope)
        if not isinstance(body, str):
            return ()
        index = self._index.get(body)
        if index is None:
            known = [name for name in self._index if name != text(node, "id")]
            self._setting.report.add(
                "LOOP_BODY_UNKNOWN", (*path, "body"), f"No step {shown(body)} stands beside it.",
                did_you_mean(body, known, f"Choose one of {listed(known)}."),
            )  # fmt: skip
            return ()
        if self._inside[index]:
            if body not in scope.loops:
                self._setting.report.add(
                    "LOOP_BODY_SHARED", (*path, "body"),
                    f"{shown(body)} is already the body of another loop.",
                    "Give each loop a body of its own.",
                )  # fmt: skip
            else:
                self._report_cycle(index)
            return ()
        self._inside[index] = True
        return self._item(index, replace(scope, inherited=None))

    def _report_cycle(self, index: int) -> None:
        name = text(self._nodes[index], "id")
        self._setting.report.add(
            "LOOP_CYCLE", (*self._path, index, "body"), f"The loop {shown(name)} leads to itself.",
            "Name a step that does the work, or write the body in place.",
        )  # fmt: skip
