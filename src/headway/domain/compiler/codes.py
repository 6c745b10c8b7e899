"""Every code a diagnostic of a workflow file may carry, with its weight and the rule behind it.

Codes are stable: tools and people match on them. The table is the one source for the documentation.
"""

from typing import Final, NamedTuple

from headway.domain.diagnostics import Severity


class Rule(NamedTuple):
    """The rule a code stands for."""

    severity: Severity
    why: str


def _error(why: str) -> Rule:
    return Rule("error", why)


def _warning(why: str) -> Rule:
    return Rule("warning", why)


FILES: Final = {
    "FILE_UNREADABLE": _error("A workflow file is a regular file that this user may read."),
    "RESERVED_ID": _error(
        "Ids that begin with hw. belong to the workflows that come with Headway."
    ),
    "SHADOWED_BROKEN_FILE": _warning("Of several files with one id only one is used."),
    "ID_TAKEN": Rule("info", "Of several files with one id only one is used."),
    "BINDINGS_IGNORED": _warning("Bindings map workflow ids to objects of slot names and texts."),
}

READING: Final = {
    "FILE_TOO_LARGE": _error("A workflow file holds at most 1,000,000 bytes."),
    "NOT_UTF8": _error("Workflow files are UTF-8 text."),
    "NOT_JSON": _error("A file whose name ends in .json must be JSON throughout."),
    "NOT_YAML": _error("A file whose name ends in .yaml or .yml must be one YAML document."),
    "NOT_AN_OBJECT": _error("A workflow file is one object with id, name, description and so on."),
    "DUPLICATE_KEY": _error(
        "Each key stands once in an object; which one counts is never guessed."
    ),
    "TOO_DEEP": _error("Objects and lists nest at most 64 deep."),
    "LONE_SURROGATE": _error("Half of a surrogate pair is no character and cannot be stored."),
    "NUMBER_NOT_FINITE": _error("Numbers are finite; NaN and Infinity have no JSON form."),
    "NUMBER_TOO_LARGE": _error("Numbers beyond 9007199254740991 lose digits on the way."),
    "YAML_ALIAS": _error("Aliases may not contain themselves nor blow a file up."),
    "YAML_TAG": _error("Only the plain tags of YAML's core schema are read."),
    "YAML_KEY": _error("Keys are text."),
}

SHAPE: Final = {
    "UNKNOWN_KEY": _error("Only known keys are accepted, so that a misspelt one is not lost."),
    "MISPLACED_KEY": _error("The key belongs to another kind of step."),
    "MISSING_KEY": _error("The key is required here."),
    "WRONG_TYPE": _error("The value must have the type the language gives to this key."),
    "BAD_FORMAT": _error("The text must have the form the language gives to this key."),
    "UNKNOWN_VALUE": _error("The value must be one of a closed set."),
    "UNKNOWN_STEP_TYPE": _error("A step is standard (no type), a loop or parallel."),
    "TOO_SHORT": _error("The text is shorter than this key allows."),
    "TOO_LONG": _error("The text is longer than this key allows."),
    "OUT_OF_RANGE": _error("The number is outside the range of this key."),
    "TOO_FEW_ITEMS": _error("The list needs more items."),
    "TOO_MANY_ITEMS": _error("The list has more items than this key allows."),
    "NOT_UNIQUE": _error("Each item of this list stands once."),
    "DUPLICATE_ID": _error("Ids are unique among their siblings, because others refer to them."),
    "DUPLICATE_STEP_ID": _error(
        "Step and loop ids are unique in the whole workflow, generated steps included."
    ),
    "TOO_MANY_STEPS": _error("A workflow compiles to at most 10,000 steps and loops."),
    "COMPILED_TOO_LARGE": _error(
        "The texts of a compiled workflow hold at most 16,000,000 characters."
    ),
    "TOO_MANY_PROBLEMS": _error("Only the first hundred problems of a file are listed."),
}

PROMPTS: Final = {
    "NO_PROMPT": _error("A standard step has exactly one of prompt, promptBlocks, templateCall."),
    "PROMPT_AND_BLOCKS_BOTH_SET": _error(
        "A standard step has exactly one of prompt, promptBlocks, templateCall."
    ),
    "EMPTY_BLOCKS": _error("promptBlocks needs at least one section that is not empty."),
    "UNKNOWN_REF": _error("Refs are a closed set of texts that come with the engine."),
    "UNKNOWN_FEATURE": _error("Features are a closed set that comes with the engine."),
    "UNKNOWN_BINDING_SLOT": _error("A binding token names a slot declared in extensionPoints."),
    "UNRESOLVED_TOKEN": _error("No {{wr.…}} token may be left once a workflow is compiled."),
    "SYNTHESIS_EMPTY": _error("A synthesis needs a prompt, an outputContract or both."),
    "FIELD_WITHOUT_EFFECT": _warning("The language accepts the key here but it changes nothing."),
}

TEMPLATES: Final = {
    "UNKNOWN_TEMPLATE": _error("A templateCall names a routine that is in the catalogue."),
    "TEMPLATE_ARG_MISSING": _error("Every {name} in a routine's titles and prompts needs an arg."),
    "TEMPLATE_ARG_TYPE": _error("Args are put into text, so they are text, numbers or booleans."),
    "TEMPLATE_RECURSION": _error("A routine's steps may not call templates in turn."),
    "ROUTINE_BROKEN": _error("Only a routine without problems of its own can be called."),
    "FIELD_LOST_IN_TEMPLATE": _warning(
        "A templateCall is replaced by the routine's steps; of the calling step only its id and "
        "its runCondition live on."
    ),
}

CONDITIONS: Final = {
    "CONDITION_SHAPE": _error("A condition is a comparison with var, or one of and, or, not."),
    "CONDITION_EMPTY": _warning("An empty condition inside another makes the whole of it false."),
    "CONDITION_OPERATORS": _warning("Only one operator of a condition counts."),
    "RULE_INCOMPLETE": _error("A validation rule needs the fields that its type checks with."),
    "RULE_RANGE": _error("A length rule with min above max can never pass."),
    "CRITERIA_SHAPE": _error("Criteria are a rule, a list of rules, or one of and, or, not."),
    "REGEX_INVALID": _error(
        "Regular expressions run in linear time (RE2), which rules out look-around and "
        "back-references."
    ),
}

LOOPS: Final = {
    "LOOP_COUNT_ZERO": _error("A for loop with a literal count runs at least once."),
    "LOOP_NO_CONDITION": _error("A while or until loop needs to know when to end."),
    "LOOP_NO_COUNT": _error("A for loop needs a count."),
    "LOOP_NO_ITEMS": _error("A forEach loop needs the context key of its items."),
    "LOOP_CONTRACT": _error("Loops are steered by wr.contracts.loop_control artifacts alone."),
    "LOOP_BODY_UNKNOWN": _error("A body given as text is the id of a step beside the loop."),
    "LOOP_BODY_SHARED": _error("A step can be the body of one loop only."),
    "LOOP_CYCLE": _error("A loop cannot contain itself."),
    "LOOP_TOO_DEEP": _error("Loops nest at most 4 deep."),
    "LOOP_NO_DECISION": _warning(
        "A loop decision counts only from a step whose outputContract asks for it; without one "
        "the loop runs to maxIterations."
    ),
}

CONTRACTS: Final = {
    "UNKNOWN_CONTRACT": _error("A contractRef names a built-in contract or one declared here."),
    "CONTRACT_ID_RESERVED": _error("Ids below wr.contracts and hw.contracts are built in."),
    "CONTRACT_KIND_BUILT_IN": _error("The kinds of built-in contracts keep their meaning."),
    "CONTRACT_KIND_TAKEN": _error("An artifact's kind tells which contract it answers."),
    "SCHEMA_INVALID": _error(
        "A schema is JSON Schema (draft-07, or 2020-12 if its $schema says so) whose references "
        "stay inside it and whose patterns run in linear time."
    ),
}

ASSESSMENTS: Final = {
    "UNKNOWN_ASSESSMENT": _error("assessmentRefs name assessments declared by the workflow."),
    "CONSEQUENCE_WITHOUT_ASSESSMENT": _error("Consequences follow from assessments of the step."),
    "UNKNOWN_LEVEL": _error("A consequence waits for a level that one of its dimensions has."),
    "DUPLICATE_CONSEQUENCE": _error("Each level of an assessment has one consequence."),
}

FUNCTIONS: Final = {
    "UNKNOWN_FUNCTION": _error("A functionCall names a function visible to the step."),
    "UNKNOWN_FUNCTION_REFERENCE": _warning("A reference to no visible function tells nothing."),
    "FUNCTION_ARG_MISSING": _error("A call gives every required parameter."),
    "FUNCTION_ARG_TYPE": _error("An argument has the type its parameter declares."),
    "FUNCTION_ARG_VALUE": _error("An argument is one of the values its parameter allows."),
    "FUNCTION_ARG_UNKNOWN": _warning("Arguments no parameter declares are passed on unread."),
}

CODES: Final[dict[str, Rule]] = {
    **FILES,
    **READING,
    **SHAPE,
    **PROMPTS,
    **TEMPLATES,
    **CONDITIONS,
    **LOOPS,
    **CONTRACTS,
    **ASSESSMENTS,
    **FUNCTIONS,
}
