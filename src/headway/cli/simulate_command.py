"""`headway workflows simulate`: drive a workflow through all of its ways, and say what was not."""

import sys
from collections.abc import Iterator

import click

from headway.application.simulate_workflow import coverage_reply, simulate_workflow
from headway.cli.one_workflow import WORKFLOW_OR_FILE, one_workflow
from headway.cli.options import examples, json_option, print_json
from headway.cli.safe_text import one_line
from headway.cli.style import counted
from headway.domain.simulating.simulate import Coverage


@click.command(
    "simulate",
    short_help="Drive a workflow through all of its ways.",
    epilog=examples(
        "headway workflows simulate hw.bug-fix",
        "headway workflows simulate .headway/workflows/release.yaml --json",
    ),
)
@WORKFLOW_OR_FILE
@click.option(
    "--seed",
    type=click.IntRange(0, 1_000_000),
    default=0,
    show_default=True,
    help="Which of the values that fit are tried first.",
)
@json_option
def simulate_command(workflow: str, *, seed: int, as_json: bool) -> None:
    """Drive the workflow of an id or file through the engine's own rules, with made-up work.

    Told is each branch that was not taken and why: steps passed over or never met, ways out of
    loops, texts that are left out, refusals, gates. An agent is taken to set what texts of the
    workflow tell it of, and nothing else. Nothing is recorded and no command is run.

    The exit code is 0 when every branch that can be reached was taken, 1 when not, 2 when it could
    not be told.
    """
    _, compiled = one_workflow(workflow)
    coverage = simulate_workflow(compiled, seed)
    if as_json:
        print_json(coverage_reply(coverage))
    else:
        for line in _lines(coverage):
            click.echo(one_line(line) if not line.startswith(" ") else f"  {one_line(line)}")
    sys.exit(0 if coverage.is_complete else 1)


def _lines(coverage: Coverage) -> Iterator[str]:
    share = f"{len(coverage.taken)} of {coverage.reachable} branches taken"
    tried = f"{counted(coverage.runs, 'run')}, {counted(coverage.advances, 'advance')}"
    yield f"{coverage.workflow}: {share}, in {tried}."
    for end in coverage.dead_ends:
        yield f"Dead end at {end.step}: {end.why}"
    for each in coverage.missed:
        yield f"Not taken ({each.verdict}): {each.branch.told()}. {each.why}"
    spared = [each for each in coverage.untaken if not each.reachable]
    if spared:
        yield f"{len(spared)} more never come up, which is no fault in itself:"
        yield from (f"  {each.branch.told()}. {each.why}" for each in spared)
    if coverage.exhausted:
        yield "The budget was spent before everything was tried."
