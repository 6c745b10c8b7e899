"""Models: what answers a conversation."""

from typing import Literal, Protocol, TypeAlias

from headway.domain.runs.messages import ModelRequest, Reply

# transient: worth trying again as it is; expired: the credentials are not taken (any more);
# overflow: the conversation is longer than the model takes; refused: it will not answer this;
# unusable: the request or the model's name is wrong; malformed: the answer could not be read.
ModelProblem: TypeAlias = Literal[
    "transient", "expired", "overflow", "refused", "unusable", "malformed"
]


class ModelFailed(Exception):
    """A model gave no reply. `retry_after_ms` is what its provider asked to wait, if it said so."""

    def __init__(
        self, problem: ModelProblem, message: str, *, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.retry_after_ms = retry_after_ms


class Model(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """Return what the model is called, as `provider:name`."""

    async def reply(self, request: ModelRequest) -> Reply:
        """Return the model's reply. Raises ModelFailed; never retries by itself."""
