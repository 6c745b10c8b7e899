"""What a provider is reached with: looked for in the environment before anything is made for a run.

Only the names of variables stand in messages, never what they hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, assert_never
from urllib.parse import urlsplit

from headway.adapters.models.naming import ModelName
from headway.domain.errors import InvalidInput
from headway.ports.models import KEY_MISSING

ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"
ANTHROPIC_URL: Final = "ANTHROPIC_BASE_URL"
OPENAI_KEY: Final = "OPENAI_API_KEY"
OPENAI_URL: Final = "OPENAI_BASE_URL"
OPENAI_HOST: Final = "api.openai.com"
BEDROCK_KEY: Final = "AWS_BEARER_TOKEN_BEDROCK"
BEDROCK_URL: Final = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
AWS_ID: Final = "AWS_ACCESS_KEY_ID"
AWS_SECRET: Final = "AWS_SECRET_ACCESS_KEY"
AWS_SESSION: Final = "AWS_SESSION_TOKEN"
AWS_PROFILE: Final = "AWS_PROFILE"
AWS_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a provider is reached.

    `key` is None where a server asks for none, or where AWS's own chain of credentials is asked,
    which begins with `aws_id`, `aws_secret` and `aws_session`. `base_url` is None for the
    provider's own.
    """

    key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    region: str | None = None
    profile: str | None = None
    aws_id: str | None = field(default=None, repr=False)
    aws_secret: str | None = field(default=None, repr=False)
    aws_session: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return all that must not stand in a message."""
        parts = urlsplit(self.base_url or "")
        held = (self.key, self.aws_id, self.aws_secret, self.aws_session, parts.password)
        return tuple(each for each in held if each)


def access_to(name: ModelName, environment: Mapping[str, str]) -> Access:
    """Return how the model's provider is reached.

    Raises InvalidInput where a package or a key is missing, or a variable holds what cannot be one.
    """
    match name.provider:
        case "anthropic":
            _need(name, "agent", "pydantic_ai", "anthropic")
            base_url = _address(name, ANTHROPIC_URL, environment)
            return Access(key=_key(name, ANTHROPIC_KEY, environment), base_url=base_url)
        case "openai":
            _need(name, "agent", "pydantic_ai", "openai")
            return _openai(name, environment)
        case "bedrock":
            _need(name, "bedrock", "pydantic_ai", "anthropic", "boto3")
            return _bedrock(name, environment)
        case "scripted":
            return Access()
        case _:
            assert_never(name.provider)


def _openai(name: ModelName, environment: Mapping[str, str]) -> Access:
    base_url = _address(name, OPENAI_URL, environment)
    own = base_url is None or urlsplit(base_url).hostname == OPENAI_HOST
    if not own and not environment.get(OPENAI_KEY, "").strip():
        return Access(base_url=base_url)
    return Access(key=_key(name, OPENAI_KEY, environment), base_url=None if own else base_url)


def _bedrock(name: ModelName, environment: Mapping[str, str]) -> Access:
    if not (name.model.startswith("arn:") or "anthropic.claude" in name.model):
        raise InvalidInput(
            f"{name.model!r} is not the id of a Claude model on Bedrock.",
            remedy="Write bedrock:anthropic.claude-..., with us., eu. or global. before it for an "
            "inference profile, or the profile's ARN. Bedrock's other models are reached as "
            f"openai:NAME, with {OPENAI_URL} set to Bedrock's OpenAI-compatible address.",
            details={"kind": "model_unknown", "model": name.whole},
        )
    from headway.adapters.models.aws import credentials_missing, region_of

    profile = environment.get(AWS_PROFILE) or None
    region = next((environment[each] for each in AWS_REGIONS if environment.get(each)), None)
    region = region or region_of(profile)
    if region is None:
        raise _missing(name, AWS_REGIONS[0], "us-east-1, or the region your models are in")
    base_url = _address(name, BEDROCK_URL, environment)
    if environment.get(BEDROCK_KEY, "").strip():
        key = _key(name, BEDROCK_KEY, environment)
        return Access(key=key, base_url=base_url, region=region)
    own = {each: environment.get(each) or None for each in (AWS_ID, AWS_SECRET, AWS_SESSION)}
    if own[AWS_ID] is None or own[AWS_SECRET] is None:
        missing = credentials_missing(profile)
        if missing is not None:
            raise _no_credentials(name, missing)
        return Access(base_url=base_url, region=region, profile=profile)
    return Access(
        base_url=base_url,
        region=region,
        aws_id=own[AWS_ID],
        aws_secret=own[AWS_SECRET],
        aws_session=own[AWS_SESSION],
    )


def _need(name: ModelName, extra: str, *packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InvalidInput(
            f"The model {name.whole!r} needs packages that are not installed: "
            f"{', '.join(missing)}.",
            remedy=f"Install them with Headway: pip install 'headway[{extra}]'.",
            details={"kind": "model_package_missing", "model": name.whole, "extra": extra},
        )


def _key(name: ModelName, variable: str, environment: Mapping[str, str]) -> str:
    key = environment.get(variable, "").strip()
    if not key:
        raise _missing(name, variable, "your key")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise _unusable(
            name, variable, "a key: a line of printable characters without spaces", "your key"
        )
    return key


def _address(name: ModelName, variable: str, environment: Mapping[str, str]) -> str | None:
    text = environment.get(variable, "").strip()
    if not text:
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # one that is no number is found out here
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _unusable(
            name, variable, "an address of HTTP", "an address such as http://127.0.0.1:11434/v1"
        )
    return text


def _missing(name: ModelName, variable: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"The model {name.whole!r} cannot be asked: {variable} is not set.",
        remedy=f"Set it where headway runs: export {variable}=... ({what}). "
        "docs/howto/use-a-model.md names what each provider needs.",
        details={"kind": KEY_MISSING, "model": name.whole, "variable": variable},
    )


def _unusable(name: ModelName, variable: str, form: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"The model {name.whole!r} cannot be asked: {variable} does not hold {form}.",
        remedy=f"Set it again: export {variable}=... ({what}).",
        details={"kind": KEY_MISSING, "model": name.whole, "variable": variable},
    )


def _no_credentials(name: ModelName, why: str) -> InvalidInput:
    return InvalidInput(
        f"The model {name.whole!r} cannot be asked: {why}.",
        remedy=f"Sign in with `aws sso login`, or set {AWS_PROFILE}, or {AWS_ID} and "
        f"{AWS_SECRET}, or {BEDROCK_KEY}.",
        details={"kind": KEY_MISSING, "model": name.whole, "variable": AWS_ID},
    )
