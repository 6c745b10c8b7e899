"""The steps of a workflow as an agent will read them, by the renderer that tells them for real.

Placeholders and conditional texts depend on a session, which a preview has not: a placeholder stays
as its author wrote it, and every text that is added under a condition is shown with that condition.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from headway.domain.conditions import describe
from headway.domain.graphing.flow import demands_of, gate_of, steering_of
from headway.domain.loops import Around
from headway.domain.previewing.origins import Part, parts_of, routines_called
from headway.domain.rendering.metrics import is_last_step
from headway.domain.rendering.prompt import Section, StepView, render_sections
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Fragment, Item, Loop, Step, StepKind, Workflow

BYTES_PER_TOKEN: Final = 4  # of English prose; code and other scripts take fewer

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}")

Maker: TypeAlias = Literal["author", "routine", "engine"]


class LoopAround(Value):
    """A loop that a step stands in."""

    id: str
    title: str
    steering: str
    passes_max: int


class StepPreview(Value):
    """A step as it will be read. `size` is the prompt's in bytes with every added text shown."""

    id: str
    title: str
    kind: StepKind
    made_by: Maker
    routine: str  # the template id, "" for a step of the workflow's own
    condition: str  # under which it is met, "" for always
    loops: tuple[LoopAround, ...]
    demands: tuple[str, ...]
    gate: str
    agent_role: str
    parts: tuple[Part, ...]
    size: int

    @property
    def tokens(self) -> int:
        """About how many tokens the prompt takes."""
        return -(-self.size // BYTES_PER_TOKEN)


def preview(workflow: Workflow, root: JsonObject | None = None) -> tuple[StepPreview, ...]:
    """Return every step in the order of a run.

    `root` is the document it was compiled from, which tells the routines by name.
    """
    called = routines_called(root) if root is not None else {}
    made: list[StepPreview] = []
    _collect(workflow, workflow.steps, (), called, made)
    return tuple(made)


def _collect(  # noqa: PLR0913, PLR0917 - what a walk carries along
    workflow: Workflow,
    items: tuple[Item, ...],
    around: tuple[tuple[Loop, tuple[int, ...]], ...],
    called: Mapping[str, str],
    made: list[StepPreview],
    above: tuple[int, ...] = (),
) -> None:
    for index, item in enumerate(items):
        path = (*above, index)
        if isinstance(item, Loop):
            _collect(workflow, item.body, (*around, (item, path)), called, made, path)
        else:
            loops: Around = tuple((loop, 0) for loop, _ in around)
            made.append(_previewed(workflow, item, loops, path, called))


def _previewed(
    workflow: Workflow,
    step: Step,
    loops: Around,
    path: tuple[int, ...],
    called: Mapping[str, str],
) -> StepPreview:
    shown = replace(step, delegations=tuple(replace(d, when=None) for d in step.delegations))
    view = StepView(
        workflow=workflow,
        step=shown,
        variables=placeholders_in(step),
        loops=loops,
        first=path == (0,) * len(path),
        last=is_last_step(workflow, path),
    )
    routine = next((called[name] for name in called if step.id.startswith(f"{name}.")), "")
    sections = [s for s in render_sections(view) if s.origin != "fragments"]
    parts = [part for section in sections for part in _parts(section, step, routine)]
    parts += (_fragment(each) for each in step.fragments)
    texts = [*(each.text for each in sections), *(each.text for each in step.fragments)]
    generated = step.kind in {"verification", "audit", "synthesis"}
    return StepPreview(
        id=step.id,
        title=step.title,
        kind=step.kind,
        made_by="engine" if generated else "routine" if routine else "author",
        routine=routine,
        condition="" if step.run_condition is None else describe(step.run_condition),
        loops=tuple(
            LoopAround(
                id=loop.id,
                title=loop.title,
                steering=steering_of(loop),
                passes_max=loop.max_iterations,
            )
            for loop, _ in loops
        ),
        demands=demands_of(step),
        gate=gate_of(step),
        agent_role=step.agent_role or "",
        parts=tuple(parts),
        size=len("\n\n".join(texts).encode()),
    )


def placeholders_in(step: Step) -> JsonObject:
    """Return variables under which each placeholder of a step shows as it is written."""
    made: dict[str, Json] = {}
    texts = [step.title, step.prompt, step.agent_role or "", *step.guidance]
    texts += [text for each in step.delegations for text in (each.goal or "", *each.args.values())]
    for text in texts:
        for path in _PLACEHOLDER.findall(text):
            _put(made, path.split("."), f"{{{{{path}}}}}")
    made |= {name: f"{{{{{name}}}}}" for d in step.delegations for name in d.context_mapping}
    return made


def _put(into: dict[str, Json], names: list[str], value: str) -> None:
    first, *more = names
    if not more:
        into.setdefault(first, value)
        return
    inner = into.setdefault(first, {})
    if isinstance(inner, dict):
        _put(inner, more, value)


def _parts(section: Section, step: Step, routine: str) -> tuple[Part, ...]:
    if section.origin != "author":
        return (Part(origin="engine", name=section.origin, text=section.text),)
    if step.kind == "parallel":
        return (Part(origin="engine", name="delegations", text=section.text),)
    found = parts_of(section.text)
    if not routine:
        return found
    return tuple(
        replace(each, origin="routine", name=routine) if each.origin == "author" else each
        for each in found
    )


def _fragment(fragment: Fragment) -> Part:
    when = f"when {describe(fragment.when)}" if fragment.when is not None else "always"
    return Part(origin="fragment", name=f"{fragment.id}, {when}", text=fragment.text)
