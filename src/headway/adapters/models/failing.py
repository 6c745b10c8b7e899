"""Why there was no reply: what the libraries raise, in the words of our port.

What a provider says is passed on, cut, and without anything that was used to reach it. Of what it
says about credentials nothing is: some repeat a part of them.
"""

from math import ceil
from typing import Final

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from headway.adapters.models.access import ANTHROPIC_KEY, AWS_ID, BEDROCK_KEY, OPENAI_KEY, Access
from headway.adapters.models.naming import ModelName, Provider
from headway.domain.masking import masked
from headway.ports.models import ModelFailed, ModelProblem

# What bodies of no known form make the libraries raise, besides what is their own.
UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
FAILURES: Final = (AgentRunError, UserError, httpx2.TransportError, *UNREADABLE)

SAID_MAX: Final = 500
TOO_LARGE: Final = 413
AGAIN: Final = frozenset({408, 409, 425})
TRANSIENT: Final = (
    ModelRateLimitError,
    ModelUnavailableError,
    ModelServerError,
    ModelConnectionError,
)
# How servers that have no code for it say that a conversation is too long.
OVERFLOWS: Final = (
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
)
SIGN_IN: Final[dict[Provider, str]] = {
    "anthropic": f"Set {ANTHROPIC_KEY} to a key that is good",
    "openai": f"Set {OPENAI_KEY} to a key that is good",
    "bedrock": f"Sign in with `aws sso login`, or set {AWS_ID} or {BEDROCK_KEY} anew",
}
NAME_ANOTHER: Final = " If the name is wrong, give another with --model PROVIDER:NAME."


class Failures:
    """Puts into words what went wrong with one model."""

    def __init__(self, name: ModelName, access: Access) -> None:
        self._name = name
        self._secrets = access.secrets

    def of(self, error: Exception) -> ModelFailed:
        """Return the failure that an exception of `FAILURES` stands for."""
        match error:
            case ModelAuthenticationError():
                remedy = SIGN_IN[self._name.provider]
                text = f"{self._name.bare} does not take the credentials{_status(error)}. {remedy}."
                return ModelFailed("expired", masked(text, self._secrets))
            case ModelAPIError() if _overflows(error):
                return self._failed("overflow", "cannot take a conversation that long", error)
            case ModelAPIError():
                return self._of_api(error)
            case ContentFilterError():
                return self._failed("refused", "is held back by its provider's filter", error)
            case httpx2.TransportError():
                return self._failed("transient", "is out of reach: the connection broke", error)
            case UserError():
                return self._failed("unusable", "cannot be asked so", error)
            case _:
                return self._failed("malformed", "gave a reply that cannot be read", error)

    def cut(self) -> ModelFailed:
        """Return the failure of a reply that did not come to its end."""
        return ModelFailed("transient", f"{self._name.bare} broke off in mid-reply.")

    def _of_api(self, error: ModelAPIError) -> ModelFailed:
        status = error.status_code if isinstance(error, ModelHTTPError) else None
        if isinstance(error, TRANSIENT) or status in AGAIN:
            return self._failed("transient", "cannot answer now", error)
        if isinstance(error, ModelQuotaExceededError):
            return self._failed("unpaid", "does not answer: the account has no credit", error)
        if isinstance(error, ModelNotFoundError):
            what = "is not a model there, or not for this key"
            return self._failed("unusable", what, error, NAME_ANOTHER)
        if isinstance(error, ModelRequestRejectedError) or status is not None:
            return self._failed("unusable", "does not take the request", error, NAME_ANOTHER)
        if isinstance(error.__cause__, UNREADABLE):
            return self._failed("malformed", "gave a reply that cannot be read", error)
        return self._failed("transient", "broke off in mid-reply", error)

    def _failed(
        self, problem: ModelProblem, what: str, error: Exception, remedy: str = ""
    ) -> ModelFailed:
        said = _said(error)
        told = f" It says: {said}" if said else ""
        wait = error.retry_after if isinstance(error, ModelAPIError) else None
        return ModelFailed(
            problem,
            masked(f"{self._name.bare} {what}{_status(error)}.{told}{remedy}", self._secrets),
            retry_after_ms=None if wait is None else ceil(wait * 1_000),
        )


def _status(error: Exception) -> str:
    return f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""


def _overflows(error: ModelAPIError) -> bool:
    if isinstance(error, ModelContextWindowExceededError):
        return True
    if isinstance(error, ModelHTTPError) and error.status_code == TOO_LARGE:
        return True
    said = _said(error).lower()
    return not isinstance(error, TRANSIENT) and any(each in said for each in OVERFLOWS)


def _said(error: Exception) -> str:
    """Return what the provider said, or the library in its place, on one line."""
    body = error.body if isinstance(error, ModelAPIError | UnexpectedModelBehavior) else None
    text = _message(body) if isinstance(body, dict) else body
    words = text if isinstance(text, str) and text else _reason(error)
    line = " ".join(words.split())
    return line if len(line) <= SAID_MAX else line[:SAID_MAX] + " [...]"


def _message(body: dict[str, object]) -> str | None:
    inner = body.get("error")
    held = inner if isinstance(inner, dict) else body
    message = held.get("message")
    return message if isinstance(message, str) else inner if isinstance(inner, str) else None


def _reason(error: BaseException) -> str:
    """Return the deepest cause in words: what failed on the line, not who passed it on."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
