"""What holds for every test: a home of its own, nobody's settings or keys, steady draws."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.fakes", "tests.support")

# `make test` draws the same examples every time; `--hypothesis-profile=search` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("search", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("steady")

# Settings of ours and of git; keys and addresses of models' providers.
SOMEBODYS = ("HEADWAY_", "GIT_", "ANTHROPIC_", "OPENAI_", "AWS_")


@pytest.fixture(scope="session", autouse=True)
def nobody_elses_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests, and what they start, away from this person's store, settings and keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith(SOMEBODYS)]:  # noqa: TID251
            patch.delenv(name)
        patch.setenv("HEADWAY_HOME", str(tmp_path_factory.mktemp("headway-home")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
