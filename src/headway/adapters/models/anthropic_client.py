"""Claude, from Anthropic itself.

A client lives for one reply: a connection that lay idle while tools ran is often a dead one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from headway.adapters.models.access import Access
from headway.adapters.models.certificates import trusted

CONNECT_SECONDS: Final = 30
WAITS: Final = Timeout(None, connect=CONNECT_SECONDS)  # how long to bear silence, the loop knows


@asynccontextmanager
async def anthropic_model(model: str, access: Access) -> AsyncIterator[Model]:
    """Yield a model of Anthropic's; its connection is closed at the end."""
    async with DefaultAsyncHttpxClient(timeout=WAITS, verify=trusted()) as http:
        client = AsyncAnthropic(
            api_key=access.key,
            base_url=access.base_url or "https://api.anthropic.com",
            timeout=WAITS,
            max_retries=0,
            http_client=http,
        )
        yield AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))
