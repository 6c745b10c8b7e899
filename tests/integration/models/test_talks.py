"""What is said to each provider and heard from it, on the wire it speaks."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.adapters.models.choosing import choose_model
from headway.domain.runs.messages import Reply, Results, Told, ToolCall, ToolResult, Usage
from headway.domain.values import JsonObject
from tests.support.provided import (
    ANTHROPIC,
    BEDROCK,
    GOAL,
    KEY,
    OPENAI,
    PROVIDERS,
    RESPONSES,
    Provider,
    Talk,
    results_of,
    talk_with,
)
from tests.support.provider_acts import Call, Says, Took

pytestmark = pytest.mark.anyio

LOOKS = Says(
    text="I look first.",
    thinking="where was it",
    calls=(Call("c1", "bash", '{"command": "ls -l"}'), Call("c2", "look", "{}")),
)
ANSWER: JsonObject = {
    "type": "object",
    "properties": {"notes": {"type": "string"}, "artifacts": {"type": "array"}},
    "required": ["notes"],
}
ROLES = {
    "anthropic": ["user", "assistant", "user"],
    "bedrock": ["user", "assistant", "user"],
    "openai": ["system", "user", "assistant", "tool", "tool", "user"],
    "responses": [
        *("user", "reasoning", "assistant", "function_call", "function_call"),
        *("function_call_output", "function_call_output", "user"),
    ],
}
CACHED = {"type": "ephemeral", "ttl": "5m"}


@pytest.fixture(params=PROVIDERS, ids=lambda each: each.name)
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    whose: Provider = request.param
    with talk_with(whose) as begun:
        yield begun


async def test_a_reply_is_read_with_what_it_says_calls_and_took(talk: Talk) -> None:
    talk.fake.does(LOOKS)
    reply = await talk.ask()
    assert (reply.text, reply.stop, reply.answered) == ("I look first.", "tools", False)
    assert reply.calls == (
        ToolCall(id="c1", name="bash", arguments='{"command": "ls -l"}'),
        ToolCall(id="c2", name="look", arguments="{}"),
    )
    assert reply.model == talk.provider.bare
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)


async def test_a_reply_without_a_call_ends_the_turn(talk: Talk) -> None:
    talk.fake.does(Says(text="All is well, I think."))
    reply = await talk.ask()
    assert (reply.text, reply.stop, reply.calls) == ("All is well, I think.", "end", ())


async def test_every_part_of_a_reply_is_heard_as_it_comes(talk: Talk) -> None:
    talk.fake.does(Says(text=" ".join("word" for _ in range(20))))
    heard: list[int] = []
    await talk.ask(heard=lambda: heard.append(1))
    assert len(heard) >= 20


async def test_what_was_said_before_is_said_again_in_order(talk: Talk) -> None:
    talk.fake.does(LOOKS, Says(text="So it is."))
    first = await talk.ask()
    steer = Told(text="Hurry.", origin="steer")
    await talk.ask(GOAL, first, results_of(first, "calc.py", "a tree"), steer)
    said = json.dumps(talk.said)
    parts = ("Mend it.", "where was it", "I look first.", "ls -l", "calc.py", "a tree", "Hurry.")
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    assert [each.get("role") or each["type"] for each in talk.said] == ROLES[talk.provider.name]


async def test_a_talk_goes_on_in_another_process_as_it_was(talk: Talk) -> None:
    talk.fake.does(LOOKS, Says(text="So it is."))
    first = await talk.ask()
    told = (GOAL, first, results_of(first, "calc.py", "a tree"))
    await talk.ask(*told)
    here = talk.sent
    elsewhere = choose_model(talk.model.name, Path(), talk.provider.settings(talk.fake.url))
    await Talk(talk.provider, talk.fake, elsewhere).ask(*told)
    assert talk.sent == here


async def test_a_reply_of_another_model_is_told_without_what_was_its_own(talk: Talk) -> None:
    talk.fake.does(Says(text="So it is."))
    foreign = Reply(
        text="Let me see.",
        stop="tools",
        model="scripted:a",
        calls=(ToolCall(id="call-1-1", name="look", arguments="{}"),),
        native='{"next":1,"replies":1}',
    )
    await talk.ask(GOAL, foreign, results_of(foreign, "a tree"))
    said = json.dumps(talk.said)
    assert all(part in said for part in ("Let me see.", "call-1-1", "a tree"))


async def test_what_came_of_an_answer_is_told_as_text(talk: Talk) -> None:
    answer = '{"notes": "done"}'
    talk.fake.does(Says(text=answer), Says(text="So it is."))
    said = await talk.ask(answer=ANSWER)
    assert (said.text, said.stop, said.calls) == (answer, "end", ())
    read = Reply(
        text=said.text,
        stop=said.stop,
        model=said.model,
        calls=(ToolCall(id="answer-1", name="complete_step", arguments=answer),),
        native=said.native,
        answered=True,
    )
    await talk.ask(GOAL, read, results_of(read, "The notes are too short.", failed=True))
    messages = talk.said
    assert messages[-1]["role"] == "user"
    assert "The notes are too short." in json.dumps(messages[-1])
    assert not any(word in json.dumps(messages) for word in ("answer-1", "complete_step", "tool"))


async def test_results_whose_reply_was_summed_up_are_told_as_text(talk: Talk) -> None:
    talk.fake.does(Says(text="So it is."))
    orphan = Results(results=(ToolResult(call="c9", text="what was found"),))
    await talk.ask(Told(text="So far so good.", origin="summary"), orphan)
    assert "what was found" in json.dumps(talk.said)
    assert "c9" not in json.dumps(talk.said)


async def test_an_answer_of_a_form_is_asked_for_beside_the_tools(talk: Talk) -> None:
    talk.fake.does(Says(text="{}"))
    await talk.ask(answer=ANSWER)
    body: Any = talk.sent
    match talk.provider.name:
        case "openai":
            form = body["response_format"]["json_schema"]["schema"]
        case "responses":
            form = body["text"]["format"]["schema"]
        case _:
            form = body["output_config"]["format"]["schema"]
    assert form["required"] == ["notes"]
    assert set(form["properties"]) == {"notes", "artifacts"}
    assert len(body["tools"]) == 2


async def test_a_reply_has_as_many_tokens_as_it_was_granted(talk: Talk) -> None:
    talk.fake.does(Says(text="Well,", stop="length"))
    reply = await talk.ask(output_tokens_max=77)
    assert reply.stop == "length"
    most = "max_output_tokens" if talk.provider is RESPONSES else "max_tokens"
    assert talk.sent[most] == 77


async def test_a_call_cut_by_that_limit_is_handed_on_as_it_stands(talk: Talk) -> None:
    talk.fake.does(Says(calls=(Call("c1", "bash", '{"command": "ls'),), stop="length"))
    reply = await talk.ask()
    assert (reply.stop, reply.calls[0].arguments) == ("length", '{"command": "ls')
    talk.fake.does(Says(text="I see."))
    await talk.ask(GOAL, reply, results_of(reply, "The arguments are no JSON.", failed=True))
    assert "The arguments are no JSON." in json.dumps(talk.said)


@pytest.mark.parametrize(
    "says",
    [Says(thinking="so much to think of", stop="length"), Says(text=" \n "), Says()],
    ids=["thoughts", "blank", "nothing"],
)
async def test_a_reply_that_says_nothing_is_not_said_again(talk: Talk, says: Says) -> None:
    talk.fake.does(says, Says(text="So it is."))
    empty = await talk.ask()
    assert empty.calls == ()
    assert not empty.text.strip()
    await talk.ask(GOAL, empty, Told(text="Go on.", origin="nudge"))
    roles = {each.get("role") or each["type"] for each in talk.said}
    assert roles <= {"system", "user"}, "providers refuse what says nothing"


async def test_calls_of_one_id_are_told_apart(talk: Talk) -> None:
    calls = (Call("c1", "bash", '{"command": "ls"}'), Call("c1", "look", "{}"))
    talk.fake.does(Says(calls=calls), Says(text="So it is."))
    reply = await talk.ask()
    ids = [call.id for call in reply.calls]
    assert len(set(ids)) == 2
    await talk.ask(GOAL, reply, results_of(reply, "calc.py", "a tree"))
    said = json.dumps(talk.said)
    assert all(said.count(f'"{each}"') == 2 for each in ids)


async def test_a_refusal_is_a_reply(talk: Talk) -> None:
    talk.fake.does(Says(text="I will not.", stop="refused"))
    assert (await talk.ask()).stop == "refused"


async def test_a_request_is_made_once_and_its_line_is_closed(talk: Talk) -> None:
    talk.fake.does(Says(text="Well."))
    await talk.ask()
    await talk.ask()
    assert len(talk.fake.asked) == 2


@pytest.mark.parametrize("whose", [ANTHROPIC, BEDROCK], ids=lambda each: each.name)
async def test_claude_caches_what_stays_and_signs_what_it_thought(whose: Provider) -> None:
    took = Took(fresh=50, cache_read=100, cache_write=30, out=20)
    says = Says(thinking="where was it", calls=LOOKS.calls, took=took)
    with talk_with(whose, says) as talk:
        first = await talk.ask()
        used = Usage(
            input_tokens=50,
            output_tokens=20,
            cache_read_tokens=100,
            cache_write_tokens=30,
            cost=first.usage.cost,
        )
        assert first.usage == used
        assert used.cost is not None
        assert used.cost > 0
        await talk.ask(GOAL, first, results_of(first, "no such file", "", failed=True))
        body: Any = talk.sent
    assert body["system"][-1]["cache_control"] == CACHED
    assert body["tools"][-1]["cache_control"] == CACHED
    assert body["cache_control"] == CACHED, "what was said so far is cached by the provider"
    thought, *_ = body["messages"][1]["content"]
    assert (thought["type"], thought["signature"]) == ("thinking", "signed:where was it")
    assert [each["is_error"] for each in body["messages"][2]["content"]] == [True, True]


async def test_anthropic_is_asked_where_it_listens_with_the_key() -> None:
    with talk_with(ANTHROPIC, Says(text="Well.")) as talk:
        await talk.ask()
        (asked,) = talk.fake.asked
    assert asked.path == "/v1/messages"
    assert KEY in (asked.headers.get("x-api-key"), asked.headers.get("authorization", "")[7:])
    assert (asked.body["model"], asked.body["stream"]) == ("claude-opus-5-5", True)


async def test_bedrock_is_asked_for_a_stream_with_a_signature() -> None:
    with talk_with(BEDROCK, Says(text="Well.")) as talk:
        await talk.ask()
        (asked,) = talk.fake.asked
    assert asked.path == "/model/us.anthropic.claude-opus-5-5/invoke-with-response-stream"
    assert asked.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIANOTTOBETOLD/")
    assert "/us-east-1/bedrock/aws4_request" in asked.headers["authorization"]
    assert KEY not in str(asked)


async def test_a_server_that_speaks_like_openai_is_asked_in_words_it_knows() -> None:
    took = Took(fresh=50, cache_read=100, out=20)
    with talk_with(OPENAI, Says(text="Well.", took=took)) as talk:
        reply = await talk.ask()
        (asked,) = talk.fake.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["messages"][0] == {"role": "system", "content": "You mend things."}
    assert [each["function"]["name"] for each in asked.body["tools"]] == ["bash", "look"]
    assert asked.body["stream_options"] == {"include_usage": True}
    used = Usage(input_tokens=50, output_tokens=20, cache_read_tokens=100)
    assert reply.usage == used, "what a server asks for its work is not known"


async def test_what_openai_thought_is_sealed_kept_here_and_sent_again() -> None:
    with talk_with(RESPONSES, LOOKS, Says(text="So it is.")) as talk:
        first = await talk.ask()
        await talk.ask(GOAL, first, results_of(first, "", ""))
        (asked, again) = talk.fake.asked
    assert asked.path == "/v1/responses"
    assert asked.body["store"] is False
    assert asked.body["include"] == ["reasoning.encrypted_content"]
    assert asked.body["instructions"] == "You mend things."
    assert again.body["input"][1]["encrypted_content"] == "sealed:where was it"


@pytest.mark.parametrize(
    ("whose", "option", "sent"),
    [
        (ANTHROPIC, "low", {"output_config": {"effort": "low"}, "thinking": {"type": "adaptive"}}),
        (OPENAI, "high", {"reasoning_effort": "high"}),
        (RESPONSES, "low", {"reasoning": {"effort": "low", "context": "all_turns"}}),
    ],
    ids=["anthropic", "openai", "responses"],
)
async def test_how_long_to_think_is_said_as_the_provider_says_it(
    whose: Provider, option: str, sent: dict[str, object]
) -> None:
    with talk_with(whose, Says(text="Well."), options=f"?effort={option}") as talk:
        await talk.ask()
        assert {key: talk.sent.get(key) for key in sent} == sent


async def test_a_budget_for_thinking_leaves_room_for_a_reply() -> None:
    older = replace(ANTHROPIC, model="anthropic:claude-haiku-4-5")
    with talk_with(older, Says(text="Well."), options="?effort=high") as talk:
        await talk.ask(output_tokens_max=talk.model.traits.output_tokens_max)
        body: Any = talk.sent
    assert 1_024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]


async def test_a_model_without_forms_is_told_the_form_in_words() -> None:
    older = replace(BEDROCK, model="bedrock:anthropic.claude-3-haiku-20240307-v1:0")
    with talk_with(older, Says(text="{}")) as talk:
        await talk.ask(answer=ANSWER)
        body: Any = talk.sent
    assert "output_config" not in body
    assert '"required"' in json.dumps(body["system"]).replace("\\", "")
    assert "notes" in json.dumps(body["system"])
