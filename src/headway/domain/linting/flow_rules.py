"""Rules about the flow of data: what is read, who sets it and when, what can ever be reached."""

from collections.abc import Iterator
from typing import Final

from headway.domain.compiler.nodes import record, text
from headway.domain.compiler.reporting import did_you_mean, shown
from headway.domain.diagnostics import Path
from headway.domain.linting.reads import NAMES, Test, reads_of, tests_of
from headway.domain.linting.rules import Finding, Rule, rule
from headway.domain.linting.subject import BUILT_IN_VARIABLES, Subject, Unit
from headway.domain.linting.texts import is_named
from headway.domain.linting.truth import Verdict, verdict
from headway.domain.values import Json


@rule(
    "VARIABLE_NEVER_SET", "warning", "Every variable that is read is named in a text",
    why="An agent sets the context keys that some text tells it to set; any other stays unset.",
    remedy="Say in an earlier step what to set it to, or name it in preconditions if the caller "
    "gives it.",
)  # fmt: skip
def variable_never_set(subject: Subject) -> Iterator[Finding]:
    """Report variables that no text names, no loop sets and the engine does not know."""
    if subject.is_routine:  # its caller's texts name what it reads
        return
    told: set[str] = set()
    for unit, variable, path in _all_reads(subject):
        if variable in told or _is_given(variable, unit) or is_named(variable, subject.words):
            continue
        told.add(variable)
        near = did_you_mean(variable, sorted(_camel(subject.words)), "")
        yield Finding(path, f"Nothing says what sets {shown(variable)}.", near)


@rule(
    "VARIABLE_READ_BEFORE_SET", "warning", "A variable is set before it decides something",
    why="A condition is asked before the step is shown, so what its own or a later step sets comes "
    "too late: the condition cannot hold yet.",
    remedy="Have an earlier step set it, or move this step behind the one that does.",
)  # fmt: skip
def variable_read_before_set(subject: Subject) -> Iterator[Finding]:
    """Report conditions that cannot hold while what only later texts name is unset."""
    if subject.is_routine:
        return
    for test in tests_of(subject):
        late = frozenset(name for name, _ in test.variables() if _is_late(name, test, subject))
        if not late or text(record(test.unit.node, "loop"), "type") == "until":
            continue
        condition = test.condition()
        if _verdict(test, subject) == "open" and verdict(condition, late) == "never":
            name, path = next(each for each in test.variables() if each[0] in late)
            yield Finding(path, f"{shown(name)} is first named at this step or a later one.")


@rule(
    "VALUE_NEVER_NAMED", "info", "Every value a condition waits for is named in a text",
    why="An agent writes the values it is told of; a value that only the condition knows is met by "
    "luck.",
    remedy="List the values in the step that sets the variable, or mend the spelling.",
)  # fmt: skip
def value_never_named(subject: Subject) -> Iterator[Finding]:
    """Report texts compared with variables that are set here, but never to that."""
    if subject.is_routine:
        return
    told: set[tuple[str, str]] = set()
    for test in tests_of(subject):
        for name, value, path in _compared(test.value, test.path):
            if (name, value) in told or not is_named(name, subject.words):
                continue
            told.add((name, value))
            if not _is_value_named(value, subject):
                yield Finding(path, f"No text names {shown(value)} as a value of {shown(name)}.")


@rule(
    "STEP_UNREACHABLE", "warning", "Every step can be reached",
    why="A step whose condition cannot hold, whatever is set, is never shown to anybody.",
    remedy="Mend the condition, or remove the step.",
)  # fmt: skip
def step_unreachable(subject: Subject) -> Iterator[Finding]:
    """Report steps that no context selects, and loops that no context enters."""
    for test in tests_of(subject):
        found = _verdict(test, subject)
        kind = text(record(test.unit.node, "loop"), "type")
        if test.kind == "step" and found == "never":
            yield Finding(test.path, f"The step {shown(test.unit.id)} can never be reached.")
        elif test.kind == "loop" and found == ("always" if kind == "until" else "never"):
            yield Finding(test.path, f"The loop {shown(test.unit.id)} is never entered.")


@rule(
    "CONDITION_NEVER_TRUE", "warning", "Every condition can hold",
    why="What waits for a condition that cannot hold has no effect.",
    remedy="Mend the condition, or remove what it guards.",
)  # fmt: skip
def condition_never_true(subject: Subject) -> Iterator[Finding]:
    """Report fragments, delegations, confirmations and rules that never come to bear."""
    for test in tests_of(subject):
        if test.kind not in ("step", "loop") and _verdict(test, subject) == "never":
            yield Finding(test.path, f"This {NAMES[test.kind]} can never hold.")


@rule(
    "CONDITION_ALWAYS_TRUE", "warning", "Every condition can fail",
    why="A condition that always holds decides nothing, so something else was meant: lists equal "
    "nothing, not even themselves, and a variable never equals two values.",
    remedy="Mend the condition, or remove it.",
)  # fmt: skip
def condition_always_true(subject: Subject) -> Iterator[Finding]:
    """Report conditions that no context makes false; those of loops have a rule of their own."""
    for test in tests_of(subject):
        if test.kind != "loop" and _verdict(test, subject) == "always":
            yield Finding(test.path, f"This {NAMES[test.kind]} holds whatever is set.")


def _all_reads(subject: Subject) -> Iterator[tuple[Unit, str, Path]]:
    for test in tests_of(subject):
        for name, path in test.variables():
            yield test.unit, name, path
    for read in reads_of(subject):
        yield read.unit, read.variable, read.path


def _is_given(variable: str, unit: Unit) -> bool:
    return variable in BUILT_IN_VARIABLES or variable in set(unit.variables())


def _is_late(variable: str, test: Test, subject: Subject) -> bool:
    """Tell whether a variable is named somewhere, but not where it would be set in time."""
    unit = test.unit
    if _is_given(variable, unit) or is_named(variable, subject.common_words):
        return False
    if test.kind in ("confirmation", "rule") and is_named(variable, unit.words):
        return False
    naming = subject.naming(variable)
    return bool(naming) and not any(_is_in_time(each, unit) for each in naming)


def _is_in_time(setter: Unit, unit: Unit) -> bool:
    """Tell whether a unit is met before another, in this pass of a loop or in the one before."""
    if setter is unit:
        return False
    return setter.order < unit.order or bool(unit.loops and unit.loops[0] in setter.loops)


def _camel(words: frozenset[str]) -> Iterator[str]:
    """Yield the words that look like context keys: they begin small and have a hump or a _."""
    return (word for word in words if word[0].islower() and (word != word.lower() or "_" in word))


def _verdict(test: Test, subject: Subject) -> Verdict:
    """Return what can become of a condition; worked out once, asked by several rules."""
    known = subject.verdicts.get(test.path)
    if known is None:
        known = subject.verdicts[test.path] = verdict(test.condition())
    return known


_TEXT_OPERATORS: Final = ("equals", "not_equals")


def _compared(value: Json, path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield the texts variables are compared with."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _compared(each, (*path, index))
    elif isinstance(value, dict):
        for operator in _TEXT_OPERATORS:
            if isinstance(value.get(operator), str) and "var" in value:
                yield text(value, "var"), text(value, operator), (*path, operator)
        for joint in ("and", "or", "not"):
            if joint in value:
                yield from _compared(value[joint], (*path, joint))


def _is_value_named(value: str, subject: Subject) -> bool:
    folded = value.strip().casefold()
    if folded in ("", "true", "false", "yes", "no") or _is_number(folded):
        return True
    return folded in subject.folded


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).removeprefix("-").isdigit()


RULES: Final[tuple[Rule, ...]] = (
    variable_never_set,
    variable_read_before_set,
    value_never_named,
    step_unreachable,
    condition_never_true,
    condition_always_true,
)
