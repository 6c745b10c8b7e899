"""The name of a model: `PROVIDER:NAME`, then its options as `?name=value&name=value`."""

import difflib
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from headway.domain.errors import InvalidInput
from headway.domain.values import Value

Provider: TypeAlias = Literal["anthropic", "openai", "bedrock", "scripted"]
Completion: TypeAlias = Literal["tool", "answer"]
Effort: TypeAlias = Literal["off", "low", "medium", "high"]
Api: TypeAlias = Literal["chat", "responses"]

PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)
SCRIPTED: Final = "scripted"
TOKENS_MIN: Final = 16
TOKENS_MAX: Final = 100_000_000
OUTPUT_DEFAULT: Final = 8_192
OUTPUT_THINKING: Final = 32_768  # what a model thinks counts, and some ask for half of that
OPTIONS: Final = {
    "completion": "tool|answer",
    "output": "TOKENS",
    "window": "TOKENS",
    "effort": "off|low|medium|high",
    "api": "chat|responses",
}


class Options(Value):
    """What a name says beside the model; None is what the model does by itself."""

    completion: Completion = "tool"
    output: int = OUTPUT_DEFAULT
    window: int | None = None
    effort: Effort | None = None
    api: Api = "chat"


class ModelName(Value):
    """A name taken apart; `whole` is how it was written."""

    whole: str
    provider: Provider
    model: str
    options: Options = Options()

    @property
    def bare(self) -> str:
        """Return the name without its options."""
        return f"{self.provider}:{self.model}"


def read_name(name: str) -> ModelName:
    """Return a name taken apart.

    Raises InvalidInput for what cannot be a model's name, an unknown provider or option, and a
    value that an option does not take.
    """
    provider, colon, rest = name.partition(":")
    if not colon or not rest.strip() or name != name.strip():
        raise _unknown(name, f"{name!r} is not the name of a model")
    known = next((each for each in PROVIDERS if each == provider), None)
    if known is None:
        raise _unknown(name, f"No provider of models is called {provider!r}")
    if known == SCRIPTED:  # a path may hold any character
        return ModelName(whole=name, provider=known, model=rest)
    model, _, options = rest.partition("?")
    if not model or not model.isprintable() or " " in model:
        raise _unknown(name, f"{model!r} is not the name of a model of {provider}")
    read = _options(name, options)
    if read.api != Options().api and known != "openai":
        raise _unusable(name, f"the option api is for openai alone, not for {known}.")
    return ModelName(whole=name, provider=known, model=model, options=read)


def _options(name: str, text: str) -> Options:
    given: dict[str, str] = {}
    for written in text.split("&") if text else ():
        option, _, value = written.partition("=")
        if option not in OPTIONS:
            raise _unusable(name, f"no option is called {option!r}.{_near(option, [*OPTIONS])}")
        if option in given:
            raise _unusable(name, f"the option {option} is given twice.")
        given[option] = value
    effort = _effort(name, given["effort"]) if "effort" in given else None
    output = OUTPUT_THINKING if effort in {"medium", "high"} else OUTPUT_DEFAULT
    return Options(
        completion=_completion(name, given.get("completion", "tool")),
        output=_tokens(name, "output", given["output"]) if "output" in given else output,
        window=_tokens(name, "window", given["window"]) if "window" in given else None,
        effort=effort,
        api=_api(name, given.get("api", "chat")),
    )


def _completion(name: str, value: str) -> Completion:
    match value:
        case "tool" | "answer":
            return value
        case _:
            raise _not_taken(name, "completion", value, get_args(Completion))


def _effort(name: str, value: str) -> Effort:
    match value:
        case "off" | "low" | "medium" | "high":
            return value
        case _:
            raise _not_taken(name, "effort", value, get_args(Effort))


def _api(name: str, value: str) -> Api:
    match value:
        case "chat" | "responses":
            return value
        case _:
            raise _not_taken(name, "api", value, get_args(Api))


def _tokens(name: str, option: str, value: str) -> int:
    digits = value.replace("_", "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(TOKENS_MAX))):
        raise _not_taken(name, option, value, ())
    tokens = int(digits)
    if not TOKENS_MIN <= tokens <= TOKENS_MAX:
        raise _not_taken(name, option, value, ())
    return tokens


def _not_taken(name: str, option: str, value: str, known: Sequence[str]) -> InvalidInput:
    return _unusable(name, f"the option {option} does not take {value!r}.{_near(value, known)}")


def _unusable(name: str, what: str) -> InvalidInput:
    options = ", ".join(f"{option}={values}" for option, values in OPTIONS.items())
    return InvalidInput(
        f"In the model {name!r}, {what}",
        remedy=f"Write PROVIDER:NAME?OPTION=VALUE&OPTION=VALUE, with any of {options}; "
        f"TOKENS are {TOKENS_MIN} to {TOKENS_MAX:,}.",
        details={"kind": "model_option", "model": name, "options": list(OPTIONS)},
    )


def _unknown(name: str, what: str) -> InvalidInput:
    provider, _, _ = name.partition(":")
    near = "" if provider in PROVIDERS else _near(provider, PROVIDERS)
    return InvalidInput(
        f"{what}.{near}",
        remedy=f"Write PROVIDER:NAME, with one of these providers: {', '.join(PROVIDERS)}.",
        details={"kind": "model_unknown", "model": name, "providers": list(PROVIDERS)},
    )


def _near(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" Did you mean {near[0]}?" if near else ""
