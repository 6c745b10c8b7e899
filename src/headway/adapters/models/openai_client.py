"""OpenAI, by Chat Completions or by Responses, and every server that speaks as it does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from pydantic_ai.models import Model
from pydantic_ai.models.openai import (
    OpenAIChatModel,
    OpenAIResponsesModel,
    OpenAIResponsesModelSettings,
)
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from headway.adapters.models.access import Access
from headway.adapters.models.certificates import trusted

COMPATIBLE: Final = "openai-compatible"
NO_KEY: Final = "none"  # the library will send one; a server that asks for none looks at none
CONNECT_SECONDS: Final = 30
WAITS: Final = Timeout(None, connect=CONNECT_SECONDS)  # how long to bear silence, the loop knows
# A stream that ends without saying why it ended was cut: it is no reply.
ENDS_WITH_REASON: Final = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
# `max_tokens` is the name that all of them know.
OLDER_WORDS: Final = OpenAIModelProfile(
    openai_chat_streaming_requires_finish_reason=True,
    openai_chat_supports_max_completion_tokens=False,
)


# What was thought is kept with us, sealed, and sent again; nothing is kept with the provider.
KEPT_HERE: Final = OpenAIResponsesModelSettings(openai_store=False)


@asynccontextmanager
async def chat_model(model: str, access: Access) -> AsyncIterator[Model]:
    """Yield a model of OpenAI's, or of the server at the address; closed at the end."""
    async with _provider(access) as provider:
        words = ENDS_WITH_REASON if access.base_url is None else OLDER_WORDS
        yield OpenAIChatModel(model, provider=provider, profile=words)


@asynccontextmanager
async def responses_model(model: str, access: Access) -> AsyncIterator[Model]:
    """Yield a model of OpenAI's that is asked by its newer API; closed at the end."""
    async with _provider(access) as provider:
        yield OpenAIResponsesModel(model, provider=provider, settings=KEPT_HERE)


@asynccontextmanager
async def _provider(access: Access) -> AsyncIterator[Provider[AsyncOpenAI]]:
    async with DefaultAsyncHttpxClient(timeout=WAITS, verify=trusted()) as http:
        client = AsyncOpenAI(
            api_key=access.key or NO_KEY,
            base_url=access.base_url or "https://api.openai.com/v1",
            timeout=WAITS,
            max_retries=0,
            http_client=http,
        )
        if access.base_url is None:
            yield OpenAIProvider(openai_client=client)
        else:
            yield OpenAICompatibleProvider(COMPATIBLE, openai_client=client)
