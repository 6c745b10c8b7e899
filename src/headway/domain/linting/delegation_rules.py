"""Rules about work that is handed out, and about asking people."""

import re
from collections.abc import Iterator
from typing import Final

from headway.domain.compiler.nodes import items, record, records, text
from headway.domain.compiler.reporting import did_you_mean, shown
from headway.domain.linting.rules import Finding, Rule, rule
from headway.domain.linting.subject import Subject, Unit
from headway.domain.linting.texts import Prose

CLARIFICATIONS_MAX: Final = 4
STEPS_TO_COMPARE_MIN: Final = 4

_EFFECTS: Final = r"push|publish|deploy|merge|delete|send|release|submit|drop|roll out"
# A sentence, a line or a numbered point that begins with the command to do it.
_EFFECT: Final = re.compile(
    rf"(?:^|[.!:;]\s+|\n\s*(?:[-*]|\d+[.)])?\s*)(?:then |now |finally |and )?({_EFFECTS})(?![\w-])",
    re.IGNORECASE,
)
_HELD_BACK: Final = re.compile(
    r"\b(?:do not|don't|never|after (?:the )?(?:approval|confirmation)|(?:once|if|when) (?:it is )?"
    r"(?:approved|confirmed)|draft|ask (?:before|whether|for))\b",
    re.IGNORECASE,
)
_WORK: Final = frozenset({"prompt", "promptBlocks", "promptFragments"})


@rule(
    "PARALLEL_WITHOUT_SYNTHESIS", "warning", "Parallel work is brought together",
    why="Results that nobody merges contradict each other unnoticed, and the next step reads "
    "whichever came last.",
    remedy="Add a synthesis that says how the results become one.",
)  # fmt: skip
def parallel_without_synthesis(subject: Subject) -> Iterator[Finding]:
    """Report parallel steps of several delegations without a synthesis."""
    for unit in subject.units:
        several = len(items(unit.node, "parallelDelegations")) > 1
        if several and "synthesis" not in unit.node:
            yield Finding(unit.path, f"Nothing merges the results of {shown(unit.id)}.")


@rule(
    "DELEGATION_UNKNOWN", "warning", "A delegation names a workflow that is there",
    why="A subagent that is sent to a workflow nobody has cannot start.",
    remedy="Choose a workflow of the catalogue, or add the file.",
)  # fmt: skip
def delegation_unknown(subject: Subject) -> Iterator[Finding]:
    """Report delegations to workflows that the catalogue does not hold."""
    if subject.known is None:
        return
    for unit in subject.units:
        for index, each in records(unit.node, "parallelDelegations"):
            name = text(each, "workflowId")
            if name not in subject.known and "{{" not in name:
                yield Finding(
                    (*unit.path, "parallelDelegations", index, "workflowId"),
                    f"There is no workflow {shown(name)}.",
                    did_you_mean(name, sorted(subject.known), ""),
                )


@rule(
    "DELEGATION_TO_SELF", "warning", "A workflow does not hand work to itself",
    why="A workflow that starts itself in a subagent goes deeper until a limit stops it.",
    remedy="Delegate to a smaller workflow, or use a loop.",
)  # fmt: skip
def delegation_to_self(subject: Subject) -> Iterator[Finding]:
    """Report delegations to the workflow they stand in."""
    for unit in subject.units:
        for index, each in records(unit.node, "parallelDelegations"):
            if text(each, "workflowId") == text(subject.root, "id"):
                path = (*unit.path, "parallelDelegations", index, "workflowId")
                yield Finding(path, "The delegation names the workflow it stands in.")


@rule(
    "DELEGATION_WITHOUT_INPUT", "info", "A delegation says what it is about",
    why="A subagent knows nothing of this session but what it is given.",
    remedy="Give it a goal, args or a contextMapping.",
)  # fmt: skip
def delegation_without_input(subject: Subject) -> Iterator[Finding]:
    """Report delegations with neither goal nor inputs."""
    for unit in subject.units:
        for index, each in records(unit.node, "parallelDelegations"):
            if not any(each.get(key) for key in ("goal", "args", "contextMapping")):
                path = (*unit.path, "parallelDelegations", index)
                yield Finding(path, f"{shown(text(each, 'workflowId'))} gets no goal and no input.")


@rule(
    "CONFIRMATION_AFTER_EFFECT", "warning", "A confirmation comes before what it guards",
    why="A step is confirmed when its work is handed in. If the step itself pushes, deploys or "
    "deletes, it has happened by then.",
    remedy="Prepare and show it here, ask for confirmation here, and act in the next step.",
)  # fmt: skip
def confirmation_after_effect(subject: Subject) -> Iterator[Finding]:
    """Report steps that ask for confirmation and tell to act outside in the same breath."""
    for unit in subject.steps:
        if not unit.node.get("requireConfirmation"):
            continue
        found = _effect(unit)
        if found:
            prose, verb = found
            yield Finding(
                prose.path, f"The step {shown(unit.id)} says to {verb.lower()}, and is confirmed "
                "afterwards.",
            )  # fmt: skip


@rule(
    "CONFIRMATION_WITHOUT_EFFECT", "warning", "A confirmation is asked where it counts",
    why="A parallel step asks for no confirmation; the work behind it would go on unseen.",
    remedy="Ask for it on the step that uses the results.",
)  # fmt: skip
def confirmation_without_effect(subject: Subject) -> Iterator[Finding]:
    """Report confirmations on parallel steps."""
    for unit in subject.units:
        if unit.kind == "parallel" and unit.node.get("requireConfirmation"):
            path = (*unit.path, "requireConfirmation")
            yield Finding(path, f"{shown(unit.id)} is a parallel step.", at_key=True)


@rule(
    "CONFIRMATION_EVERYWHERE", "info", "People are asked where they decide something",
    why="Who is asked at every step stops reading; then the one question that counts is waved "
    "through.",
    remedy="Keep the confirmations that guard something, or put a condition on the others.",
)  # fmt: skip
def confirmation_everywhere(subject: Subject) -> Iterator[Finding]:
    """Report workflows that ask at most of their steps whatever happened."""
    steps = [unit for unit in subject.steps if unit.kind == "standard"]
    asking = [unit for unit in steps if _always_asks(unit)]
    if len(steps) >= STEPS_TO_COMPARE_MIN and 2 * len(asking) > len(steps):
        path = (*asking[0].path, "requireConfirmation")
        yield Finding(path, f"{len(asking)} of {len(steps)} steps ask for confirmation.")


@rule(
    "CLARIFICATION_HEAVY", "info", "An agent looks before it asks",
    why="Most questions of a long list at the door could be answered by looking at the workspace.",
    remedy="Keep the questions only a person can answer; turn the others into a first step.",
)  # fmt: skip
def clarification_heavy(subject: Subject) -> Iterator[Finding]:
    """Report long lists of questions."""
    asked = items(subject.root, "clarificationPrompts")
    if len(asked) > CLARIFICATIONS_MAX:
        yield Finding(("clarificationPrompts",), f"{len(asked)} questions are asked at the start.")


def _effect(unit: Unit) -> tuple[Prose, str] | None:
    for prose in unit.texts:
        if prose.key not in _WORK:
            continue
        for found in _EFFECT.finditer(prose.text):
            sentence = re.split(r"[.\n]", prose.text[found.start(1) :], maxsplit=1)[0]
            before = prose.text[max(0, found.start(1) - 40) : found.start(1)]
            if not _HELD_BACK.search(sentence) and not _HELD_BACK.search(before):
                return prose, found[1]
    return None


def _always_asks(unit: Unit) -> bool:
    wanted = unit.node.get("requireConfirmation")
    if wanted is True:
        return True
    gate = record(unit.node, "requireConfirmation")
    return "kind" in gate and not gate.get("condition")


RULES: Final[tuple[Rule, ...]] = (
    parallel_without_synthesis,
    delegation_unknown,
    delegation_to_self,
    delegation_without_input,
    confirmation_after_effect,
    confirmation_without_effect,
    confirmation_everywhere,
    clarification_heavy,
)
