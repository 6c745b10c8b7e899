import pytest

from headway.domain.rendering.prompt import RenderedStep, StepView, render_step
from headway.domain.values import Json
from headway.domain.workflow import (
    Assessment,
    ByDecision,
    Check,
    Compare,
    Confirmation,
    Consequence,
    Delegation,
    Dimension,
    EveryRule,
    Fragment,
    Function,
    FunctionCall,
    Loop,
    NoRule,
    OutputContract,
    Parameter,
    Rule,
    SomeRule,
    Step,
    UserContract,
    Workflow,
)

HIGH = Compare(var="rigor", operator="equals", value="high")
QUALITY = Assessment(
    id="quality",
    purpose="Is it good enough?",
    dimensions=(
        Dimension(id="tests", purpose="Do tests cover it?", levels=("low", "high")),
        Dimension(id="style", purpose="Is it clear?", levels=("poor", "fine"), required=False),
    ),
)


def workflow(*steps: Step | Loop, **fields: object) -> Workflow:
    held: dict[str, object] = {"assessments": (QUALITY,), **fields}
    return Workflow(
        form=1,
        id="acme.flow",
        name="Flow",
        description="A flow.",
        version="1.0.0",
        steps=steps,
        **held,  # type: ignore[arg-type]  # any further field of a workflow
    )


def render(step: Step, variables: dict[str, Json] | None = None, **fields: object) -> RenderedStep:
    view = StepView(
        workflow=workflow(step, **fields), step=step, variables=variables or {}, last=False
    )
    return render_step(view)


def plain(**fields: object) -> Step:
    held: dict[str, object] = {"id": "one", "title": "One", "prompt": "Do it.", **fields}
    return Step(**held)  # type: ignore[arg-type]  # any field of a step


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_the_parts_of_a_prompt_stand_in_their_order() -> None:
    step = plain(
        prompt="Do {{what}}.",
        guidance=("Be {{how}}.",),
        criteria=Rule(type="contains", value="DONE", message="say DONE"),
        assessment_refs=("quality",),
        checks=(Check(id="unit", run="make test"),),
        function_references=("doThing",),
        functions=(Function(name="doThing", definition="Carefully.", scope="step"),),
        fragments=(
            Fragment(id="a", text="Extra {{what}}."),
            Fragment(id="b", text="No.", when=HIGH),
        ),
    )
    loop = Loop(
        id="secret-loop",
        title="Refine",
        kind="while",
        source=ByDecision(loop_id="secret-loop"),
        max_iterations=3,
        body=(step,),
    )
    text = render_step(
        StepView(
            workflow=workflow(loop, metrics_profile="coding"),
            step=step,
            loops=((loop, 0),),
            variables={"what": "this", "how": "quick"},
        )
    ).prompt
    assert in_order(
        text,
        "> Loop: Refine, pass 1 of at most 3",
        "Do this.",
        "- Be quick.",
        'contain "DONE" (say DONE)',
        "wr.assessment",
        "Notes are required",
        "make test",
        "Carefully.",
        "Extra this.",
        "metrics_commit_shas",
    )
    assert "secret-loop" not in text
    assert "No." not in text
    assert "\n\n\n" not in text


def test_an_ordinary_step_costs_few_words() -> None:
    step = plain()
    first = render_step(
        StepView(workflow=workflow(step), step=step, variables={}, first=True)
    ).prompt
    assert first.startswith("Do it.\n\nNotes are required")
    assert len(first) - len("Do it.") <= 600
    assert len(render(step).prompt) - len("Do it.") <= 120


@pytest.mark.parametrize(
    "fields",
    [
        {"notes_optional": True},
        {"output_contract": OutputContract(ref="wr.contracts.gate_verdict")},
        {"output_contract": OutputContract(ref="wr.contracts.gate_verdict", required=False)},
    ],
)
def test_notes_are_not_asked_for_where_they_are_not_needed(fields: dict[str, object]) -> None:
    assert "Notes are required" not in render(plain(**fields)).prompt


def test_someone_who_takes_the_session_up_gets_the_long_form() -> None:
    step = plain()
    view = StepView(workflow=workflow(step), step=step, variables={}, resumed=True)
    assert "memory of this session" in render_step(view).prompt


def test_title_and_role_are_filled_in_and_the_role_stays_a_field() -> None:
    step = plain(title="Fix {{what}}", agent_role="You know {{what}}.", model_tier="heavy")
    rendered = render(step, {"what": "git"})
    assert (rendered.title, rendered.agent_role) == ("Fix git", "You know git.")
    assert rendered.model_tier == "heavy"
    assert "You know" not in rendered.prompt


@pytest.mark.parametrize(("rigor", "confirm"), [("high", True), ("low", False)])
def test_a_confirmation_is_asked_when_its_condition_holds(rigor: str, confirm: bool) -> None:  # noqa: FBT001
    asked = Confirmation(kind="human_approval", when=HIGH)
    assert render(plain(confirmation=asked), {"rigor": rigor}).confirm is confirm
    parallel = plain(kind="parallel", confirmation=asked)
    assert render(parallel, {"rigor": rigor}).confirm is False


def contains(value: str, when: Compare | None = None) -> Rule:
    return Rule(type="contains", value=value, message="", condition=when)


def test_array_criteria_are_told_up_to_five() -> None:
    rules = tuple(contains(f"w{index}") for index in range(8))
    text = render(plain(criteria=EveryRule(parts=rules, listed=True))).prompt
    assert text.count('- contain "w') == 5
    assert "meet 3 more" in text


def test_composed_criteria_are_told_in_words() -> None:
    criteria = EveryRule(
        parts=(
            SomeRule(parts=(contains("alpha"), contains("beta"))),
            NoRule(part=contains("gamma")),
            Rule(type="length", min=60, max=90, message="60..90"),
            Rule(type="regex", pattern="^a", flags="i", message="starts with a"),
            Rule(type="schema", schema={"type": "object"}, message="json"),
        )
    )
    text = render(plain(criteria=criteria)).prompt
    assert '- either contain "alpha"; or contain "beta"' in text
    assert '- not: contain "gamma"' in text
    assert "- be 60 to 90 characters long (60..90)" in text
    assert "- match /^a/i (starts with a)" in text
    assert '- be JSON that satisfies {"type":"object"} (json)' in text


def test_a_rule_is_told_only_while_its_condition_holds() -> None:
    step = plain(criteria=EveryRule(parts=(contains("STRICT", HIGH),), listed=True))
    assert "Your notes must" not in render(step).prompt
    assert "STRICT" in render(step, {"rigor": "high"}).prompt
    either = plain(criteria=SomeRule(parts=(contains("STRICT", HIGH), contains("LAX"))))
    assert "LAX" not in render(either).prompt


def test_a_built_in_contract_is_told_with_guidance_and_example() -> None:
    step = plain(output_contract=OutputContract(ref="wr.contracts.loop_control"))
    text = render(step).prompt
    assert in_order(text, "Required: one artifact of kind `wr.loop_control`", "stop", "Example: {")
    assert "JSON Schema" not in text


def test_an_own_contract_is_told_with_its_schema_and_an_example_the_author_gave() -> None:
    example: dict[str, Json] = {"kind": "plan", "steps": 3}
    own = UserContract(
        id="acme.plan", kind="plan", schema={"examples": [example]}, guidance="Be short."
    )
    step = plain(output_contract=OutputContract(ref="acme.plan"))
    text = render(step, contracts=(own,)).prompt
    assert in_order(text, "Required: one artifact of kind `plan`", "Be short.", "JSON Schema: {")
    assert 'Example: {"kind": "plan", "steps": 3}' in text
    bare = UserContract(id="acme.plan", kind="plan", schema={"type": "object"})
    assert "Example" not in render(step, contracts=(bare,)).prompt


def test_an_artifact_that_may_be_left_out_is_not_called_required() -> None:
    step = plain(output_contract=OutputContract(ref="wr.contracts.gate_verdict", required=False))
    assert "Required" not in render(step).prompt
    assert "If you have it, hand in one artifact of kind `wr.gate_verdict`" in render(step).prompt


def test_an_assessment_is_told_with_levels_an_example_and_what_follows() -> None:
    step = plain(
        assessment_refs=("quality",),
        consequences=(Consequence(level="low", guidance="Write tests.", assessment="quality"),),
    )
    text = render(step).prompt
    assert in_order(
        text,
        "Required: one artifact of kind `wr.assessment`",
        "Assessment `quality`: Is it good enough?",
        "- `tests` (low | high): Do tests cover it?",
        "- `style` (poor | fine, optional): Is it clear?",
        '"assessmentId": "quality"',
        "comes out as `low`, the step stays open for this: Write tests.",
    )


def test_an_assessment_beside_a_contract_is_not_called_required() -> None:
    step = plain(
        assessment_refs=("quality",),
        output_contract=OutputContract(ref="wr.contracts.gate_verdict"),
    )
    assert "If you can, hand in one artifact of kind `wr.assessment`" in render(step).prompt


def test_checks_are_told_with_what_they_protect() -> None:
    step = plain(
        checks=(Check(id="unit", run="make test", timeout_seconds=60, protect=("tests/",)),)
    )
    text = render(step).prompt
    assert "- unit: `make test` (at most 60 s)\n  Do not change: tests/" in text


def test_the_nearest_definition_of_a_function_is_told_with_its_arguments() -> None:
    far = Function(name="f", definition="Far.", scope="workflow")
    near = Function(
        name="f",
        definition="Near.",
        scope="step",
        parameters=(Parameter(name="x", type="string", required=True, description="Which."),),
    )
    call = FunctionCall(name="f", args={"x": "a"})
    step = plain(functions=(near,), function_calls=(call,), function_references=("f", "unknown"))
    text = render(step, functions=(far,)).prompt
    assert "`f(x: string)`\nNear.\n- `x`: Which.\nCall it here with: x = a" in text
    assert "Far." not in text
    assert "unknown" not in text


def test_a_function_nobody_refers_to_is_not_told() -> None:
    far = Function(name="f", definition="Far.", scope="workflow")
    assert "Far." not in render(plain(), functions=(far,)).prompt


def parallel(*delegations: Delegation) -> Step:
    return plain(kind="parallel", prompt="", delegations=delegations)


def test_a_parallel_step_lists_the_delegations_that_apply_and_asks_for_notes() -> None:
    step = parallel(
        Delegation(
            workflow_id="wr.review",
            goal="review {{what}}",
            context_mapping={"mode": "childMode", "gone": "other", "both": "familyName"},
            args={"familyName": "{{what}}"},
            allowed_tools=("Read", "Grep"),
            model_tier="mid",
        ),
        Delegation(workflow_id="wr.ideas", args={"familyName": "ideas"}),
        Delegation(workflow_id="wr.bare"),
        Delegation(workflow_id="wr.never", when=HIGH),
    )
    text = render(step, {"what": "A", "mode": "{{what}}", "both": "x"}).prompt
    assert in_order(
        text,
        "Hand this work to subagents:",
        "1. Workflow `wr.review`\n   Goal: review A\n   Model tier: mid",
        "Read, Grep",
        "   - childMode: {{what}}\n   - other: [unset: gone]\n   - familyName: A",
        "2. Workflow `wr.ideas`\n   Goal: ideas",
        "3. Workflow `wr.bare`\n   Goal: wr.bare",
        "1. Start all of them",
        "Notes are required",
    )
    assert "wr.never" not in text


def test_a_parallel_step_without_work_sends_the_agent_on() -> None:
    text = render(parallel(Delegation(workflow_id="wr.never", when=HIGH))).prompt
    assert text.startswith("None of this step's delegations applies now. Continue at once.")
