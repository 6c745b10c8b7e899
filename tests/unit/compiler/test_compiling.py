import json
from collections.abc import Mapping

import msgspec
import pytest

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.declarations import BUILT_IN_CONTRACTS
from headway.domain.compiler.library import FEATURES, REFS
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.ids import digest
from headway.domain.values import Json
from headway.domain.workflow import (
    AllOf,
    Always,
    AnyOf,
    Binding,
    Check,
    Compare,
    Condition,
    Confirmation,
    Criteria,
    EveryRule,
    Function,
    Malformed,
    Negation,
    NoRule,
    OutputContract,
    Reference,
    Rule,
    SomeRule,
    Workflow,
)
from tests.unit.compiler.making import (
    as_loop,
    as_step,
    compiled,
    loop,
    only_step,
    parallel,
    problems,
    read,
    source,
    step,
    text_of,
    workflow,
)

RICH = source(
    step("plan", requireConfirmation=True, guidance=["Think."], notesOptional=True),
    parallel("fan", requireConfirmation=True, synthesis={"prompt": "Merge."}),
    loop(
        "again", [step("work", validationCriteria=[{"type": "length", "min": 1.0, "message": "m"}])]
    ),
    tags=["coding"],
    recommendedPreferences={"recommendedAutonomy": "guided"},
    metricsProfile="coding",
)


def test_a_workflow_is_what_its_bytes_decode_to() -> None:
    found = compiled(RICH)
    assert msgspec.json.decode(found.data, type=Workflow) == found.workflow
    assert str(found.hash) == digest(found.data)
    assert found.diagnostics == ()


def reordered(tree: Json) -> Json:
    if isinstance(tree, Mapping):
        return {key: reordered(tree[key]) for key in sorted(tree, reverse=True)}
    if isinstance(tree, list):
        return [reordered(each) for each in tree]
    return tree


def test_the_hash_depends_neither_on_key_order_nor_layout_nor_file_name() -> None:
    plain = compiled(RICH)
    other = read_document(json.dumps(reordered(RICH)).encode(), "elsewhere/other.json")
    assert isinstance(other, Document)
    assert compile_workflow(other, Sources()).hash == plain.hash


def test_yaml_and_json_of_the_same_content_have_the_same_hash() -> None:
    # JSON is YAML, so the same text may be read as either.
    other = read_document(text_of(RICH), "sample.yaml")
    assert isinstance(other, Document)
    assert compile_workflow(other, Sources()).hash == compiled(RICH).hash


def test_every_part_of_the_content_enters_the_hash() -> None:
    changed = source(step(), about="Something else.")
    assert compiled(source(step())).hash != compiled(changed).hash


def test_workflow_level_fields_are_kept() -> None:
    found = workflow(
        source(
            step(),
            about="About.",
            examples=["An example of ten"],
            preconditions=["p"],
            clarificationPrompts=["c"],
            metaGuidance=["g"],
            validatedAgainstSpecVersion=3,
            modelTier="mid",
            id="a.b",
            references=[
                {"id": "doc", "title": "T", "source": "d.md", "purpose": "P", "authoritative": True}
            ],
        )
    )
    assert (found.id, found.about, found.examples) == ("a.b", "About.", ("An example of ten",))
    assert (found.preconditions, found.clarification_prompts) == (("p",), ("c",))
    assert (found.meta_guidance, found.validated_against) == (("g",), 3)
    assert found.model_tier == "mid"
    assert found.references == (
        Reference(id="doc", title="T", source="d.md", purpose="P", authoritative=True),
    )


X = Compare(var="x", operator="truthy")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({}, Always()),
        ({"var": "x"}, X),
        ({"var": "x", "equals": None}, Compare(var="x", operator="equals")),
        ({"var": "x", "not_equals": [1]}, Compare(var="x", operator="not_equals", value=[1])),
        ({"var": "x", "lte": 2}, Compare(var="x", operator="lte", value=2)),
        ({"var": "x", "in": [1, "a"]}, Compare(var="x", operator="in", value=[1, "a"])),
        ({"var": "x", "startsWith": "a"}, Compare(var="x", operator="startsWith", value="a")),
        ({"var": "x", "matches": "^a$"}, Compare(var="x", operator="matches", value="^a$")),
        ({"and": []}, AllOf(terms=())),
        ({"or": [{"var": "x"}, {"not": {}}]}, AnyOf(terms=(X, Negation(term=Malformed())))),
        ({"var": "x", "in": [1], "equals": 1}, Compare(var="x", operator="equals", value=1)),
    ],
)
def test_conditions_are_read_as_the_engine_evaluates_them(written: Json, meant: Condition) -> None:
    assert only_step(workflow(source(step(runCondition=written)))).run_condition == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (True, Confirmation(kind="coordinator_eval")),
        (False, None),
        ({"var": "x"}, Confirmation(kind="coordinator_eval", when=X)),
        ({}, Confirmation(kind="coordinator_eval")),
        ({"kind": "human_approval"}, Confirmation(kind="human_approval")),
        (
            {"kind": "human_approval", "condition": {"var": "x"}},
            Confirmation(kind="human_approval", when=X),
        ),
    ],
)
def test_confirmation_has_every_form(written: Json, meant: Confirmation | None) -> None:
    assert only_step(workflow(source(step(requireConfirmation=written)))).confirmation == meant


CONTAINS: Json = {"type": "contains", "value": "a", "message": "m"}
HAS = Rule(type="contains", value="a", message="m")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (CONTAINS, HAS),
        ([CONTAINS], EveryRule(parts=(HAS,), listed=True)),
        ([], None),
        ({"and": [CONTAINS]}, EveryRule(parts=(HAS,))),
        ({"or": [{"not": CONTAINS}]}, SomeRule(parts=(NoRule(part=HAS),))),
        (
            {"type": "regex", "pattern": "(?<y>\\d+)", "flags": "img", "message": "m", "min": 3},
            Rule(type="regex", pattern="(?<y>\\d+)", flags="img", message="m"),
        ),
        (
            {"type": "length", "max": 9, "message": "m", "condition": {"var": "x"}},
            Rule(type="length", max=9, message="m", condition=X),
        ),
    ],
)
def test_criteria_have_every_form_and_keep_only_the_fields_of_their_type(
    written: Json, meant: Criteria | None
) -> None:
    assert only_step(workflow(source(step(validationCriteria=written)))).criteria == meant


def test_prompt_blocks_render_in_their_fixed_order_with_refs_and_features() -> None:
    blocks: Json = {
        "verify": ["v"],
        "outputRequired": {"b": "second", "a": "first"},
        "procedure": ["p1", "p2"],
        "constraints": [
            "c",
            [{"kind": "text", "text": "see "}, {"kind": "ref", "refId": "wr.refs.memory_query"}],
        ],
        "goal": "g {{place}}",
    }
    tree = source(step(promptBlocks=blocks), features=["wr.features.memory_context"])
    assert only_step(workflow(tree)).prompt == (
        "## Goal\ng {{place}}\n\n"
        f"## Constraints\n- c\n- see {REFS['wr.refs.memory_query']}\n"
        f"- {REFS['wr.refs.memory_usage']}\n\n"
        "## Procedure\n1. p1\n2. p2\n\n"
        "## Required output\n- **b**: second\n- **a**: first\n\n"
        "## Verify\n- v"
    )


def test_features_leave_raw_prompts_alone() -> None:
    tree = source(step(prompt="Raw."), features=list(FEATURES))
    assert only_step(workflow(tree)).prompt == "Raw."


def test_bindings_take_the_override_else_the_default() -> None:
    slots = [
        {"slotId": "one", "purpose": "p", "default": "wr.routine-a"},
        {"slotId": "two", "purpose": "p", "default": "wr.routine-b"},
    ]
    blocks = {"goal": "Use {{wr.bindings.one}} and {{wr.bindings.two}}."}
    tree = source(step(promptBlocks=blocks), extensionPoints=slots)
    found = workflow(tree, None, two="acme.mine", three="unused")
    assert "Use wr.routine-a and acme.mine." in only_step(found).prompt
    assert found.bindings == (
        Binding(slot="one", value="wr.routine-a", default="wr.routine-a"),
        Binding(slot="two", value="acme.mine", default="wr.routine-b"),
    )


def test_generated_steps_follow_their_parent() -> None:
    tree = source(
        step(
            runCondition={"var": "x"},
            verification={"command": "make test"},
            audit={"rubric": ["Is it whole?"]},
        ),
        parallel("fan", synthesis={"outputContract": {"contractRef": BUILT_IN_CONTRACTS[1]}}),
        loop("again", [step("inner", verification={})]),
    )
    found = workflow(tree)
    parts = [as_step(each) for each in found.steps[:5]]
    assert [(each.id, each.kind) for each in parts] == [
        ("one", "standard"),
        ("one__verification", "verification"),
        ("one__audit", "audit"),
        ("fan", "parallel"),
        ("fan__synthesis", "synthesis"),
    ]
    assert "make test" in parts[1].prompt
    assert "- Is it whole?" in parts[2].prompt
    assert parts[4].output_contract == OutputContract(ref="wr.contracts.assessment")
    assert [each.run_condition for each in parts] == [X, X, X, None, None]
    assert [each.notes_optional for each in parts] == [False, True, True, False, True]
    assert [each.id for each in as_loop(found.steps[5]).body] == ["inner", "inner__verification"]


def test_a_generated_id_can_collide_with_an_authored_one() -> None:
    found = compiled(source(step(audit={}), step("one__audit"))).diagnostics
    assert [each.code for each in found] == ["DUPLICATE_STEP_ID"]


def test_a_parallel_step_never_asks_for_confirmation() -> None:
    found = as_step(workflow(source(parallel("fan", requireConfirmation=True))).steps[0])
    assert (found.kind, found.confirmation) == ("parallel", None)
    assert found.delegations[0].workflow_id == "acme.review"


def test_checks_are_declared_on_steps() -> None:
    checks: Json = [
        {"id": "tests", "run": "make test", "protect": ["tests/"]},
        {"id": "lint", "run": "x", "timeoutSeconds": 9},
    ]
    assert only_step(workflow(source(step(checks=checks)))).checks == (
        Check(id="tests", run="make test", timeout_seconds=300, protect=("tests/",)),
        Check(id="lint", run="x", timeout_seconds=9),
    )


def test_a_step_may_ask_for_a_contract_of_the_workflow_itself() -> None:
    schema: Json = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    own: Json = {
        "id": "acme.report",
        "kind": "acme.report",
        "schema": schema,
        "guidance": "Say it.",
    }
    wanted: Json = {"contractRef": "acme.report", "required": False}
    found = workflow(source(step(outputContract=wanted), contracts=[own]))
    assert only_step(found).output_contract == OutputContract(ref="acme.report", required=False)
    assert (found.contracts[0].kind, found.contracts[0].guidance) == ("acme.report", "Say it.")


def test_all_built_in_contracts_can_be_named() -> None:
    assert len(BUILT_IN_CONTRACTS) == 9
    steps = [
        step(f"s{n}", outputContract={"contractRef": ref})
        for n, ref in enumerate(BUILT_IN_CONTRACTS)
    ]
    assert len(workflow(source(*steps)).steps) == 9


def test_functions_are_kept_where_they_were_defined_and_referred_to_by_bare_name() -> None:
    def defined(name: str) -> list[Json]:
        return [{"name": name, "definition": name.upper()}]

    inner = step(
        functionReferences=["a()", "b()", "c()", "a()"],
        functionCalls=[{"name": "b", "args": {}}],
        functionDefinitions=defined("c"),
    )
    tree = source(
        loop("again", [inner], functionDefinitions=defined("b")), functionDefinitions=defined("a")
    )
    found = workflow(tree)
    around = as_loop(found.steps[0])
    work = as_step(around.body[0])
    assert work.function_references == ("a", "b", "c")
    assert found.functions == (Function(name="a", definition="A", scope="workflow"),)
    assert around.functions == (Function(name="b", definition="B", scope="loop"),)
    assert work.functions == (Function(name="c", definition="C", scope="step"),)


def test_optional_hints_of_older_files_are_accepted() -> None:
    assert problems(source(step("a_b-c", askForFiles=True, hasValidation=True))) == []


def test_a_workflow_that_compiles_to_too_many_steps_is_refused() -> None:
    tiny: list[Json] = [
        {"id": f"s{n}", "title": "T", "prompt": "P", "audit": {}} for n in range(5001)
    ]
    document = read_document(json.dumps(source(*tiny)).encode(), "a.json")
    assert isinstance(document, Document)
    found = compile_workflow(document, Sources()).diagnostics
    assert [each.code for each in found] == ["TOO_MANY_STEPS"]


def test_reading_a_document_does_not_change_it() -> None:
    document = read(RICH)
    first = compile_workflow(document, Sources())
    assert compile_workflow(document, Sources()).data == first.data
    assert document.root == RICH
