"""A workflow file to begin with: short, commented, and without a word from the linter.

Law: every choice of parts gives a file that compiles and that lint has nothing to say about, so
that whatever it says later is about what the author changed.
"""

from typing import Final

from headway.domain.staleness import SPEC_VERSION, STAMP_KEY
from headway.domain.values import Value
from headway.domain.writing.editor_line import editor_line
from headway.domain.writing.yaml_writing import yaml_text


class Skeleton(Value):
    """What the new file is called, and which parts of the language it shows."""

    id: str
    name: str
    description: str
    loop: bool = False
    contract: bool = False
    checks: bool = False


def skeleton_text(skeleton: Skeleton, schema: str) -> str:
    """Return the file, with `schema` as the path that editors find its schema at."""
    head = yaml_text(
        {"id": skeleton.id, "name": skeleton.name, "description": skeleton.description}
    )
    parts = [
        editor_line(schema),
        head,
        _VERSION,
        _CONTRACT if skeleton.contract else "",
        _FIRST_STEP,
        _WORK,
        _CHECKS if skeleton.checks else "",
        _LOOP if skeleton.loop else "",
        _REPORT,
        _REPORT_CONTRACT if skeleton.contract else "",
    ]
    return "".join(parts)


_VERSION: Final = f"""\
# Raise the version when you change what the workflow does; sessions that run keep the old text.
version: 1.0.0
# The rules this file was looked over against: `headway workflows lint --stamp FILE` renews it.
{STAMP_KEY}: {SPEC_VERSION}
metricsProfile: none
"""

_CONTRACT: Final = """
# A contract of your own: what an agent hands in must have this form, or the step stays open.
contracts:
  - id: result
    kind: result
    guidance: summary says in one sentence what was done; files lists every file you changed.
    schema:
      type: object
      required: [kind, summary, files]
      properties:
        kind: {const: result}
        summary: {type: string, minLength: 20}
        files: {type: array, items: {type: string}}
      additionalProperties: false
"""

_FIRST_STEP: Final = """
# An agent sees one step at a time, and leaves it with notes that say what it did.
steps:
  - id: understand
    title: Understand the task
    promptBlocks:
      # {{goal}} is what the session was started for.
      goal: "Know what is asked before you change anything: {{goal}}"
      procedure:
        - Read what the goal names, and what depends on it.
        - Say in one sentence what will be different when the work is done.
      outputRequired:
        notes: That sentence, and what you will look at to see that it came true.
"""

_WORK: Final = """
  - id: work
    title: Do the work
    promptBlocks:
      goal: Make the change that your notes of the first step describe, and nothing beside it.
      constraints:
        - What is not needed for it stays as it is.
      outputRequired:
        notes: What you changed, file by file, and why.
"""

_CHECKS: Final = """\
    # Commands that must end with 0 before the step can be left; Headway runs them, not the agent.
    checks:
      - id: clean-diff
        run: git diff --check
        timeoutSeconds: 60
"""

_LOOP: Final = """
  - id: polish
    type: loop
    title: Look again until nothing is left
    loop:
      type: while
      # The decision below ends the loop; this is only the bound if it never does.
      maxIterations: 4
      conditionSource:
        kind: artifact_contract
        contractRef: wr.contracts.loop_control
        loopId: polish
    body:
      - id: look
        title: Look for what is wrong
        promptBlocks:
          goal: Find what is still wrong with the work, and mend it.
          procedure:
            - Read your change as somebody would who has to live with it.
            - Mend what you find.
          outputRequired:
            notes: Each thing that was wrong and how it was mended, or that nothing was.

      - id: decide
        title: Decide whether to look again
        prompt: >-
          Send the decision stop when the last look found nothing, and continue when it found
          something. Give the reason.
        outputContract:
          contractRef: wr.contracts.loop_control
"""

_REPORT: Final = """
  - id: report
    title: Report
    promptBlocks:
      goal: Tell whoever asked for it what was done, so that they need not ask again.
      procedure:
        - Say what is different now, and how you know that it works.
        - Name what you noticed and left alone.
"""

_REPORT_CONTRACT: Final = """\
    outputContract:
      contractRef: result
"""
