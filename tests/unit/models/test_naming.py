"""A model's name says its provider, itself and its options, or what is wrong with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from headway.adapters.models.access import access_to
from headway.adapters.models.choosing import choose_model
from headway.adapters.models.naming import Options, read_name
from headway.domain.errors import InvalidInput
from headway.ports.models import Traits

HERE = Path()
ANTHROPIC = {"ANTHROPIC_API_KEY": "a-key"}


def refused(name: str, environment: dict[str, str]) -> InvalidInput:
    with pytest.raises(InvalidInput) as refusal:
        choose_model(name, HERE, environment)
    return refusal.value


def test_a_name_may_hold_what_providers_put_into_theirs() -> None:
    arn = "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x"
    names = ("openai:vendor/model:free", "openai:gpt-oss:20b", f"bedrock:{arn}")
    for name in names:
        assert read_name(name).bare == name


def test_options_follow_a_question_mark() -> None:
    read = read_name("openai:qwen3:8b?completion=answer&output=4_096&window=32768&effort=off")
    assert read.bare == "openai:qwen3:8b"
    assert read.options == Options(completion="answer", output=4_096, window=32_768, effort="off")


def test_a_model_that_thinks_for_long_has_room_to_say_something_as_well() -> None:
    assert read_name("anthropic:c?effort=low").options.output == 8_192
    assert read_name("anthropic:c?effort=high").options.output == 32_768
    assert read_name("anthropic:c?effort=high&output=20_000").options.output == 20_000


def test_choosing_a_model_imports_none_of_its_libraries() -> None:
    look = (
        "import sys; from pathlib import Path; "
        "from headway.adapters.models.choosing import choose_model; "
        "choose_model('anthropic:claude-opus-5-5', Path(), {'ANTHROPIC_API_KEY': 'k'}); "
        "print({'anthropic', 'httpx2', 'openai', 'pydantic', 'pydantic_ai'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_a_path_of_a_transcript_may_hold_a_question_mark() -> None:
    assert read_name("scripted:what?.yaml").model == "what?.yaml"


def test_options_are_what_a_run_must_know_of_its_model() -> None:
    name = "anthropic:claude-opus-5-5?completion=answer&output=100&window=5000"
    model = choose_model(name, HERE, ANTHROPIC)
    assert model.name == name, "another worker is to choose the same"
    assert model.traits == Traits(answers=True, window=5_000, output_tokens_max=100)


def test_the_window_of_a_known_model_is_known_and_of_others_is_not() -> None:
    known = choose_model("anthropic:claude-opus-5-5", HERE, ANTHROPIC).traits.window
    assert known is not None
    assert known >= 200_000
    assert choose_model("anthropic:claude-of-old", HERE, ANTHROPIC).traits.window is None
    local = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}
    assert choose_model("openai:gpt-4.1", HERE, local).traits.window is None


@pytest.mark.parametrize("name", ["scripted:", "openai: gpt", "bedrock:"])
def test_who_wrote_a_provider_rightly_is_not_asked_whether_that_was_meant(name: str) -> None:
    assert "Did you mean" not in str(refused(name, {}))


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("", "model_unknown", "is not the name of a model"),
        ("gpt-5", "model_unknown", "is not the name of a model"),
        ("openai:", "model_unknown", "is not the name of a model"),
        (" openai:gpt", "model_unknown", "is not the name of a model"),
        ("openai: gpt", "model_unknown", "is not the name of a model of openai"),
        ("openai:?output=9", "model_unknown", "is not the name of a model of openai"),
        ("opena:gpt", "model_unknown", "Did you mean openai?"),
        ("openai:gpt?outputs=9", "model_option", "Did you mean output?"),
        ("openai:gpt?", "model_key_missing", "OPENAI_API_KEY"),
        ("openai:gpt?output", "model_option", "output does not take ''"),
        ("openai:gpt?output=many", "model_option", "output does not take 'many'"),
        ("openai:gpt?output=0", "model_option", "output does not take '0'"),
        ("openai:gpt?window=9999999999", "model_option", "window does not take"),
        ("openai:gpt?window=\u0663\u0663\u0663", "model_option", "window does not take"),
        ("openai:gpt?output=99&output=99", "model_option", "given twice"),
        ("openai:gpt?completion=answers", "model_option", "Did you mean answer?"),
        ("openai:gpt?effort=lo", "model_option", "Did you mean low?"),
        ("openai:gpt?api=response", "model_option", "Did you mean responses?"),
        ("anthropic:c?api=responses", "model_option", "for openai alone, not for anthropic"),
        ("bedrock:amazon.nova-pro-v1:0", "model_unknown", "not the id of a Claude model"),
    ],
)
def test_a_name_that_cannot_be_meant_is_refused_with_what_may_be(
    name: str, kind: str, told: str
) -> None:
    refusal = refused(name, {})
    assert refusal.details["kind"] == kind
    assert told in refusal.message
    assert refusal.remedy


@pytest.mark.parametrize(
    ("name", "environment", "told"),
    [
        ("anthropic:c", {}, "ANTHROPIC_API_KEY is not set"),
        ("anthropic:c", {"ANTHROPIC_API_KEY": "  "}, "ANTHROPIC_API_KEY is not set"),
        ("anthropic:c", {"ANTHROPIC_API_KEY": "a secret"}, "does not hold a key"),
        ("anthropic:c", {"ANTHROPIC_API_KEY": "s\u00e9cret"}, "does not hold a key"),
        ("anthropic:c", ANTHROPIC | {"ANTHROPIC_BASE_URL": "secret"}, "does not hold an address"),
        ("openai:c", {}, "OPENAI_API_KEY is not set"),
        ("openai:c", {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, "OPENAI_API_KEY is not set"),
        ("openai:c", {"OPENAI_BASE_URL": "ftp://secret@x/"}, "does not hold an address"),
        ("openai:c", {"OPENAI_BASE_URL": "http://h:secret/"}, "does not hold an address"),
        ("bedrock:anthropic.claude-x", {}, "AWS_REGION is not set"),
        ("bedrock:anthropic.claude-x", {"AWS_REGION": "r"}, "AWS has no credentials"),
        (
            "bedrock:anthropic.claude-x",
            {"AWS_REGION": "r", "AWS_PROFILE": "nobodys"},
            "The config profile (nobodys) could not be found",
        ),
    ],
)
def test_what_a_provider_needs_is_named_and_what_is_held_is_not_repeated(
    name: str, environment: dict[str, str], told: str
) -> None:
    refusal = refused(name, environment)
    assert refusal.details["kind"] == "model_key_missing"
    assert told in refusal.message
    assert "secret" not in refusal.message + refusal.remedy
    assert any(word in refusal.remedy for word in ("export ", "aws sso login"))


def test_a_server_of_ones_own_needs_no_key() -> None:
    local = access_to(read_name("openai:llama3.2"), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    assert local.key is None
    keyed = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "k"}
    assert access_to(read_name("openai:llama3.2"), keyed).key == "k"


def test_bedrock_takes_a_key_of_its_own_or_those_of_aws() -> None:
    name = read_name("bedrock:eu.anthropic.claude-x")
    region = {"AWS_DEFAULT_REGION": "eu-west-1"}
    bearer = access_to(name, region | {"AWS_BEARER_TOKEN_BEDROCK": "b"})
    assert (bearer.key, bearer.region) == ("b", "eu-west-1")
    pair = {"AWS_ACCESS_KEY_ID": "i", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}
    keys = access_to(name, region | pair)
    assert (keys.aws_id, keys.aws_secret, keys.aws_session) == ("i", "s", "t")
    assert set(keys.secrets) == {"i", "s", "t"}
    assert not any(f"'{secret}'" in repr(keys) for secret in keys.secrets)


def test_a_package_that_is_not_there_is_named_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headway.adapters.models.access.find_spec", lambda _: None)
    refusal = refused("bedrock:anthropic.claude-x", {})
    assert refusal.details["kind"] == "model_package_missing"
    assert "boto3" in refusal.message
    assert "pip install 'headway[bedrock]'" in refusal.remedy
    assert "pip install 'headway[agent]'" in refused("anthropic:c", {}).remedy
