"""`headway workflows preview` and `graph`: what an agent will read, and the way it will go."""

from collections.abc import Iterator

import click

from headway.application.preview_workflow import preview_reply, preview_workflow
from headway.cli.one_workflow import WORKFLOW_OR_FILE, one_workflow
from headway.cli.opening import told
from headway.cli.options import examples, json_option, print_json
from headway.cli.refusing import CannotTell
from headway.cli.safe_text import one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style, counted, fitted
from headway.cli.terminal import output_style
from headway.config import process_settings
from headway.domain.graphing.mermaid import mermaid
from headway.domain.graphing.svg import svg
from headway.domain.previewing.preview import StepPreview

_FORMATS = ("svg", "mermaid")


@click.command(
    "preview",
    short_help="Show what an agent will read at each step.",
    epilog=examples(
        "headway workflows preview hw.bug-fix",
        "headway workflows preview .headway/workflows/release.yaml --step build",
    ),
)
@WORKFLOW_OR_FILE
@click.option("--step", metavar="ID", help="Show this step only.")
@json_option
def preview_command(workflow: str, *, step: str | None, as_json: bool) -> None:
    """Show what an agent will read at each step of the workflow of an id or file.

    Each part of a prompt is told with what it comes from: the author, a routine, a
    ref, a feature, a fragment with its condition, or the engine, which adds what it will hold
    the step to. With each
    step stand its size, when it is met, its loops, and what it demands.
    """
    file, compiled = one_workflow(workflow)
    root = file.document.root if file.document is not None else None
    with told(CannotTell):
        steps = preview_workflow(compiled, root, step)
    total = sum(each.size for each in steps)
    if as_json:
        shown = [preview_reply(each, with_texts=True) for each in steps]
        print_json({"workflowId": compiled.id, "steps": shown, "promptBytes": total})
        return
    style = output_style(process_settings().environment)
    for each in steps:
        for line in _lines(each, style):
            click.echo(line)
    tokens = sum(each.tokens for each in steps)
    size = f"{total:,} bytes of prompts, about {tokens:,} tokens"
    click.echo(f"{counted(len(steps), 'step')}: {size}.")


@click.command(
    "graph",
    short_help="Draw the flow of a workflow.",
    epilog=examples(
        "headway workflows graph hw.coding-task > coding-task.svg",
        "headway workflows graph hw.coding-task --format mermaid",
    ),
)
@WORKFLOW_OR_FILE
@click.option("--format", "form", type=click.Choice(_FORMATS), default="svg", help="What to print.")
def graph_command(workflow: str, form: str) -> None:
    """Draw the flow of the workflow of an id or file: steps, choices, loops, gates, delegations.

    The picture needs no script and no font, and follows the reader's light or dark setting. The
    same workflow gives the same text, so it can be kept beside the file and compared.
    """
    _, compiled = one_workflow(workflow)
    click.echo(svg(compiled) if form == "svg" else mermaid(compiled), nl=False)


def _lines(step: StepPreview, style: Style) -> Iterator[str]:
    width = max(style.width, WIDTH_MIN)
    head = f"{one_line(step.title)} ({one_line(step.id)})"
    yield style.paint(fitted(head, width, style), "bold")
    for label, text in _facts(step):
        yield from wrapped(f"{label.ljust(9)}{one_line(text)}", width)
    for part in step.parts:
        name = f"{part.origin}: {part.name}" if part.name else part.origin
        yield style.paint(fitted(f"--- {one_line(name)}", width, style), "dim")
        yield from wrapped(part.text.strip("\n"), width)
    yield ""


def _facts(step: StepPreview) -> Iterator[tuple[str, str]]:
    yield "size", f"{step.size} bytes, about {step.tokens} tokens"
    made = f"routine {step.routine}" if step.routine else step.made_by
    if made != "author":
        yield "from", made
    if step.condition:
        yield "met if", step.condition
    for each in step.loops:
        yield "in loop", f"{each.title}: {each.steering}, at most {each.passes_max} passes"
    if step.demands:
        yield "demands", ", ".join(step.demands)
    if step.gate:
        yield "gate", step.gate
    if step.agent_role:
        yield "role", step.agent_role
