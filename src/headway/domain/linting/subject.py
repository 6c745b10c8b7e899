"""A workflow as the linter sees it: the steps in the order of a run, with their texts and tests.

It is made from the document and not from the compiled form, because a finding needs a place in
the file. The document is known to compile, so whatever is looked for has its type.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, TypeAlias

from headway.domain.compiler.nodes import items, record, records, text
from headway.domain.compiler.reading import Document
from headway.domain.compiler.templates import routine_template_id
from headway.domain.diagnostics import Path
from headway.domain.linting.texts import Prose, prose_of, words_in, words_of
from headway.domain.linting.truth import Verdict
from headway.domain.values import Json, JsonObject

UnitKind: TypeAlias = Literal["standard", "loop", "parallel", "routine"]

# What every session knows without being told: its goal, and what the engine sets itself.
BUILT_IN_VARIABLES: Final = frozenset(
    {"goal", "workflowId", "is_autonomous", "headway_autonomous", "metrics_harness",
     "metrics_active_model"}
)  # fmt: skip
PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)(?:\.\w+)*\s*\}\}")

_LOOP_VARIABLES: Final = (
    ("iterationVar", "currentIteration"),
    ("itemVar", "currentItem"),
    ("indexVar", "currentIndex"),
)
_WORKFLOW_TEXTS: Final = (
    "description", "about", "preconditions", "clarificationPrompts", "metaGuidance",
    "functionDefinitions", "contracts", "assessments", "references",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One step, loop or routine call, at its place in the order of a run.

    `loops` are those around it, outermost first; `texts` is what an agent reads at this place, the
    steps of a called routine included, those of a loop's body not.
    """

    node: JsonObject
    path: Path
    kind: UnitKind
    order: int
    loops: tuple["Unit", ...] = ()
    texts: tuple[Prose, ...] = ()
    words: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        return text(self.node, "id")

    def variables(self) -> Iterator[str]:
        """Yield the variables the loops around it set."""
        for each in self.loops:
            yield from loop_variables(each)


@dataclass(frozen=True)
class Subject:
    """One document under the linter, with what its neighbours are called and hold.

    `known` are the ids a delegation may name; None when the neighbours were not looked at.
    """

    document: Document
    routines: Mapping[str, Document] = field(default_factory=dict)
    known: frozenset[str] | None = None
    verdicts: dict[Path, Verdict] = field(default_factory=dict)  # of conditions looked into

    @property
    def root(self) -> JsonObject:
        return self.document.root

    @property
    def is_routine(self) -> bool:
        """Whether it is written to be called, so that its caller sets what it reads."""
        return routine_template_id(text(self.root, "id")) is not None

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every step, loop and routine call, in the order in which a run meets them."""
        return tuple(_Walk(self.routines).units(items(self.root, "steps"), ("steps",), ()))

    @cached_property
    def steps(self) -> tuple[Unit, ...]:
        """The units that are no loops."""
        return tuple(unit for unit in self.units if unit.kind != "loop")

    @cached_property
    def common_texts(self) -> tuple[Prose, ...]:
        """What the workflow says outside of its steps."""
        return tuple(
            each
            for key in _WORKFLOW_TEXTS
            if key in self.root
            for each in prose_of(self.root[key], (key,))
        )

    @cached_property
    def common_words(self) -> frozenset[str]:
        """The words of those texts."""
        return words_of(self.common_texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that an agent or author reads anywhere in the workflow."""
        return self.common_words.union(*(unit.words for unit in self.units))

    @cached_property
    def folded(self) -> str:
        """Every text of the workflow in one, without regard to case."""
        texts = (*self.common_texts, *(each for unit in self.units for each in unit.texts))
        return "\n".join(each.text for each in texts).casefold()

    def naming(self, variable: str) -> tuple[Unit, ...]:
        """Return the units whose texts name a context key."""
        first, *more = words_in(variable) or [""]
        return tuple(
            unit
            for unit in self._by_word.get(first, ())
            if all(each in unit.words for each in more)
        )

    def inside(self, loop: Unit) -> tuple[Unit, ...]:
        """Return the units in the body of a loop, at any depth."""
        return tuple(self._by_loop.get(loop, ()))

    @cached_property
    def _by_word(self) -> dict[str, list[Unit]]:
        index: dict[str, list[Unit]] = {}
        for unit in self.units:
            for word in unit.words:
                index.setdefault(word, []).append(unit)
        return index

    @cached_property
    def _by_loop(self) -> dict[Unit, list[Unit]]:
        index: dict[Unit, list[Unit]] = {}
        for unit in self.units:
            for loop in unit.loops:
                index.setdefault(loop, []).append(unit)
        return index


def loop_variables(loop: Unit) -> Iterator[str]:
    """Yield the variables a loop sets in its body."""
    settings = record(loop.node, "loop")
    for key, default in _LOOP_VARIABLES:
        yield text(settings, key) or default


class _Walk:
    """Goes through steps the way the compiler does: a body named by its id moves into its loop."""

    def __init__(self, routines: Mapping[str, Document]) -> None:
        self._routines = routines
        self._count = 0

    def units(self, values: Json, path: Path, loops: tuple[Unit, ...]) -> Iterator[Unit]:
        nodes = dict(records({"steps": values}, "steps"))
        bodies = {text(node, "body") for node in nodes.values() if node.get("type") == "loop"}
        places = {text(node, "id"): index for index, node in nodes.items()}
        for index, node in nodes.items():
            if text(node, "id") not in bodies:
                yield from self._unit(node, (*path, index), loops, (nodes, places, path))

    def _unit(
        self,
        node: JsonObject,
        path: Path,
        loops: tuple[Unit, ...],
        beside: tuple[dict[int, JsonObject], dict[str, int], Path],
    ) -> Iterator[Unit]:
        unit = self._made(node, path, loops)
        yield unit
        if unit.kind != "loop":
            return
        body = node.get("body")
        if isinstance(body, list):
            yield from self.units(body, (*path, "body"), (*loops, unit))
        elif isinstance(body, str):
            nodes, places, around = beside
            index = places[body]
            yield from self._unit(nodes[index], (*around, index), (*loops, unit), beside)

    def _made(self, node: JsonObject, path: Path, loops: tuple[Unit, ...]) -> Unit:
        self._count += 1
        kind: UnitKind = "standard"
        if node.get("type") == "loop":
            kind = "loop"
        elif node.get("type") == "parallel":
            kind = "parallel"
        elif "templateCall" in node:
            kind = "routine"
        found = tuple(prose_of(node, path))
        if kind == "routine":
            found += tuple(self._routine_texts(node, path))
        return Unit(
            node=node, path=path, kind=kind, order=self._count, loops=loops, texts=found,
            words=words_of(found),
        )  # fmt: skip

    def _routine_texts(self, node: JsonObject, path: Path) -> Iterator[Prose]:
        routine = self._routines.get(text(record(node, "templateCall"), "templateId"))
        if routine is None:
            return
        for each in prose_of(items(routine.root, "steps"), ()):
            yield Prose(text=each.text, path=(*path, "templateCall"), key="")
