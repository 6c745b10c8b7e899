"""Disks: what is left of a store when its process dies, to be opened by the next one."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, get_args

from headway.adapters.storage.memory import open_memory
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.ports.clock import Clock, Entropy

# What befalls the line to a server: cut in mid-commit, or ended by the server before a write.
Break: TypeAlias = Literal["cut before commit", "cut after commit", "terminated"]
LINE_BREAKS: Final[tuple[Break, ...]] = get_args(Break)


class Disk(Protocol):
    """Keeps a store between processes; `breaks` are those its line can suffer, without harm."""

    @property
    def breaks(self) -> tuple[Break, ...]: ...

    def breaking(self, how: Break) -> AbstractContextManager[None]:
        """Break the line at a write that is done within."""

    def open(self, clock: Clock, entropy: Entropy) -> Store:
        """Return the store as a new process finds it."""

    def close(self) -> None:
        """Let go of it."""


class WithoutLine:
    """A disk that is reached by no line."""

    breaks: tuple[Break, ...] = ()

    @contextmanager
    def breaking(self, how: Break) -> Iterator[None]:
        yield


class MemoryDisk(WithoutLine):
    """A store in memory outlives its simulated process."""

    def __init__(self) -> None:
        self._store: Store | None = None

    def open(self, clock: Clock, entropy: Entropy) -> Store:
        self._store = self._store or open_memory(clock, entropy)
        return self._store

    def close(self) -> None:
        self._store = None


class SqliteDisk(WithoutLine):
    """A file, closed and opened anew for each process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store: Store | None = None

    def open(self, clock: Clock, entropy: Entropy) -> Store:
        self.close()
        self._store = open_sqlite(self._path, clock, entropy)
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
