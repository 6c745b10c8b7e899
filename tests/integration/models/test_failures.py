"""Why there was no reply: each provider's own way to say so, in the words of one port."""

import socket
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from headway.adapters.models.access import Access
from headway.adapters.models.choosing import choose_model
from headway.adapters.models.naming import read_name
from headway.adapters.models.provided import ProvidedModel
from headway.domain.runs.messages import ModelRequest
from headway.ports.models import ModelFailed, ModelProblem
from tests.support.provided import (
    ANTHROPIC,
    BEDROCK,
    GOAL,
    KEY,
    OPENAI,
    PROVIDERS,
    RESPONSES,
    Provider,
    Talk,
    talk_with,
)
from tests.support.provider_acts import Babbles, BreaksOff, Call, Fails, Says

pytestmark = pytest.mark.anyio

HALF_SAID = Says(text="one two three four five six seven eight")
# How each provider says what: as an answer, or in a stream that had begun.
SAYINGS: list[tuple[Provider, ModelProblem, Fails]] = [
    (ANTHROPIC, "transient", Fails(429, "rate_limit_error", "slow down")),
    (ANTHROPIC, "transient", Fails(500, "api_error", "oops")),
    (ANTHROPIC, "transient", Fails(529, "overloaded_error", "Overloaded")),
    (ANTHROPIC, "transient", Fails(529, "overloaded_error", "Overloaded", inside=True)),
    (ANTHROPIC, "transient", Fails(500, "api_error", "oops", inside=True)),
    (ANTHROPIC, "expired", Fails(401, "authentication_error", f"invalid {KEY}")),
    (ANTHROPIC, "expired", Fails(403, "permission_error", f"{KEY} may not")),
    (
        ANTHROPIC,
        "overflow",
        Fails(400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"),
    ),
    (ANTHROPIC, "overflow", Fails(413, "request_too_large", "Request exceeds the maximum size")),
    (ANTHROPIC, "unusable", Fails(404, "not_found_error", "model: claude-opus-5-5")),
    (ANTHROPIC, "unpaid", Fails(400, "invalid_request_error", "Your credit balance is too low")),
    (ANTHROPIC, "unusable", Fails(400, "invalid_request_error", f"tools.0: {KEY} is no tool")),
    (OPENAI, "transient", Fails(429, "rate_limit_exceeded", "slow down")),
    (OPENAI, "transient", Fails(500, "server_error", "oops")),
    (OPENAI, "transient", Fails(503, "service_unavailable", "The engine is overloaded")),
    (OPENAI, "transient", Fails(500, "server_error", "oops", inside=True)),
    (OPENAI, "transient", Fails(408, "timeout", "too late")),
    (OPENAI, "expired", Fails(401, "invalid_api_key", f"Incorrect API key provided: {KEY}")),
    (
        OPENAI,
        "overflow",
        Fails(400, "context_length_exceeded", "This model's maximum context length is 1 token"),
    ),
    (OPENAI, "overflow", Fails(400, "invalid_request", "exceeds the available context size")),
    (OPENAI, "unusable", Fails(404, "model_not_found", "The model `gpt-5.6-sol` does not exist")),
    (OPENAI, "unpaid", Fails(429, "insufficient_quota", "You exceeded your current quota")),
    (OPENAI, "unusable", Fails(400, "invalid_request_error", f"{KEY} is no tool")),
    (RESPONSES, "transient", Fails(500, "server_error", "oops", inside=True)),
    (RESPONSES, "transient", Fails(429, "rate_limit_exceeded", "slow down", inside=True)),
    (RESPONSES, "expired", Fails(401, "invalid_api_key", f"Incorrect API key provided: {KEY}")),
    (RESPONSES, "overflow", Fails(400, "context_length_exceeded", "too long", inside=True)),
    (RESPONSES, "unusable", Fails(404, "model_not_found", "no such model")),
    (BEDROCK, "transient", Fails(429, "ThrottlingException", "Too many requests")),
    (BEDROCK, "transient", Fails(500, "InternalServerException", "oops")),
    (BEDROCK, "transient", Fails(503, "ServiceUnavailableException", "Overloaded")),
    (BEDROCK, "transient", Fails(429, "ThrottlingException", "Too many requests", inside=True)),
    (BEDROCK, "transient", Fails(500, "ModelStreamErrorException", "oops", inside=True)),
    (BEDROCK, "expired", Fails(403, "ExpiredTokenException", f"The token {KEY} has expired")),
    (BEDROCK, "expired", Fails(403, "UnrecognizedClientException", "The token is invalid")),
    (BEDROCK, "expired", Fails(403, "AccessDeniedException", "You don't have access")),
    (BEDROCK, "overflow", Fails(400, "ValidationException", "Input is too long for the model")),
    (BEDROCK, "unusable", Fails(404, "ResourceNotFoundException", "no such model")),
    (BEDROCK, "unusable", Fails(400, "ValidationException", "The model identifier is invalid")),
]


def named(value: object) -> str | None:
    match value:
        case Provider(name=name):
            return name
        case Fails(status=status, code=code, inside=inside):
            return f"{status}-{code}{'-inside' if inside else ''}"
        case _:
            return None


@pytest.fixture(params=PROVIDERS, ids=lambda each: each.name)
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    whose: Provider = request.param
    with talk_with(whose) as begun:
        yield begun


@pytest.mark.parametrize(("whose", "problem", "fails"), SAYINGS, ids=named)
async def test_what_a_provider_says_is_understood_and_no_key_is_told(
    whose: Provider, problem: ModelProblem, fails: Fails
) -> None:
    with talk_with(whose) as talk:
        failed = await talk.failure(fails)
        assert len(talk.fake.asked) == 1, "nobody but the loop tries again"
    assert failed.problem == problem
    assert str(failed).startswith(whose.bare)
    assert not any(secret in str(failed) for secret in (KEY, "AKIANOTTOBETOLD"))
    if problem == "expired":
        assert fails.message not in str(failed), "some repeat a part of the key"
        assert any(name in str(failed) for name in whose.settings(""))
    if problem == "unusable" and fails.status == 404:
        assert "--model PROVIDER:NAME" in str(failed)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ((("retry-after", "7"),), 7_000, 7_000),
        ((("retry-after-ms", "1500"), ("retry-after", "9")), 1_500, 1_500),
        ((("retry-after", formatdate(4_102_444_800, usegmt=True)),), 3_600_000, 10**13),
        ((("retry-after", "soon"),), None, None),
    ],
    ids=["seconds", "milliseconds", "date", "nonsense"],
)
async def test_a_wait_that_is_asked_for_is_told(
    talk: Talk, headers: tuple[tuple[str, str], ...], least: int | None, most: int | None
) -> None:
    failed = await talk.failure(Fails(429, "ThrottlingException", "slow down", headers))
    assert failed.problem == "transient"
    if least is None or most is None:
        assert failed.retry_after_ms is None
    else:
        assert failed.retry_after_ms is not None
        assert least <= failed.retry_after_ms <= most


@pytest.mark.parametrize("abruptly", [True, False], ids=["abruptly", "as-if-whole"])
async def test_a_reply_that_breaks_off_is_no_reply(talk: Talk, *, abruptly: bool) -> None:
    failed = await talk.failure(BreaksOff(HALF_SAID, abruptly=abruptly))
    assert failed.problem == "transient"


@pytest.mark.parametrize("abruptly", [True, False], ids=["abruptly", "as-if-whole"])
async def test_a_call_that_breaks_off_is_no_call(talk: Talk, *, abruptly: bool) -> None:
    says = Says(calls=(Call("c1", "bash", '{"command": "rm -rf build dist"}'),))
    failed = await talk.failure(BreaksOff(says, abruptly=abruptly))
    assert failed.problem == "transient"


@pytest.mark.parametrize(
    "babbles",
    [
        Babbles(b"<html>Bad gateway</html>", "text/html"),
        Babbles(b"data: {nonsense\n\n"),
        Babbles(b'{"an": "object"}', "application/json"),
        Babbles(b'data: ["a", "list"]\n\n'),
        Babbles(b"\xff\xfe\x00\x01" * 8, "application/octet-stream"),
        Babbles(b""),
    ],
    ids=["html", "no-json", "object", "list", "bytes", "nothing"],
)
async def test_what_is_no_reply_at_all_is_malformed(talk: Talk, babbles: Babbles) -> None:
    assert (await talk.failure(babbles)).problem == "malformed"


@pytest.mark.parametrize("whose", PROVIDERS, ids=lambda each: each.name)
async def test_a_provider_that_nobody_reaches_is_tried_again(whose: Provider) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = choose_model(whose.model, Path(), whose.settings(f"http://127.0.0.1:{port}"))
    with pytest.raises(ModelFailed) as failed:
        await model.reply(ModelRequest(system="", messages=(GOAL,)))
    assert failed.value.problem == "transient"


async def test_a_password_in_an_address_is_not_told() -> None:
    with talk_with(OPENAI) as talk:
        address = talk.fake.url.replace("//", "//me:open-sesame@") + "/v1"
        talk.fake.does(Fails(400, "invalid_request_error", "open-sesame is no tool"))
        settings = {"OPENAI_BASE_URL": address}
        model = choose_model("openai:local", Path(), settings)
        with pytest.raises(ModelFailed) as failed:
            await model.reply(ModelRequest(system="", messages=(GOAL,)))
    assert "open-sesame" not in str(failed.value)
    assert "open-sesame" not in repr(model)


async def test_a_sign_in_that_ran_out_is_told_with_how_to_renew_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "[profile signed-in]\nsso_start_url = https://127.0.0.1/start\nsso_region = us-east-1\n"
        "sso_account_id = 123456789012\nsso_role_name = r\nregion = us-east-1\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    with talk_with(BEDROCK) as talk:
        settings = {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": talk.fake.url, "AWS_PROFILE": "signed-in"}
        model = choose_model(BEDROCK.model, Path(), settings)
        with pytest.raises(ModelFailed, match="aws sso login") as failed:
            await model.reply(ModelRequest(system="", messages=(GOAL,)))
        assert talk.fake.asked == []
    assert failed.value.problem == "expired"


async def test_credentials_that_are_gone_since_the_model_was_chosen_are_expired() -> None:
    model = ProvidedModel(read_name(BEDROCK.model), Access(region="us-east-1"))
    with pytest.raises(ModelFailed) as failed:
        await model.reply(ModelRequest(system="", messages=(GOAL,)))
    assert failed.value.problem == "expired"
