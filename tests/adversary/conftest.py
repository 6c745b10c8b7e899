"""A cheat at the front door, connected by the protocol library's own client."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headway import __version__
from headway.mcp.server import build_server
from tests.support.cheating import Cheat
from tests.support.connected import connected
from tests.support.front_door import open_front_door


@pytest.fixture
def let_in(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., Cheat]]:
    """Return a way to open a door with these settings and let a cheat in by it."""
    with ExitStack() as stack:

        def open_to(**settings: str) -> Cheat:
            door = stack.enter_context(open_front_door(tmp_path, **settings))
            server = build_server(door.verbs, __version__, str(tmp_path))
            return Cheat(stack.enter_context(connected(server)), door, caplog)

        yield open_to


@pytest.fixture
def cheat(let_in: Callable[..., Cheat]) -> Cheat:
    return let_in()


@pytest.fixture
def gated(let_in: Callable[..., Cheat]) -> Cheat:
    """Return a cheat where gates are enforced."""
    return let_in(HEADWAY_GATES="enforce")
