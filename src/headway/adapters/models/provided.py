"""A model of a provider, named and reachable; its libraries are imported with the first request."""

from functools import cached_property
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from headway.adapters.models.access import Access
from headway.adapters.models.naming import ModelName
from headway.domain.runs.messages import ModelRequest, Reply
from headway.ports.models import Heard, Traits, unheard

if TYPE_CHECKING:
    from headway.adapters.models.direct import DirectModel


class ProvidedModel:
    """One model of Anthropic, OpenAI (and who speaks like it) or Bedrock."""

    def __init__(self, name: ModelName, access: Access) -> None:
        self._name = name
        self._access = access
        self._direct: DirectModel | None = None

    @property
    def name(self) -> str:
        """Return the name with its options, as it was written."""
        return self._name.whole

    @cached_property
    def traits(self) -> Traits:
        """Return what the options say, and the window where that is known."""
        options = self._name.options
        return Traits(
            answers=options.completion == "answer",
            window=options.window or self._known_window(),
            output_tokens_max=options.output,
        )

    async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
        """Return the model's reply. Raises ModelFailed; never retries by itself."""
        if self._direct is None:
            self._direct = await run_sync(self._load)
        return await self._direct.reply(request, heard)

    def _known_window(self) -> int | None:
        """Return the window of a provider's own model; of another server's nothing is known."""
        if self._name.provider == "openai" and self._access.base_url is not None:
            return None
        from headway.adapters.models.windows import window_of

        return window_of(self._name.provider, self._name.model)

    def _load(self) -> "DirectModel":
        from headway.adapters.models.direct import DirectModel

        return DirectModel(self._name, self._access)
