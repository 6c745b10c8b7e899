"""Choosing a model by its name, before anything is made for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headway.adapters.models.access import access_to
from headway.adapters.models.naming import SCRIPTED, read_name
from headway.adapters.models.provided import ProvidedModel
from headway.adapters.models.scripted import ScriptedModel
from headway.adapters.models.transcript import read_transcript
from headway.domain.errors import InvalidInput
from headway.ports.models import KEY_MISSING, Model, NamedModel

KEY_NEEDED: Final = "A worker that lacks it too cannot begin the run."


def choose_model(name: str, folder: Path, environment: Mapping[str, str]) -> Model:
    """Return the model of a name; a file it names is looked for in `folder`.

    The model's own name says the same in every folder. Keys are those of `environment`. Raises
    InvalidInput for a name that cannot be a model's, an unknown provider or option, a key or a
    package that is missing, a transcript that cannot be used.
    """
    read = read_name(name)
    if read.provider == SCRIPTED:
        path = (folder / Path(read.model).expanduser()).resolve()
        return ScriptedModel(read_transcript(path))
    return ProvidedModel(read, access_to(read, environment))


def name_model(name: str, folder: Path, environment: Mapping[str, str]) -> NamedModel:
    """Return a model by name for whom another process will ask: its keys are looked for there.

    Raises InvalidInput as `choose_model` for all else.
    """
    try:
        return NamedModel(name=choose_model(name, folder, environment).name)
    except InvalidInput as fault:
        if fault.details.get("kind") != KEY_MISSING:
            raise
        return NamedModel(name=name, warning=f"{fault.message} {KEY_NEEDED} {fault.remedy}")
