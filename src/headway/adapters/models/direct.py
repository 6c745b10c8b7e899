"""One model of a provider, asked by `pydantic_ai.direct`; its libraries never retry.

Replies are streamed: whoever asked hears that the model is at work, and a reply that breaks off is
known to be none. This module brings the provider's libraries along, so it is imported with the
first request.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias, assert_never

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import InstructionPart, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings, ThinkingLevel
from pydantic_ai.tools import ToolDefinition

from headway.adapters.models.access import Access
from headway.adapters.models.failing import FAILURES, Failures
from headway.adapters.models.naming import Effort, ModelName
from headway.adapters.models.pricing import usage_of
from headway.adapters.models.translating import (
    Translation,
    calls_of,
    native_of,
    stop_of,
    text_of,
    with_own_ids,
)
from headway.domain.runs.messages import ModelRequest, Reply
from headway.domain.values import JsonObject
from headway.ports.models import Heard

Opener: TypeAlias = Callable[[str, Access], AbstractAsyncContextManager[Model]]

THINKING: Final[Mapping[Effort, ThinkingLevel]] = {
    "off": False,
    "low": "low",
    "medium": "medium",
    "high": "high",
}


class DirectModel:
    """Asks one model; see `ports.models.Model.reply`."""

    def __init__(self, name: ModelName, access: Access) -> None:
        self._name = name
        self._access = access
        self._open = _opener(name)
        self._failures = Failures(name, access)
        self._translation = Translation(marks_failures=name.provider != "openai")

    async def reply(self, request: ModelRequest, heard: Heard) -> Reply:
        """Return the model's reply. Raises ModelFailed."""
        messages = self._translation.of(request.messages)
        try:
            async with (
                self._open(self._name.model, self._access) as model,
                model_request_stream(
                    model,
                    messages,
                    model_settings=self._settings(request),
                    model_request_parameters=_parameters(request, model),
                ) as stream,
            ):
                async for _ in stream:
                    heard()
                response = with_own_ids(stream.get())
        except FAILURES as error:
            raise self._failures.of(error) from error
        return self._reply(response)

    def _reply(self, response: ModelResponse) -> Reply:
        calls = calls_of(response)
        stop = stop_of(response, calls)
        if stop is None:
            raise self._failures.cut()
        return Reply(
            text=text_of(response),
            stop=stop,
            model=self._name.bare,
            calls=calls,
            usage=usage_of(self._name, self._access, response),
            native=native_of(response),
        )

    def _settings(self, request: ModelRequest) -> ModelSettings:
        settings = ModelSettings(max_tokens=request.output_tokens_max, cache=True)
        if self._name.options.effort is not None:
            settings["thinking"] = THINKING[self._name.options.effort]
        return settings


def _opener(name: ModelName) -> Opener:
    """Return what reaches the provider; only its own libraries are imported."""
    match name.provider:
        case "anthropic":
            from headway.adapters.models.anthropic_client import anthropic_model

            return anthropic_model
        case "bedrock":
            from headway.adapters.models.bedrock_client import bedrock_model

            return bedrock_model
        case "openai":
            from headway.adapters.models.openai_client import chat_model, responses_model

            return responses_model if name.options.api == "responses" else chat_model
        case "scripted":
            raise AssertionError(name)
        case _:
            assert_never(name.provider)


def _parameters(request: ModelRequest, model: Model) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.schema),
        )
        for tool in request.tools
    ]
    instructions = [InstructionPart(content=request.system)] if request.system else []
    if request.answer_schema is None:
        return ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    return ModelRequestParameters(
        function_tools=tools,
        instruction_parts=instructions,
        output_mode="native" if model.profile.get("supports_json_schema_output") else "prompted",
        output_object=_answer(request.answer_schema),
    )


def _answer(schema: JsonObject) -> OutputObjectDefinition:
    return OutputObjectDefinition(json_schema=dict(schema), name="answer")
