"""A preview shows each step as it will be read, and where each part of it comes from."""

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.library import FEATURES, REFS
from headway.domain.compiler.setting import Sources
from headway.domain.previewing.preview import StepPreview, preview
from tests.linting.linted import read

MEMORY = "wr.refs.memory_query"
FILE = f"""\
id: acme.shown
name: Shown
description: Everything that a prompt can be made of.
version: 1.0.0
features: [wr.features.capabilities]
steps:
  - id: look
    title: Look at {{{{place.name}}}}
    promptBlocks:
      goal: Find {{{{place.name}}}}.
      constraints:
        - [{{kind: text, text: 'Ask first. '}}, {{kind: ref, refId: {MEMORY}}}]
    promptFragments:
      - {{id: deep, text: Go deeper., when: {{var: depth, equals: deep}}}}
  - id: called
    title: Called
    templateCall: {{templateId: acme.templates.routine.check, args: {{what: the roof}}}}
    runCondition: {{var: depth, equals: deep}}
  - id: rounds
    type: loop
    title: Rounds
    loop: {{type: for, count: 2, maxIterations: 3}}
    body:
      - {{id: once, title: Once, prompt: Do it., notesOptional: true}}
"""
ROUTINE = """\
id: acme.routine-check
name: Check
description: Checks something.
version: 1.0.0
steps:
  - {id: do, title: Check, prompt: "Check {what}."}
"""


def previewed() -> dict[str, StepPreview]:
    document = read(FILE)
    sources = Sources(routines={"acme.templates.routine.check": read(ROUTINE)})
    workflow = compile_workflow(document, sources).workflow
    assert workflow is not None
    return {step.id: step for step in preview(workflow, document.root)}


def test_each_part_is_told_with_what_it_comes_from() -> None:
    found = {(part.origin, part.name): part.text for part in previewed()["look"].parts}
    assert found["ref", MEMORY] == REFS[MEMORY]
    feature = FEATURES["wr.features.capabilities"]
    assert found["feature", "wr.features.capabilities"] in feature.verify
    assert found["fragment", 'deep, when depth equals "deep"'] == "Go deeper."
    assert found["engine", "notes"].startswith("Notes are required")


def test_placeholders_stay_as_written() -> None:
    step = previewed()["look"]
    assert "Find {{place.name}}." in step.parts[0].text
    assert step.title == "Look at {{place.name}}"


def test_a_step_of_a_routine_names_it_and_says_when_it_is_met() -> None:
    step = previewed()["called.do"]
    assert (step.made_by, step.routine) == ("routine", "acme.templates.routine.check")
    assert step.condition == 'depth equals "deep"'
    assert step.parts[0].origin == "routine"
    assert step.parts[0].text == "Check the roof."


def test_a_step_in_a_loop_names_the_loop_with_its_bound() -> None:
    step = previewed()["once"]
    assert [(loop.id, loop.steering, loop.passes_max) for loop in step.loops] == [
        ("rounds", "2 times", 3)
    ]
    assert step.parts[0].name == "loop"
    assert step.demands == ()


def test_the_size_is_that_of_the_whole_prompt() -> None:
    step = previewed()["called.do"]
    assert step.size == len("\n\n".join(part.text for part in step.parts).encode())
    assert step.tokens == -(-step.size // 4)
