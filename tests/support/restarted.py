"""A `headway up` that can be killed and started again on its home, each time on another port."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.up import Up, environment, up


class Restarted:
    """The server of one home, through all its lives."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lives = ExitStack()
        self.environment = environment(root)
        self.now = self.start()

    def start(self) -> Up:
        self.now = self._lives.enter_context(up(self._root))
        return self.now

    def kill(self) -> None:
        self.now.kill()

    @property
    def port(self) -> int:
        return self.now.port

    def end(self) -> None:
        self._lives.close()


@contextmanager
def restarted(root: Path) -> Iterator[Restarted]:
    server = Restarted(root)
    try:
        yield server
    finally:
        server.end()
