"""How much a model takes at once, from a list that comes with a package: nobody is asked."""

from genai_prices.data_snapshot import get_snapshot


def window_of(provider: str, model: str) -> int | None:
    """Return how many tokens a model takes at once, None where that is not known."""
    try:
        _, known = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    return known.context_window
