"""The providers that a model can be had from, each as a fake on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.adapters.models.choosing import choose_model
from headway.domain.runs.messages import (
    Message,
    ModelRequest,
    Reply,
    Results,
    Told,
    ToolResult,
    ToolSpec,
)
from headway.domain.values import JsonObject
from headway.ports.models import Heard, Model, ModelFailed, unheard
from tests.support.fake_provider import FakeProvider, provider
from tests.support.provider_acts import Act
from tests.support.provider_wires import AnthropicWire, BedrockWire, OpenAIWire, Wire
from tests.support.responses_wire import ResponsesWire

KEY = "sk-not-to-be-told"
GOAL = Told(text="Mend it.", origin="step")
BASH = ToolSpec(
    name="bash",
    description="Run a command.",
    schema={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)
LOOK = ToolSpec(name="look", description="Look around.", schema={"type": "object"})


@dataclass(frozen=True)
class Provider:
    """One provider: what it speaks, a model of it, and what reaches it at an address."""

    name: str
    model: str
    wire: Callable[[], Wire]
    settings: Callable[[str], dict[str, str]]

    @property
    def bare(self) -> str:
        """The model without its options."""
        return self.model.partition("?")[0]


ANTHROPIC = Provider(
    "anthropic",
    "anthropic:claude-opus-5-5",
    AnthropicWire,
    lambda url: {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url},
)
OPENAI = Provider(
    "openai",
    "openai:gpt-5.6-sol",
    OpenAIWire,
    lambda url: {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"},
)
RESPONSES = replace(
    OPENAI, name="responses", model=f"{OPENAI.model}?api=responses", wire=ResponsesWire
)
BEDROCK = Provider(
    "bedrock",
    "bedrock:us.anthropic.claude-opus-5-5",
    BedrockWire,
    lambda url: {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "AKIANOTTOBETOLD",
        "AWS_SECRET_ACCESS_KEY": KEY,
    },
)
PROVIDERS = (ANTHROPIC, OPENAI, RESPONSES, BEDROCK)


@dataclass
class Talk:
    """A model of a provider on this machine, and what it was sent."""

    provider: Provider
    fake: FakeProvider
    model: Model

    async def ask(
        self,
        *messages: Message,
        answer: JsonObject | None = None,
        output_tokens_max: int = 8_192,
        heard: Heard = unheard,
    ) -> Reply:
        request = ModelRequest(
            system="You mend things.",
            messages=messages or (GOAL,),
            tools=(BASH, LOOK),
            answer_schema=answer,
            output_tokens_max=output_tokens_max,
        )
        return await self.model.reply(request, heard)

    async def failure(self, act: Act) -> ModelFailed:
        """Return how a request fails when the provider does this."""
        self.fake.does(act)
        try:
            reply = await self.ask()
        except ModelFailed as failed:
            return failed
        raise AssertionError(reply)

    @property
    def sent(self) -> dict[str, object]:
        """Return the body of the last request."""
        return self.fake.asked[-1].body

    @property
    def said(self) -> list[dict[str, Any]]:
        """Return the messages of the last request, as the provider calls them."""
        body = self.fake.asked[-1].body
        messages: list[dict[str, Any]] = body["input" if "input" in body else "messages"]
        return messages


@contextmanager
def talk_with(whose: Provider, *acts: Act, options: str = "") -> Iterator[Talk]:
    with provider(whose.wire(), *acts) as fake:
        join = options.replace("?", "&") if "?" in whose.model else options
        model = choose_model(whose.model + join, Path(), whose.settings(fake.url))
        yield Talk(whose, fake, model)


def results_of(reply: Reply, *results: str, failed: bool = False) -> Results:
    pairs = zip(reply.calls, results, strict=True)
    return Results(
        results=tuple(ToolResult(call=call.id, text=text, failed=failed) for call, text in pairs)
    )
