"""Claude on Bedrock: Anthropic's wire in frames of AWS's, signed by AWS's own library."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from anthropic import AsyncAnthropicBedrock, DefaultAsyncHttpxClient
from botocore.eventstream import ParserError
from botocore.exceptions import BotoCoreError, ConnectionError, HTTPClientError  # noqa: A004
from pydantic_ai.exceptions import ModelAuthenticationError, ModelConnectionError
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from headway.adapters.models.access import Access
from headway.adapters.models.anthropic_client import WAITS
from headway.adapters.models.certificates import trusted

NONE_FOUND: Final = "Could not resolve AWS credentials"  # how Anthropic's library begins to say so


@asynccontextmanager
async def bedrock_model(model: str, access: Access) -> AsyncIterator[Model]:
    """Yield a Claude model on Bedrock; its connection is closed at the end."""
    async with DefaultAsyncHttpxClient(timeout=WAITS, verify=trusted()) as http:
        client = AsyncAnthropicBedrock(
            api_key=access.key,
            aws_access_key=access.aws_id,
            aws_secret_key=access.aws_secret,
            aws_session_token=access.aws_session,
            aws_profile=access.profile,
            aws_region=access.region,
            base_url=access.base_url,
            timeout=WAITS,
            max_retries=0,
            http_client=http,
        )
        with _told_alike(model):
            yield AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


@contextmanager
def _told_alike(model: str) -> Iterator[None]:
    """Raise what AWS's library raises as the errors that every other provider's come as."""
    try:
        yield
    except (ConnectionError, HTTPClientError) as error:  # credentials are fetched, too
        raise ModelConnectionError(model, str(error)) from error
    except BotoCoreError as error:
        raise ModelAuthenticationError(model, str(error)) from error
    except ParserError as error:
        raise ValueError(str(error)) from error
    except RuntimeError as error:
        if str(error).startswith(NONE_FOUND):
            raise ModelAuthenticationError(model, str(error)) from error
        raise
