"""What a model may get wrong about tools is answered; only what no turn can mend ends a run."""

from pathlib import Path

import pytest

from headway.agent.tooling import FatalToolError
from headway.agent.tools.completing import complete_step
from headway.agent.tools.tool import ToolFailed
from headway.domain.errors import (
    Code,
    Fault,
    InvalidInput,
    NotFound,
    SessionBusy,
    SessionNotHealthy,
    StoreUnavailable,
    TokenFault,
)
from headway.domain.json_schema import schema_problems
from headway.ports.engine import AllDone, GateWaits, Refused, StepOpen
from tests.support.tooled import AnsweringEngine, Workbench

pytestmark = pytest.mark.anyio

NOTES = "I read the code, found the bug in greet() and fixed it; the tests pass."
REMEDY = "See to it."


async def test_every_tool_is_told_with_a_schema_that_takes_no_other_keys(tmp_path: Path) -> None:
    specs = Workbench(tmp_path).tools.specs
    assert [spec.name for spec in specs] == [
        "complete_step",
        "bash",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "grep",
        "read_output",
    ]
    for spec in specs:
        assert not schema_problems(spec.schema)
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert "$defs" not in spec.schema


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"command": ', "not JSON"),
        ("", "`command`"),
        ("[]", "Expected `object`"),
        ('{"command": 1}', "Expected `str`"),
        ('{"command": "true", "cwd": "/"}', "cwd"),
        ('{"command": "true", "timeout_seconds": 0}', ">= 1"),
        ('{"command": "\\ud800"}', "not JSON"),
        ('{"command": "a\\u0000b"}', "cannot be run"),
        ('{"command": ' + "[" * 100_000, "do not fit"),
    ],
)
async def test_arguments_that_do_not_fit_are_answered(
    tmp_path: Path, arguments: str, said: str
) -> None:
    result = await Workbench(tmp_path).send("bash", arguments)
    assert result.failed
    assert said in result.text


async def test_an_artifact_nested_without_end_is_answered(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    result = await Workbench(tmp_path).send(
        "complete_step", f'{{"notes": "{NOTES}", "artifacts": {deep}}}'
    )
    assert result.failed
    assert "not JSON" in result.text


async def test_an_unknown_tool_is_answered_with_those_there_are(tmp_path: Path) -> None:
    said = await Workbench(tmp_path).failed("readfile", path="a")
    assert "Did you mean read_file?" in said
    assert "complete_step" in said


@pytest.mark.parametrize("name", ["output.notesMarkdown", "output.artifacts"])
async def test_complete_step_says_what_authors_may_call_its_fields(
    tmp_path: Path, name: str
) -> None:
    spec = next(spec for spec in Workbench(tmp_path).tools.specs if spec.name == "complete_step")
    assert name in str(spec.schema["properties"])


async def test_a_step_that_is_taken_says_what_follows(tmp_path: Path) -> None:
    engine = AnsweringEngine(
        [
            StepOpen(step="two", title="Fix it", prompt="..."),
            GateWaits(gate="g", step="s", command="c"),
            AllDone(),
        ]
    )
    bench = Workbench(tmp_path, engine)
    text = await bench.done("complete_step", notes=NOTES, artifacts=[{"a": 1}], context={"k": 2})
    assert "Fix it" in text
    assert (engine.handed_in[0].artifacts, engine.handed_in[0].context) == (({"a": 1},), {"k": 2})
    assert "end your turn" in await bench.done("complete_step", notes=NOTES)
    assert "workflow is complete" in await bench.done("complete_step", notes=NOTES)


async def test_thin_notes_are_sent_back_before_the_engine_sees_them(tmp_path: Path) -> None:
    engine = AnsweringEngine()
    said = await Workbench(tmp_path, engine).failed("complete_step", notes="  done   " + " " * 60)
    assert "The notes have 4 characters; at least 50" in said
    assert "what you did and decided" in said
    assert not engine.handed_in


async def test_a_step_that_is_refused_lists_every_reason(tmp_path: Path) -> None:
    engine = AnsweringEngine([Refused(reasons=("Send the artifact.", "Run the check."))])
    said = await Workbench(tmp_path, engine).failed("complete_step", notes=NOTES)
    assert "- Send the artifact.\n- Run the check." in said


@pytest.mark.parametrize(
    "fault",
    [
        TokenFault(Code.TOKEN_BAD_SIGNATURE, "Not ours.", remedy=REMEDY),
        TokenFault(Code.TOKEN_UNKNOWN_NODE, "Purged.", remedy=REMEDY),
        NotFound("No such session.", remedy=REMEDY),
        SessionNotHealthy("An event is damaged.", remedy=REMEDY),
    ],
)
async def test_what_no_turn_can_mend_ends_the_run(tmp_path: Path, fault: Fault) -> None:
    engine = AnsweringEngine([fault])
    with pytest.raises(FatalToolError) as fatal:
        await Workbench(tmp_path, engine).call("complete_step", notes=NOTES)
    assert (fatal.value.code, fatal.value.remedy) == (fault.code.value, REMEDY)
    assert len(engine.handed_in) == 1


async def test_what_may_pass_is_tried_again_and_then_told() -> None:
    busy = [SessionBusy("Busy.", remedy=REMEDY)] * 2
    for fault in busy:
        fault.retry_after_ms = 1
    engine = AnsweringEngine([*busy, AllDone()])
    tool = complete_step(engine, (0.001, 0.001))
    answer = await tool.run(f'{{"notes": "{NOTES}"}}')
    assert "complete" in answer.text
    assert len(engine.handed_in) == 3
    down = StoreUnavailable("The store is down.", remedy=REMEDY)
    down.retry_after_ms = 1
    with pytest.raises(ToolFailed, match=r"not taken\. The store is down\. See to it\."):
        await complete_step(AnsweringEngine([down] * 3), (0.001, 0.001)).run(
            f'{{"notes": "{NOTES}"}}'
        )


async def test_what_the_model_can_mend_is_told_at_once(tmp_path: Path) -> None:
    engine = AnsweringEngine([InvalidInput("The context is too large.", remedy="Send less.")])
    said = await Workbench(tmp_path, engine).failed("complete_step", notes=NOTES)
    assert said == "The step was not taken. The context is too large. Send less."
