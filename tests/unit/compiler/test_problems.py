"""Each shape that is refused, with its code and the path its diagnostic points to."""

import pytest

from headway.domain.compiler.codes import CODES
from headway.domain.compiler.reading import read_document
from headway.domain.values import Json
from tests.unit.compiler.making import (
    LOOP_CONTROL,
    compiled,
    loop,
    parallel,
    problems,
    source,
    step,
)

ASSESSMENT: Json = {
    "id": "quality",
    "purpose": "Is it good?",
    "dimensions": [{"id": "depth", "purpose": "How deep?", "levels": ["low", "high"]}],
}
FUNCTION: Json = {
    "name": "greet",
    "definition": "Greet.",
    "parameters": [
        {"name": "who", "type": "string", "required": True, "enum": ["you", "me"]},
        {"name": "times", "type": "number"},
    ],
}


def consequence(level: str, named: str | None = None) -> Json:
    when = {"anyEqualsLevel": level} | ({"forAssessment": named} if named else {})
    return {"when": when, "effect": {"kind": "require_followup", "guidance": "Again."}}


def rules(*given: Json) -> dict[str, Json]:
    return step(validationCriteria=list(given))


def contract(**more: Json) -> Json:
    return {"id": "acme.report", "kind": "acme.report", "schema": {"type": "object"}, **more}


def while_loop(body: Json, **more: Json) -> dict[str, Json]:
    return loop("again", body, loop={"type": "while", "maxIterations": 3, **more})


def without(tree: dict[str, Json], key: str) -> dict[str, Json]:
    return {name: value for name, value in tree.items() if name != key}


SHAPES: list[tuple[dict[str, Json], str, str]] = [
    # the fourteen kinds of broken file
    (source(step(assessmentRefs=["nope"])), "UNKNOWN_ASSESSMENT", "steps[0].assessmentRefs[0]"),
    (source(step(prompt="Use {{wr.bindings.nope}}")), "UNKNOWN_BINDING_SLOT", "steps[0].prompt"),
    (
        source(step(outputContract={"contractRef": "wr.contracts.nope"})),
        "UNKNOWN_CONTRACT",
        "steps[0].outputContract.contractRef",
    ),
    (source(step(), step()), "DUPLICATE_STEP_ID", "steps[1].id"),
    (source(), "TOO_FEW_ITEMS", "steps"),
    (source(step(bogus=1)), "UNKNOWN_KEY", "steps[0].bogus"),
    (source(step(), features=["wr.features.nope"]), "UNKNOWN_FEATURE", "features[0]"),
    (
        source(loop("again", [step()], loop={"type": "for", "count": 0, "maxIterations": 2})),
        "LOOP_COUNT_ZERO",
        "steps[0].loop.count",
    ),
    (
        source(step(promptFragments=[{"id": "f", "text": "{{wr.bindings.x}}"}])),
        "UNRESOLVED_TOKEN",
        "steps[0].promptFragments[0].text",
    ),
    (source(while_loop([step()])), "LOOP_NO_CONDITION", "steps[0].loop"),
    (without(source(step()), "version"), "MISSING_KEY", "version"),
    (
        source(step(promptBlocks={"goal": [{"kind": "ref", "refId": "wr.refs.nope"}]})),
        "UNKNOWN_REF",
        "steps[0].promptBlocks.goal[0].refId",
    ),
    (
        source(step(templateCall={"templateId": "wr.templates.nope"})),
        "UNKNOWN_TEMPLATE",
        "steps[0].templateCall.templateId",
    ),
    # shape
    (source(step(), id="ab"), "TOO_SHORT", "id"),
    (source(step(), id="Acme"), "BAD_FORMAT", "id"),
    (source(step(), id="a.b.c"), "BAD_FORMAT", "id"),
    (source(step(), id="acme.1st"), "BAD_FORMAT", "id"),
    (source(step(), version="1.0"), "BAD_FORMAT", "version"),
    (source(step(), version=1.0), "WRONG_TYPE", "version"),
    (source(step(), name="x" * 129), "TOO_LONG", "name"),
    (source(step(), examples=["Too short"]), "TOO_SHORT", "examples[0]"),
    (
        source(step(), examples=[f"{n} is an example" for n in range(7)]),
        "TOO_MANY_ITEMS",
        "examples",
    ),
    (source(step(), metaGuidance=["a", "a"]), "NOT_UNIQUE", "metaGuidance[1]"),
    (source(step(), modelTier="heave"), "UNKNOWN_VALUE", "modelTier"),
    (source(step(), validatedAgainstSpecVersion=0), "OUT_OF_RANGE", "validatedAgainstSpecVersion"),
    (source(step("a/b")), "BAD_FORMAT", "steps[0].id"),
    (source(step(agentRole="short")), "TOO_SHORT", "steps[0].agentRole"),
    (source(step(requireConfirmation="yes")), "WRONG_TYPE", "steps[0].requireConfirmation"),
    (
        source(step(requireConfirmation={"kind": "boss"})),
        "UNKNOWN_VALUE",
        "steps[0].requireConfirmation.kind",
    ),
    (source(step(type="lop")), "UNKNOWN_STEP_TYPE", "steps[0].type"),
    (source(step(synthesis={"prompt": "x"})), "MISPLACED_KEY", "steps[0].synthesis"),
    (source(parallel("p", audit={})), "MISPLACED_KEY", "steps[0].audit"),
    (source(loop("l", [step()], prompt="x")), "MISPLACED_KEY", "steps[0].prompt"),
    (source(parallel("p", synthesis={})), "SYNTHESIS_EMPTY", "steps[0].synthesis"),
    (source("step"), "WRONG_TYPE", "steps[0]"),
    (source(step(notesOptional="yes")), "WRONG_TYPE", "steps[0].notesOptional"),
    (source(step(), validatedAgainstSpecVersion="3"), "WRONG_TYPE", "validatedAgainstSpecVersion"),
    (
        source(step(), validatedAgainstSpecVersion=1.5),
        "OUT_OF_RANGE",
        "validatedAgainstSpecVersion",
    ),
    (source(step(), metaGuidance="one"), "WRONG_TYPE", "metaGuidance"),
    (source(step(prompt=None)), "WRONG_TYPE", "steps[0].prompt"),
    (source(step(promptBlocks=[])), "WRONG_TYPE", "steps[0].promptBlocks"),
    (source(loop("l", 3)), "WRONG_TYPE", "steps[0].body"),
    (
        source(step(templateCall={"templateId": 3})),
        "WRONG_TYPE",
        "steps[0].templateCall.templateId",
    ),
    (
        source(
            step(),
            functionDefinitions=[
                {
                    "name": "f",
                    "definition": "F",
                    "parameters": [{"name": "p", "type": "number", "enum": [None]}],
                }
            ],
        ),
        "WRONG_TYPE",
        "functionDefinitions[0].parameters[0].enum[0]",
    ),
    (
        source(step(promptBlocks={"goal": [{"text": "x"}]})),
        "MISSING_KEY",
        "steps[0].promptBlocks.goal[0].kind",
    ),
    (
        source(step(promptBlocks={"goal": "g", "verify": [3]})),
        "WRONG_TYPE",
        "steps[0].promptBlocks.verify[0]",
    ),
    (source(step(promptBlocks={"goal": [3]})), "WRONG_TYPE", "steps[0].promptBlocks.goal[0]"),
    (source({"title": "A", "prompt": "P"}), "MISSING_KEY", "steps[0].id"),
    (source(step(modelTier="x" * 200)), "UNKNOWN_VALUE", "steps[0].modelTier"),
    # prompts
    (source({"id": "a", "title": "A"}), "NO_PROMPT", "steps[0]"),
    (
        source(step(prompt="x", promptBlocks={"goal": "y"})),
        "PROMPT_AND_BLOCKS_BOTH_SET",
        "steps[0].promptBlocks",
    ),
    (
        source(step(promptBlocks={"goal": "", "verify": []})),
        "EMPTY_BLOCKS",
        "steps[0].promptBlocks",
    ),
    (
        source(step(promptBlocks={"goal": [{"kind": "txt"}]})),
        "UNKNOWN_VALUE",
        "steps[0].promptBlocks.goal[0].kind",
    ),
    (source(step(prompt="{{wr.other}}")), "UNRESOLVED_TOKEN", "steps[0].prompt"),
    (source(step(title="{{wr.x}}")), "UNRESOLVED_TOKEN", "steps[0].title"),
    (
        source(step(verification={"prompt": "{{wr.x}}"})),
        "UNRESOLVED_TOKEN",
        "steps[0].verification.prompt",
    ),
    (
        source(loop("l", [step(promptFragments=[{"id": "f", "text": "{{wr.x}}"}])])),
        "UNRESOLVED_TOKEN",
        "steps[0].body[0].promptFragments[0].text",
    ),
    (
        source(step(promptFragments=[{"id": "f", "text": "a"}, {"id": "f", "text": "b"}])),
        "DUPLICATE_ID",
        "steps[0].promptFragments[1].id",
    ),
    # conditions
    (source(step(runCondition={"vra": "x"})), "UNKNOWN_KEY", "steps[0].runCondition.vra"),
    (source(step(runCondition={"equals": 1})), "CONDITION_SHAPE", "steps[0].runCondition"),
    (source(step(runCondition={"and": [3]})), "CONDITION_SHAPE", "steps[0].runCondition.and[0]"),
    (source(step(runCondition={"or": {}})), "WRONG_TYPE", "steps[0].runCondition.or"),
    (source(step(runCondition={"not": {"var": ""}})), "TOO_SHORT", "steps[0].runCondition.not.var"),
    (source(step(runCondition={"var": "x", "gt": "3"})), "WRONG_TYPE", "steps[0].runCondition.gt"),
    (
        source(step(runCondition={"var": "x", "matches": "(?=a)"})),
        "REGEX_INVALID",
        "steps[0].runCondition.matches",
    ),
    # criteria
    (
        source(rules({"type": "contains", "message": "m"})),
        "RULE_INCOMPLETE",
        "steps[0].validationCriteria[0]",
    ),
    (
        source(rules({"type": "regex", "message": "m", "pattern": "("})),
        "REGEX_INVALID",
        "steps[0].validationCriteria[0].pattern",
    ),
    (
        source(rules({"type": "regex", "message": "m", "pattern": "a", "flags": "q"})),
        "REGEX_INVALID",
        "steps[0].validationCriteria[0].pattern",
    ),
    (
        source(rules({"type": "length", "message": "m", "min": 3, "max": 2})),
        "RULE_RANGE",
        "steps[0].validationCriteria[0].min",
    ),
    (
        source(rules({"type": "schema", "message": "m", "schema": {"type": "strin"}})),
        "SCHEMA_INVALID",
        "steps[0].validationCriteria[0].schema",
    ),
    (
        source(rules({"type": "contain", "message": "m"})),
        "UNKNOWN_VALUE",
        "steps[0].validationCriteria[0].type",
    ),
    (
        source(rules({"type": "schema", "message": "m", "schema": 3})),
        "WRONG_TYPE",
        "steps[0].validationCriteria[0].schema",
    ),
    (source(rules("x")), "CRITERIA_SHAPE", "steps[0].validationCriteria[0]"),
    (
        source(step(validationCriteria={"and": []})),
        "CRITERIA_SHAPE",
        "steps[0].validationCriteria.and",
    ),
    (
        source(
            step(
                validationCriteria={
                    "and": [{"type": "contains", "value": "a", "message": "m"}],
                    "ro": 1,
                }
            )
        ),
        "CRITERIA_SHAPE",
        "steps[0].validationCriteria.ro",
    ),
    # loops
    (source(loop("l", "nope")), "LOOP_BODY_UNKNOWN", "steps[0].body"),
    (source(loop("l", [])), "TOO_FEW_ITEMS", "steps[0].body"),
    (source(step(), loop("l", "l")), "LOOP_CYCLE", "steps[1].body"),
    (source(loop("l", "one"), loop("m", "one"), step()), "LOOP_BODY_SHARED", "steps[1].body"),
    (
        source(loop("l", [step()], loop={"type": "for", "maxIterations": 2})),
        "LOOP_NO_COUNT",
        "steps[0].loop",
    ),
    (
        source(loop("l", [step()], loop={"type": "forEach", "maxIterations": 2})),
        "LOOP_NO_ITEMS",
        "steps[0].loop",
    ),
    (
        source(loop("l", [step()], loop={"type": "for", "count": 1})),
        "MISSING_KEY",
        "steps[0].loop.maxIterations",
    ),
    (
        source(while_loop([step()], condition={"var": "x"}, maxIterations=1001)),
        "OUT_OF_RANGE",
        "steps[0].loop.maxIterations",
    ),
    (
        source(
            while_loop(
                [step(outputContract=LOOP_CONTROL)],
                conditionSource={
                    "kind": "artifact_contract",
                    "contractRef": "wr.contracts.assessment",
                },
            )
        ),
        "LOOP_CONTRACT",
        "steps[0].loop.conditionSource.contractRef",
    ),
    # contracts
    (
        source(step(), contracts=[contract(id="wr.contracts.mine")]),
        "CONTRACT_ID_RESERVED",
        "contracts[0].id",
    ),
    (
        source(step(), contracts=[contract(kind="wr.assessment")]),
        "CONTRACT_KIND_BUILT_IN",
        "contracts[0].kind",
    ),
    (
        source(step(), contracts=[contract(), contract(id="acme.b")]),
        "CONTRACT_KIND_TAKEN",
        "contracts[1].kind",
    ),
    (
        source(step(), contracts=[contract(), contract(kind="acme.b")]),
        "DUPLICATE_ID",
        "contracts[1].id",
    ),
    (
        source(step(), contracts=[contract(schema={"required": "a"})]),
        "SCHEMA_INVALID",
        "contracts[0].schema",
    ),
    (
        source(step(), contracts=[contract(schema={"$ref": "https://x.example/y"})]),
        "SCHEMA_INVALID",
        "contracts[0].schema",
    ),
    # assessments
    (
        source(step(assessmentConsequences=[consequence("low")])),
        "CONSEQUENCE_WITHOUT_ASSESSMENT",
        "steps[0].assessmentConsequences",
    ),
    (
        source(
            step(assessmentRefs=["quality"], assessmentConsequences=[consequence("low", "other")]),
            assessments=[ASSESSMENT],
        ),
        "CONSEQUENCE_WITHOUT_ASSESSMENT",
        "steps[0].assessmentConsequences[0].when.forAssessment",
    ),
    (
        source(
            loop(
                "l", [step(assessmentRefs=["quality"], assessmentConsequences=[consequence("lo")])]
            ),
            assessments=[ASSESSMENT],
        ),
        "UNKNOWN_LEVEL",
        "steps[0].body[0].assessmentConsequences[0].when.anyEqualsLevel",
    ),
    (
        source(
            step(
                assessmentRefs=["quality"],
                assessmentConsequences=[consequence("low"), consequence("low")],
            ),
            assessments=[ASSESSMENT],
        ),
        "DUPLICATE_CONSEQUENCE",
        "steps[0].assessmentConsequences[1].when",
    ),
    # functions
    (
        source(step(functionCalls=[{"name": "grete", "args": {}}]), functionDefinitions=[FUNCTION]),
        "UNKNOWN_FUNCTION",
        "steps[0].functionCalls[0].name",
    ),
    (
        source(step(functionCalls=[{"name": "greet", "args": {}}]), functionDefinitions=[FUNCTION]),
        "FUNCTION_ARG_MISSING",
        "steps[0].functionCalls[0].args",
    ),
    (
        source(
            step(functionCalls=[{"name": "greet", "args": {"who": 3}}]),
            functionDefinitions=[FUNCTION],
        ),
        "FUNCTION_ARG_TYPE",
        "steps[0].functionCalls[0].args.who",
    ),
    (
        source(
            step(functionCalls=[{"name": "greet", "args": {"who": "me", "times": True}}]),
            functionDefinitions=[FUNCTION],
        ),
        "FUNCTION_ARG_TYPE",
        "steps[0].functionCalls[0].args.times",
    ),
    (
        source(
            step(functionCalls=[{"name": "greet", "args": {"who": "us"}}]),
            functionDefinitions=[FUNCTION],
        ),
        "FUNCTION_ARG_VALUE",
        "steps[0].functionCalls[0].args.who",
    ),
]


@pytest.mark.parametrize(("tree", "code", "path"), SHAPES, ids=[f"{s[1]}-{s[2]}" for s in SHAPES])
def test_a_refused_shape_is_told_once_with_place_reason_and_remedy(
    tree: dict[str, Json], code: str, path: str
) -> None:
    compilation = compiled(tree)
    assert compilation.workflow is None
    assert (compilation.data, compilation.hash) == (b"", "")
    assert [(each.code, each.path) for each in compilation.diagnostics] == [(code, path)]
    (found,) = compilation.diagnostics
    assert (found.severity, found.file) == ("error", "sample.json")
    assert found.line >= 1
    assert found.column >= 1
    assert all((found.what, found.why, found.remedy))


WARNINGS: list[tuple[dict[str, Json], str, str]] = [
    (source(step(runCondition={"and": [{}]})), "CONDITION_EMPTY", "steps[0].runCondition.and[0]"),
    (
        source(step(runCondition={"var": "x", "gt": 1, "equals": 2})),
        "CONDITION_OPERATORS",
        "steps[0].runCondition.gt",
    ),
    (
        source(step(runCondition={"not": {"var": "x"}, "or": []})),
        "CONDITION_OPERATORS",
        "steps[0].runCondition.not",
    ),
    (
        source(step(functionReferences=["nope()"])),
        "UNKNOWN_FUNCTION_REFERENCE",
        "steps[0].functionReferences[0]",
    ),
    (
        source(
            step(functionCalls=[{"name": "greet", "args": {"who": "me", "x": 1}}]),
            functionDefinitions=[FUNCTION],
        ),
        "FUNCTION_ARG_UNKNOWN",
        "steps[0].functionCalls[0].args.x",
    ),
    (
        source(loop("l", [step()], requireConfirmation=True)),
        "FIELD_WITHOUT_EFFECT",
        "steps[0].requireConfirmation",
    ),
    (
        source(while_loop([step()], condition={"var": "x"}, count=2)),
        "FIELD_WITHOUT_EFFECT",
        "steps[0].loop.count",
    ),
    (
        source(
            while_loop(
                [step()],
                conditionSource={
                    "kind": "artifact_contract",
                    "contractRef": "wr.contracts.loop_control",
                },
            )
        ),
        "LOOP_NO_DECISION",
        "steps[0].loop.conditionSource",
    ),
]


@pytest.mark.parametrize(("tree", "code", "path"), WARNINGS, ids=[w[1] for w in WARNINGS])
def test_a_warning_accompanies_a_workflow_that_runs(
    tree: dict[str, Json], code: str, path: str
) -> None:
    compilation = compiled(tree)
    assert compilation.workflow is not None
    assert [(each.code, each.severity) for each in compilation.diagnostics] == [(code, "warning")]
    assert compilation.diagnostics[0].path == path


def test_problems_of_every_layer_are_told_in_one_run_in_the_order_of_the_file() -> None:
    tree = source(
        step(promt="x"),
        step("two", runCondition={"var": "x", "gt": "3"}, outputContract={"contractRef": "no"}),
        loop("l", [step("two")], loop={"type": "while", "maxIterations": 0}),
        features=["wr.features.x"],
    )
    assert [code for code, _ in problems(tree)] == [
        "UNKNOWN_KEY",
        "WRONG_TYPE",
        "UNKNOWN_CONTRACT",
        "LOOP_NO_CONDITION",
        "OUT_OF_RANGE",
        "DUPLICATE_STEP_ID",
        "UNKNOWN_FEATURE",
    ]


def test_a_misspelt_name_comes_with_a_suggestion() -> None:
    tree = source(
        step(agentrole="You are a tester."),
        step("two", outputContract={"contractRef": "wr.contracts.loop_controll"}),
        modelTier="lightwieght",
    )
    assert [each.remedy for each in compiled(tree).diagnostics] == [
        'Did you mean "agentRole"?',
        'Did you mean "wr.contracts.loop_control"?',
        'Did you mean "lightweight"?',
    ]


def test_a_name_unlike_all_others_comes_with_the_choice_instead() -> None:
    found = compiled(source(step(), features=["wr.features.nope"])).diagnostics
    assert found[0].remedy.startswith("Choose one of wr.features.memory_context")


def test_a_diagnostic_points_at_the_line_and_column_of_what_is_wrong() -> None:
    (found,) = compiled(source(step(bogus=1))).diagnostics
    assert (found.line, found.column) == (11, 4)  # the key
    (found,) = compiled(source(step(agentRole="short"))).diagnostics
    assert (found.line, found.column) == (11, 17)  # the value


def test_a_file_full_of_problems_lists_a_hundred_and_says_so() -> None:
    tree = source(*(step(f"s{n}", **{f"x{m}": 1 for m in range(20)}) for n in range(50)))
    found = compiled(tree).diagnostics
    assert len(found) == 101
    assert found[-1].code == "TOO_MANY_PROBLEMS"


def test_every_code_has_a_reason_in_words() -> None:
    assert all(rule.why.endswith(".") for rule in CODES.values())


@pytest.mark.parametrize(
    ("node", "keys"),
    [
        ({"id": "a", "titel": "A", "promt": "P"}, ["titel", "promt"]),
        ({"id": "a", "title": "A", "promptblocks": "P"}, ["promptblocks"]),
    ],
)
def test_a_misspelt_key_is_one_problem_not_a_missing_key_besides(
    node: dict[str, Json], keys: list[str]
) -> None:
    found = compiled(source(node)).diagnostics
    assert {(each.code, each.path) for each in found} == {
        ("UNKNOWN_KEY", f"steps[0].{key}") for key in keys
    }


def test_a_number_for_a_text_of_a_form_is_not_told_to_go_into_quotes_that_do_not_help() -> None:
    (found,) = compiled({**source(step()), "version": 1.0}).diagnostics
    assert (found.code, found.remedy) == ("WRONG_TYPE", "Write a semantic version such as 1.0.0.")
    assert found.mend is None


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        ("id: a\nname: Task: do it\n", (2, 11), "a colon and a space stand inside a text"),
        ("id: a\n\tname: b\n", (2, 1), "a tab"),
        ("id: a\nname: @b\n", (2, 7), "keeps for itself"),
        ('id: a\nname: "b" c\n', (2, 11), "no key of the object"),
        ("id: a\nname\nversion: 1\n", (3, 1), "neither a colon nor a dash"),
    ],
)
def test_what_is_no_yaml_is_told_in_an_authors_words(
    text: str, where: tuple[int, int], why: str
) -> None:
    found = read_document(text.encode(), "a.yaml")
    assert isinstance(found, tuple)
    assert (found[0].line, found[0].column) == where
    assert why in found[0].what
