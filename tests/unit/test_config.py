"""Settings are read once; what cannot be meant is refused, what may be a slip is told."""

import os
from pathlib import Path

import pytest

from headway.config import ConfigError, read_settings


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = read_settings({"HOME": "/home/ann"})
    assert settings.home == Path("/home/ann/.headway")
    assert settings.user_home == Path("/home/ann")
    assert (settings.workflow_path, settings.gates, settings.warnings) == ((), "advisory", ())


def test_settings_are_taken_from_the_environment(tmp_path: Path) -> None:
    environ = {
        "HOME": "/home/ann",
        "HEADWAY_HOME": "~/elsewhere",
        "HEADWAY_WORKFLOW_PATH": os.pathsep.join([str(tmp_path), "", str(tmp_path)]),
        "HEADWAY_GATES": "enforce",
        "HEADWAY_LOG_LEVEL": "DEBUG",
        "HEADWAY_TEST_DATABASE_URL": "postgresql://x",
        "HEADWAY_HOST": "::1",
        "HEADWAY_PORT": "7000",
        "HEADWAY_TOKEN": " 0123456789abcdef\n",
        "HEADWAY_ENGINE_URL": "http://elsewhere:7430",
        "HEADWAY_ENGINE_TOKEN": "fedcba9876543210",
        "HEADWAY_CHECKS": "Run",
    }
    settings = read_settings(environ)
    assert settings.home == Path("/home/ann/elsewhere")
    assert settings.workflow_path == (str(tmp_path),)
    assert (settings.gates, settings.log_level, settings.warnings) == ("enforce", "debug", ())
    assert (settings.host, settings.port, settings.token) == ("::1", 7000, "0123456789abcdef")
    assert (settings.engine_url, settings.engine_token) == (
        "http://elsewhere:7430",
        "fedcba9876543210",
    )
    assert settings.checks == "run"
    assert "0123456789abcdef" not in repr(settings)
    assert "fedcba9876543210" not in repr(settings)
    assert "HEADWAY_TOKEN" not in settings.environment
    assert "HEADWAY_ENGINE_TOKEN" not in settings.environment


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HEADWAY_HOME", "here", "absolute"),
        ("HEADWAY_WORKFLOW_PATH", "workflows", "absolute"),
        ("HEADWAY_GATES", "enforced", "Did you mean enforce?"),
        ("HEADWAY_CHECKS", "on", "Use off or run."),
        ("HEADWAY_LOG_LEVEL", "loud", "Use debug or info"),
        ("HEADWAY_DATABASE_URL", "mysql://x", "postgresql://user:password@host:5432/database"),
        ("HEADWAY_DATABASE_URL", "postgresql://x:1o/y", "not the address"),
        ("HEADWAY_PORT", "http", "from 0 to 65535"),
        ("HEADWAY_PORT", "65536", "from 0 to 65535"),
        ("HEADWAY_TOKEN", "too short", "at least 16"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_a_remedy(
    name: str, value: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=name) as caught:
        read_settings({"HOME": "/h", name: value})
    assert said in str(caught.value)


def test_unknown_settings_and_missing_folders_are_warnings() -> None:
    settings = read_settings(
        {"HOME": "/h", "HEADWAY_WORKFLOW_PATHS": "/x", "HEADWAY_WORKFLOW_PATH": "/no/such/folder"}
    )
    first, second = settings.warnings
    assert "Did you mean HEADWAY_WORKFLOW_PATH?" in first
    assert "/no/such/folder" in second


def test_a_password_too_short_to_be_masked_is_a_warning_that_does_not_repeat_it() -> None:
    short, long = "postgresql://u:%20xqz@h/d", "postgresql://u:%20xqzxq@h/d"
    (warning,) = read_settings({"HOME": "/h", "HEADWAY_DATABASE_URL": short}).warnings
    assert "HEADWAY_DATABASE_URL has fewer than 6 characters" in warning
    assert "xqz" not in warning
    assert read_settings({"HOME": "/h", "HEADWAY_DATABASE_URL": long}).warnings == ()


@pytest.mark.parametrize("url", ["mysql://user:secret@host", "postgresql://user:1/secret@host"])
def test_an_error_does_not_repeat_a_secret(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings({"HOME": "/h", "HEADWAY_DATABASE_URL": url})
    assert "secret" not in str(caught.value)


def test_the_address_of_a_database_goes_nowhere_else() -> None:
    url = "postgresql://user:secret@host/sessions"
    settings = read_settings({"HOME": "/h", "HEADWAY_DATABASE_URL": url})
    assert settings.database_url == url
    assert "secret" not in repr(settings)
    assert url not in settings.environment.values()
