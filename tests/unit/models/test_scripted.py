"""A scripted model says what its transcript says, and is loud where that does not fit the run."""

import re
from pathlib import Path

import pytest

from headway.adapters.models.choosing import choose_model
from headway.adapters.models.scripted import ScriptedModel
from headway.adapters.models.transcript import read_transcript
from headway.domain.errors import InvalidInput
from headway.domain.runs.messages import (
    Message,
    ModelRequest,
    Reply,
    Results,
    Told,
    ToolResult,
    Usage,
)
from headway.ports.models import ModelFailed, Traits

pytestmark = pytest.mark.anyio

DOCUMENT = Path(__file__).parents[3] / "docs" / "scripted-models.md"
GOAL = Told(text="Fix the greeting.", origin="step")


def scripted(folder: Path, text: str) -> ScriptedModel:
    path = folder / "script.yaml"
    path.write_text(text)
    return ScriptedModel(read_transcript(path))


async def reply(model: ScriptedModel, *messages: Message) -> Reply:
    return await model.reply(ModelRequest(system="", messages=messages))


def results(reply: Reply, *texts: str) -> Results:
    pairs = zip(reply.calls, texts, strict=True)
    return Results(results=tuple(ToolResult(call=call.id, text=text) for call, text in pairs))


def refused(folder: Path, text: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as refusal:
        scripted(folder, text)
    return refusal.value


async def test_the_documented_example_plays_to_its_end(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert example is not None
    model = scripted(tmp_path, example[1])
    first = await reply(model, GOAL)
    assert [(call.name, call.arguments) for call in first.calls] == [
        ("read_file", '{"path":"greeting.py"}')
    ]
    assert (first.text, first.stop) == ("I read the code first.", "tools")
    second = await reply(model, GOAL, first, results(first, "def greet(): ..."))
    assert second.usage == Usage(input_tokens=900, output_tokens=60, cost=3600)
    talk = (GOAL, first, results(first, "def greet(): ..."), second, results(second, "ok", "Hello"))
    with pytest.raises(ModelFailed) as failed:
        await reply(model, *talk)
    assert (failed.value.problem, failed.value.retry_after_ms) == ("transient", 20)
    third = await reply(model, *talk)
    assert [call.name for call in third.calls] == ["complete_step"]
    fourth = await reply(model, *talk, third, results(third, "complete"))
    assert (fourth.text, fourth.stop) == ("The greeting is right.", "end")


async def test_a_script_branches_on_what_the_model_was_told(tmp_path: Path) -> None:
    text = """
turns:
  - calls: [{bash: {command: make test}}]
  - {expect: passed, otherwise: mend, text: done}
  - {name: mend, text: mending, then: again}
  - {name: again, text: again}
"""
    model = scripted(tmp_path, text)
    first = await reply(model, GOAL)
    assert (await reply(model, GOAL, first, results(first, "3 passed"))).text == "done"
    mending = await reply(model, GOAL, first, results(first, "1 failed"))
    assert mending.text == "mending"
    assert (await reply(model, GOAL, first, mending)).text == "again"


async def test_a_script_goes_on_in_another_process_where_it_was(tmp_path: Path) -> None:
    text = "turns: [{text: one}, {text: two}, {text: three}]"
    first = await reply(scripted(tmp_path, text), GOAL)
    second = await reply(scripted(tmp_path, text), GOAL, first)
    summed_up = Told(text="What was said before.", origin="summary")
    third = await reply(scripted(tmp_path, text), summed_up, second)
    assert [first.text, second.text, third.text] == ["one", "two", "three"]


async def test_calls_of_a_turn_played_twice_have_names_of_their_own(tmp_path: Path) -> None:
    text = "turns: [{name: again, calls: [{glob: {pattern: '*'}}], then: again}]"
    model = scripted(tmp_path, text)
    first = await reply(model, GOAL)
    second = await reply(model, GOAL, first, results(first, ""))
    assert first.calls[0].id != second.calls[0].id


async def test_arguments_written_as_text_are_sent_as_they_stand(tmp_path: Path) -> None:
    model = scripted(tmp_path, "turns: [{calls: [{bash: '{\"command\": '}]}]")
    assert (await reply(model, GOAL)).calls[0].arguments == '{"command": '


async def test_a_script_gives_its_model_traits(tmp_path: Path) -> None:
    plain = scripted(tmp_path, "turns: [{text: a}]")
    assert plain.traits == Traits()
    text = "traits: {window: 5000, answers: true, output_tokens_max: 100}\nturns: [{text: a}]"
    traits = Traits(window=5_000, answers=True, output_tokens_max=100)
    assert scripted(tmp_path, text).traits == traits


async def test_an_unmet_expectation_names_the_line_and_what_was_told(tmp_path: Path) -> None:
    model = scripted(
        tmp_path, "turns:\n  - text: one\n  - expect: [fine, {matches: 'all (good)'}]\n"
    )
    first = await reply(model, GOAL)
    with pytest.raises(ModelFailed, match=r"line 3: it expects /all \(good\)/.*fine so far") as end:
        await reply(model, GOAL, first, Told(text="fine so far", origin="steer"))
    assert end.value.problem == "unusable"


async def test_a_script_that_runs_out_says_so(tmp_path: Path) -> None:
    model = scripted(tmp_path, "turns:\n  - text: all I have\n")
    first = await reply(model, GOAL)
    with pytest.raises(ModelFailed, match="line 2: the script has run out"):
        await reply(model, GOAL, first)


async def test_a_script_that_leads_in_a_circle_says_so(tmp_path: Path) -> None:
    text = """
turns:
  - {name: a, expect: this, otherwise: b}
  - {name: b, expect: that, otherwise: a}
"""
    with pytest.raises(ModelFailed, match="nothing is met"):
        await reply(scripted(tmp_path, text), GOAL)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("turns: [", 2, "cannot be used"),
        ("turns: []", 1, "it has no turn"),
        ("steps: []", 1, "the key `turns`"),
        ("steps: []\nturns: [{text: a}]", 1, "`turns`, `traits` and `summary` alone"),
        ("turns: [{text: a}]\ntraits: {windows: 1}", 2, "windows"),
        ("turns: [{text: a}]\ntraits: 7", 2, "of its traits"),
        ("turns: [{text: a}]\nsummary: [a]", 2, "must be a text"),
        ("turns:\n  - text: a\n  - texts: b\n", 3, "texts"),
        ("turns:\n  - calls: [{a: {}, b: {}}]\n", 2, "a map of one tool's name"),
        ("turns:\n  - then: nowhere\n", 2, "no turn is called 'nowhere'"),
        ("turns:\n  - name: a\n  - name: a\n", 3, "called 'a' already"),
        ("turns:\n  - expect: {matches: '('}\n", 2, "no regular expression"),
        ("turns:\n  - stop: soon\n", 2, "soon"),
        ("turns:\n  - just text\n", 2, "must be a map"),
    ],
)
def test_a_wrong_script_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    fault = refused(tmp_path, text)
    assert fault.details["line"] == line
    assert what in fault.message


def test_a_script_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_transcript(tmp_path / "missing.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_transcript(tmp_path / "binary.yaml")
    (tmp_path / "huge.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(InvalidInput, match="more than 1,000,000 bytes"):
        read_transcript(tmp_path / "huge.yaml")


def test_a_model_is_chosen_by_its_provider_and_named_for_every_folder(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text("turns: [{text: one}]")
    chosen = choose_model("scripted:script.yaml", tmp_path, {})
    assert chosen.name == f"scripted:{tmp_path / 'script.yaml'}"
    assert choose_model(chosen.name, Path("/"), {}).name == chosen.name


@pytest.mark.parametrize("name", ["", "scripted", "scripted:", "nobody:model", "script:file.yaml"])
def test_a_model_nobody_provides_is_refused_with_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refusal:
        choose_model(name, tmp_path, {})
    assert "scripted" in refusal.value.remedy
    assert refusal.value.details["kind"] == "model_unknown"


async def test_a_script_says_what_its_model_is_like_and_sums_up(tmp_path: Path) -> None:
    text = (
        "turns: [{text: a}, {text: b}]\ntraits: {window: 900, answers: true}\nsummary: all well\n"
    )
    model = scripted(tmp_path, text)
    assert (model.traits.window, model.traits.answers) == (900, True)
    first = await reply(model, GOAL)
    assert (await reply(model, Told(text="[said] a", origin="turns"))).text == "all well"
    summary = Told(text="all well", origin="summary")
    assert (await reply(model, summary, first, GOAL)).text == "b"


async def test_a_script_without_a_summary_is_loud_when_one_is_asked_for(tmp_path: Path) -> None:
    model = scripted(tmp_path, "turns: [{text: a}]\n")
    with pytest.raises(ModelFailed, match="a summary is asked for"):
        await reply(model, Told(text="[said] a", origin="turns"))
