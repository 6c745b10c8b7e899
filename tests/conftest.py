"""What holds for every test: a home of its own, nobody's settings or keys, steady draws."""

import os
import signal
from collections.abc import Iterator
from compileall import compile_dir
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.fakes", "tests.support")

# `make test` draws the same examples every time; `--hypothesis-profile=search` looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("search", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("steady")

ROOT = Path(__file__).parents[1]
IMPORTED = ("src", "tests/support")
# These take longest. They begin first, so that no processor waits for one of them at the end.
LONG = (
    "tests/unit/test_bench_runs.py",
    "tests/integration/test_crash.py",
    "tests/fuzz/",
    "tests/simulation/",
    "tests/acceptance/test_guide.py",
    "tests/acceptance/test_demo.py",
)
# Settings of ours and of git; keys and addresses of models' providers.
SOMEBODYS = ("HEADWAY_", "GIT_", "ANTHROPIC_", "OPENAI_", "AWS_")


def pytest_configure(config: pytest.Config) -> None:
    """Give the processes of the tests the same to begin with, however the tests were started."""
    if hasattr(config, "workerinput"):
        return  # what runs tests inherits it
    # A shell has what it starts in the background ignore Ctrl-C, and all that starts from there.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Each process would compile all it imports where PYTHONDONTWRITEBYTECODE is set.
    for folder in IMPORTED:
        compile_dir(ROOT / folder, quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


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
