"""Arguments become requests; everything wrong with them is told at once."""

import contextlib

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.application.faults import InvalidInput
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectWorkflow,
    JsonObject,
    ListWorkflows,
    ManageWorkflowSource,
    Preferences,
    Request,
    ResumeSession,
    StartWorkflow,
)
from headway.mcp.arguments import parse_arguments
from headway.mcp.outputs import OUTPUT_SCHEMAS
from headway.mcp.schemas import INPUT_SCHEMAS

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
keys = st.sampled_from(
    [
        *("workspacePath", "workflowId", "goal", "context", "preferences", "mode", "modelTier"),
        *("continueToken", "intent", "output", "checkpointToken", "query", "runId", "sessionId"),
        *("gitBranch", "gitHeadSha", "sameWorkspaceOnly", "action", "path", "tags"),
        *("includeSources", "notes", "artifacts", "contextVariables", "other"),
    ]
)


def advance(**arguments: object) -> ContinueWorkflow:
    found = parse_arguments("continue_workflow", {"continueToken": "ct_x", **arguments})  # type: ignore[dict-item]  # wrong types are the point
    assert isinstance(found, ContinueWorkflow)
    return found


def errors(tool: str, **arguments: object) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        parse_arguments(tool, arguments)  # type: ignore[arg-type]  # wrong types are the point
    listed = caught.value.details["validationErrors"]
    assert isinstance(listed, list)
    return {item["path"]: item["message"] for item in listed}


@pytest.mark.parametrize(
    ("tool", "arguments", "request_"),
    [
        ("list_workflows", {"workspacePath": "/w"}, ListWorkflows(workspace_path="/w")),
        (
            "list_workflows",
            {"workspacePath": "/w", "tags": ["a"], "includeSources": True},
            ListWorkflows(workspace_path="/w", tags=("a",), include_sources=True),
        ),
        (
            "inspect_workflow",
            {"workspacePath": "C:\\w", "workflowId": "a.b", "mode": "metadata"},
            InspectWorkflow(workspace_path="C:\\w", workflow_id="a.b", mode="metadata"),
        ),
        (
            "start_workflow",
            {"workflowId": "a", "workspacePath": "/w", "goal": "g", "preferences": None},
            StartWorkflow(workflow_id="a", workspace_path="/w", goal="g"),
        ),
        (
            "start_workflow",
            {
                "workflowId": "a",
                "workspacePath": "/w",
                "goal": "g",
                "modelTier": "heavy",
                "context": '{"k": 1}',
                "preferences": {"riskPolicy": "balanced"},
            },
            StartWorkflow(
                workflow_id="a",
                workspace_path="/w",
                goal="g",
                model_tier="heavy",
                context={"k": 1},
                preferences=Preferences(risk_policy="balanced"),
            ),
        ),
        (
            "checkpoint_workflow",
            {"checkpointToken": "ck_x"},
            CheckpointWorkflow(checkpoint_token="ck_x"),
        ),
        (
            "resume_session",
            {"workspacePath": "/w", "query": "q", "sameWorkspaceOnly": True},
            ResumeSession(workspace_path="/w", query="q", same_workspace_only=True),
        ),
        (
            "manage_workflow_source",
            {"action": "detach", "path": "/p"},
            ManageWorkflowSource(action="detach", path="/p"),
        ),
    ],
)
def test_good_arguments_become_a_request(
    tool: str, arguments: JsonObject, request_: Request
) -> None:
    assert parse_arguments(tool, arguments) == request_


def test_output_means_advance_and_its_absence_rehydrate() -> None:
    assert advance(output={"notesMarkdown": "n"}).intent == "advance"
    assert advance(output={}).intent == "rehydrate"
    assert advance().intent == "rehydrate"
    assert advance(intent="advance").intent == "advance"
    assert advance(intent="advance", context={"a": 1}).context == {"a": 1}
    assert advance(intent="rehydrate", workspacePath="/w", output={}).workspace_path == "/w"


def test_a_rehydrate_hands_nothing_in_and_names_its_workspace() -> None:
    found = errors(
        "continue_workflow",
        continueToken="ct",
        intent="rehydrate",
        output={"notesMarkdown": "n"},
        context={"a": 1},
    )
    assert set(found) == {"output", "context", "workspacePath"}


def test_the_aliases_of_older_prompts_are_understood() -> None:
    found = advance(notes="n", artifacts=[{"kind": "k"}], contextVariables='{"a": 1}')
    assert found.notes == "n"
    assert found.artifacts == ({"kind": "k"},)
    assert found.context == {"a": 1}
    assert found.intent == "advance"


def test_saying_a_thing_twice_is_refused() -> None:
    found = errors("continue_workflow", continueToken="c", notes="a", output={"notesMarkdown": "b"})
    assert found == {
        "notes": "says the same as output.notesMarkdown; give only output.notesMarkdown"
    }


def test_json_texts_stand_for_objects_but_not_for_arrays() -> None:
    assert advance(output='{"notesMarkdown": "n"}').notes == "n"
    assert errors("continue_workflow", continueToken="c", output={"artifacts": "[]"}) == {
        "output.artifacts": "must be an array, not a string"
    }
    for text in ('{"a":1,"a":2}', "[1]", "{", '{"a": NaN}', '{"a": "\\ud800"}', "[" * 100_000):
        assert errors("continue_workflow", continueToken="c", intent="advance", context=text) == {
            "context": "must be an object, not a string"
        }


def test_every_problem_is_listed_with_its_path() -> None:
    found = errors(
        "start_workflow",
        workflowID="a",
        workspacePath="relative",
        goal="",
        preferences={"autonomy": "ful_auto", "riskPolice": 1},
    )
    assert found == {
        "workflowID": "is not known here (did you mean workflowId?)",
        "workspacePath": "must be an absolute path, without NUL characters",
        "goal": "must not be empty",
        "preferences.autonomy": (
            "must be one of guided, full_auto_stop_on_user_deps, full_auto_never_stop"
        ),
        "preferences.riskPolice": "is not known here (did you mean riskPolicy?)",
        "workflowId": "is required but was not given",
    }


def test_at_most_three_suggestions_and_a_template_are_given() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_arguments("resume_session", {"workspace_path": "/w", "sessionID": "s", "runID": "r"})
    suggestions = caught.value.details["suggestions"]
    assert suggestions == ["workspacePath", "sessionId", "runId"]
    assert caught.value.details["correctTemplate"] == {
        "workspacePath": "<Absolute path of the folder you work in>"
    }


def test_paths_and_searches_hold_no_nul_and_end_where_they_end() -> None:
    for path in ("/w\0", "~/w", "", "w\n/x"):
        assert "workspacePath" in errors("list_workflows", workspacePath=path)
    assert errors("resume_session", workspacePath="/w", gitHeadSha="a" * 40 + "\n")
    assert errors("resume_session", workspacePath="/w", query="x" * 257)


@given(st.sampled_from(sorted(INPUT_SCHEMAS)), st.dictionaries(keys, json_values, max_size=5))
def test_no_arguments_do_worse_than_be_refused(tool: str, arguments: JsonObject) -> None:
    with contextlib.suppress(InvalidInput):
        parse_arguments(tool, arguments)


@given(
    st.sampled_from(sorted({*INPUT_SCHEMAS} - {"continue_workflow"})),
    st.dictionaries(keys, json_values.filter(lambda v: v is not None), max_size=5),
)
def test_what_is_enforced_is_what_is_announced(tool: str, arguments: JsonObject) -> None:
    announced = jsonschema.Draft202012Validator(INPUT_SCHEMAS[tool]).is_valid(arguments)
    try:
        parse_arguments(tool, arguments)
    except InvalidInput:
        assert not announced
    else:
        assert announced


def test_the_schemas_are_schemas() -> None:
    for schema in (*INPUT_SCHEMAS.values(), *OUTPUT_SCHEMAS.values()):
        jsonschema.Draft202012Validator.check_schema(schema)
    assert list(INPUT_SCHEMAS) == list(OUTPUT_SCHEMAS)
