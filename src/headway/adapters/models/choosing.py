"""Choosing a model by its name, `provider:model`, before anything is made for it."""

import difflib
from pathlib import Path
from typing import Final

from headway.adapters.models.scripted import ScriptedModel
from headway.adapters.models.transcript import read_transcript
from headway.domain.errors import InvalidInput
from headway.ports.models import Model

SCRIPTED: Final = "scripted"
PROVIDERS: Final = (SCRIPTED,)


def choose_model(name: str, folder: Path) -> Model:
    """Return the model of a name; a file it names is looked for in `folder`.

    The model's own name says the same in every folder. Raises InvalidInput for a name that cannot
    be a model's, an unknown provider, a transcript that cannot be used.
    """
    provider, colon, model = name.partition(":")
    if not colon or not model or provider != provider.strip():
        raise _unknown(name, f"{name!r} is not the name of a model")
    if provider == SCRIPTED:
        return ScriptedModel(read_transcript((folder / Path(model).expanduser()).resolve()))
    raise _unknown(name, f"No provider of models is called {provider!r}")


def _unknown(name: str, what: str) -> InvalidInput:
    near = difflib.get_close_matches(name.partition(":")[0], PROVIDERS, n=1)
    meant = f" Did you mean {near[0]}:?" if near else ""
    return InvalidInput(
        f"{what}.{meant}",
        remedy=f"Write PROVIDER:MODEL, with one of these providers: {', '.join(PROVIDERS)}.",
        details={"kind": "model_unknown", "model": name, "providers": list(PROVIDERS)},
    )
