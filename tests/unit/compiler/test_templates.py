import pytest

from headway.domain.compiler.templates import routine_template_id
from headway.domain.values import Json
from headway.domain.workflow import Compare, Function
from tests.unit.compiler.making import (
    as_loop,
    as_step,
    compiled,
    loop,
    only_step,
    problems,
    source,
    step,
    workflow,
)

NAME = "wr.templates.routine.look"
X = Compare(var="x", operator="truthy")
Y = Compare(var="y", operator="truthy")


def routine(*steps: Json, **more: Json) -> dict[str, Json]:
    return source(*steps, **{"id": "wr.routine-look", **more})


def call(args: Json = None, **more: Json) -> dict[str, Json]:
    given: Json = {"templateId": NAME} | ({} if args is None else {"args": args})
    return step("ask", templateCall=given, **more)


@pytest.mark.parametrize(
    ("workflow_id", "template_id"),
    [
        ("wr.routine-a", "wr.templates.routine.a"),
        ("routine-a-b", "wr.templates.routine.a-b"),
        ("acme.routine-a", "acme.templates.routine.a"),
        ("hw.routine-a", "hw.templates.routine.a"),
        ("wr.a", None),
        ("wr.my-routine-a", None),
        ("routine-", None),
    ],
)
def test_a_routine_is_called_by_a_name_that_follows_from_its_id(
    workflow_id: str, template_id: str | None
) -> None:
    assert routine_template_id(workflow_id) == template_id


def test_a_call_is_replaced_by_the_steps_of_the_routine() -> None:
    look = routine(
        step(
            "find",
            title="Find {what}",
            prompt="Find {what} {n} {{kept}} {{{kept}}}",
            agentRole="A searcher.",
        ),
        step("tell", guidance=["Be brief."], runCondition={"var": "y"}),
        metaGuidance=["Stay calm."],
    )
    tree = source(call({"what": "it", "n": 2.0}, runCondition={"var": "x"}), step("end"))
    find, tell, end = (as_step(each) for each in workflow(tree, {NAME: look}).steps)
    assert (find.id, find.title) == ("ask.find", "Find it")
    assert find.prompt == "Find it 2 {{kept}} {{{kept}}}"
    assert (find.agent_role, find.guidance) == ("A searcher.", ("Stay calm.",))
    assert (tell.id, tell.guidance) == ("ask.tell", ("Be brief.", "Stay calm."))
    assert (find.run_condition, tell.run_condition) == (X, Y)
    assert (end.id, end.guidance) == ("end", ())


def test_prompt_blocks_of_a_routine_get_args_and_the_features_of_the_caller() -> None:
    look = routine(step("find", promptBlocks={"goal": "Find {what}."}))
    tree = source(call({"what": "it"}), features=["wr.features.memory_context"])
    prompt = only_step(workflow(tree, {NAME: look})).prompt
    assert prompt.startswith("## Goal\nFind it.\n\n## Constraints\n- If you have a memory tool")


def test_a_routine_can_be_called_in_a_loop_body_and_twice() -> None:
    look = routine(step("find"))
    again = step("more", templateCall={"templateId": NAME})
    found = workflow(source(call(), loop("l", [again])), {NAME: look})
    assert as_step(found.steps[0]).id == "ask.find"
    assert as_step(as_loop(found.steps[1]).body[0]).id == "more.find"


def test_loops_of_a_routine_get_the_prefix_inside_and_out() -> None:
    look = routine(loop("l", "find"), step("find", audit={}))
    found = as_loop(workflow(source(call(runCondition={"var": "x"})), {NAME: look}).steps[0])
    assert (found.id, found.run_condition) == ("ask.l", X)
    assert [each.id for each in found.body] == ["ask.find", "ask.find__audit"]
    assert as_step(found.body[0]).run_condition is None


def test_a_routine_brings_the_functions_its_steps_refer_to() -> None:
    look = routine(
        step("find", functionReferences=["f()"]),
        functionDefinitions=[{"name": "f", "definition": "F"}, {"name": "g", "definition": "G"}],
    )
    found = only_step(workflow(source(call()), {NAME: look}))
    assert found.functions == (Function(name="f", definition="F", scope="workflow"),)


def test_problems_of_a_call_are_told_at_the_call() -> None:
    look = routine(
        step("find", prompt="{what} {that}"),
        step("deep", templateCall={"templateId": NAME}),
        step("judge", assessmentRefs=["quality"]),
    )
    inside = "steps[0].templateCall.<wr.routine-look>.steps"
    found = compiled(source(call({"what": [1]})), {NAME: look}).diagnostics
    assert {(each.code, each.path) for each in found} == {
        ("TEMPLATE_ARG_TYPE", "steps[0].templateCall.args.what"),
        ("TEMPLATE_ARG_MISSING", f"{inside}[0].prompt"),
        ("TEMPLATE_RECURSION", f"{inside}[1].templateCall"),
        ("UNKNOWN_ASSESSMENT", f"{inside}[2].assessmentRefs[0]"),
    }
    assert {each.file for each in found} == {"sample.json"}
    assert all(each.line > 1 for each in found)


def test_a_broken_routine_is_named_with_its_first_problem() -> None:
    found = compiled(source(call()), {NAME: routine(step("find", bogus=1))}).diagnostics
    assert [each.code for each in found] == ["ROUTINE_BROKEN"]
    assert f"{NAME}.json" in found[0].what
    assert "bogus" in found[0].what


def test_what_a_call_cannot_pass_on_is_told() -> None:
    tree = source(
        call(requireConfirmation=True, notesOptional=True, askForFiles=True, guidance=["x"])
    )
    assert problems(tree, {NAME: routine(step("find"))}) == [
        ("FIELD_LOST_IN_TEMPLATE", "steps[0].requireConfirmation"),
        ("FIELD_LOST_IN_TEMPLATE", "steps[0].notesOptional"),
        ("FIELD_LOST_IN_TEMPLATE", "steps[0].guidance"),
    ]


def test_what_a_call_leaves_at_its_default_is_not_told() -> None:
    tree = source(call(requireConfirmation=False, notesOptional=False))
    assert problems(tree, {NAME: routine(step("find"))}) == []


def test_ids_that_collide_after_expansion_are_refused() -> None:
    look = routine(step("find"), step("find"))
    found = problems(source(call()), {NAME: look})
    assert found == [("DUPLICATE_STEP_ID", "steps[0].templateCall.<wr.routine-look>.steps[1].id")]


def test_args_cannot_blow_a_workflow_up() -> None:
    look = routine(step("find", prompt="{a}" * 2000))
    found = compiled(source(call({"a": "x" * 100_000})), {NAME: look}).diagnostics
    assert [each.code for each in found] == ["COMPILED_TOO_LARGE"]
