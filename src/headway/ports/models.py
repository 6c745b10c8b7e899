"""Models: what answers a conversation."""

from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

from headway.domain.runs.messages import ModelRequest, Reply
from headway.domain.values import Value

# transient: worth trying again as it is; expired: the credentials are not taken (any more);
# unpaid: they are, but their account has no credit (any more);
# overflow: the conversation is longer than the model takes; refused: it will not answer this;
# unusable: the request or the model's name is wrong; malformed: the answer could not be read.
ModelProblem: TypeAlias = Literal[
    "transient", "expired", "unpaid", "overflow", "refused", "unusable", "malformed"
]

# The kind of an InvalidInput that says which credentials of a model are not there.
KEY_MISSING: Final = "model_key_missing"

# Called whenever a model is heard of: it is at work, though its reply has not come to its end.
Heard: TypeAlias = Callable[[], None]


def unheard() -> None:
    """Take no notice."""


class ModelFailed(Exception):
    """A model gave no reply. `retry_after_ms` is what its provider asked to wait, if it said so."""

    def __init__(
        self, problem: ModelProblem, message: str, *, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.retry_after_ms = retry_after_ms


class NamedModel(Value):
    """A model by the name that says the same in every folder.

    `warning` says what is not there to reach it with: whoever asks it may have that.
    """

    name: str
    warning: str | None = None


class Traits(Value):
    """What a run must know of its model.

    `answers`: it ends its turn with JSON instead of calling the tool that completes a step.
    `window` is how many tokens it takes at once, None where that is not known.
    """

    answers: bool = False
    window: int | None = None
    output_tokens_max: int = 8_192


class Model(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """Return what the model is called, as `provider:name`."""

    @property
    def traits(self) -> Traits:
        """Return what a run must know of it."""

    async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
        """Return the model's reply. Raises ModelFailed; never retries by itself.

        `heard` is called for each part of a reply that comes in parts.
        """
