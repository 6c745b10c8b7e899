"""What a reply took and cost, by a list of prices that comes with a package: nobody is asked."""

from decimal import ROUND_HALF_UP
from typing import Final

from genai_prices import calc_price
from pydantic_ai.messages import ModelResponse

from headway.adapters.models.access import Access
from headway.adapters.models.naming import ModelName
from headway.domain.runs.messages import Usage

MILLIONTHS: Final = 1_000_000


def usage_of(name: ModelName, access: Access, response: ModelResponse) -> Usage:
    """Return what a reply took; the price is that of the provider, or of the server's address."""
    usage = response.usage
    return Usage(
        input_tokens=usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost=_cost(name, access, response),
    )


def _cost(name: ModelName, access: Access, response: ModelResponse) -> int | None:
    if response.usage.unmeasured_requests:  # it was not told what the reply took
        return None
    usage, at = response.usage, response.timestamp
    try:
        if name.provider == "openai" and access.base_url is not None:
            url = access.base_url
            price = calc_price(usage, name.model, provider_api_url=url, genai_request_timestamp=at)
        else:
            price = calc_price(
                usage, name.model, provider_id=name.provider, genai_request_timestamp=at
            )
    except LookupError:
        return None
    return int((price.total_price * MILLIONTHS).to_integral_value(ROUND_HALF_UP))
