"""A machine and a store's outside under a test's control."""

from pathlib import Path

from headway.domain.errors import Fault
from headway.ports.machine import Disk, Process
from headway.ports.onlooker import StoreFacts

SOUND = StoreFacts(
    kind="sqlite",
    place="/home/headway.db",
    product="SQLite 3.53.0",
    schema=2,
    size_bytes=4096,
    sessions={"in_progress": 2},
    keys=1,
    newest_at=1_800_000_000_000,
)


class FakeMachine:
    """A machine on which all is well until a test says otherwise."""

    def __init__(self) -> None:
        self.modes: dict[Path, int] = {}
        self.free_bytes = 50 << 30
        self.fsync = 1.5
        self.obstacles: dict[Path, str] = {}
        self.versions = {"git": "git version 2.47.1", "bwrap": "bubblewrap 0.11.0"}
        self.sandbox = True
        self.taken: set[int] = set()
        self.answers: float | None = 2.0
        self.holding: tuple[Process, ...] | None = ()
        self.folders: dict[Path, tuple[str, ...]] = {}
        self.asked: list[tuple[str, int, str]] = []

    def mode(self, path: Path) -> int | None:
        return self.modes.get(path)

    def names(self, folder: Path) -> tuple[str, ...]:
        return self.folders.get(folder, ())

    def disk(self, folder: Path) -> Disk | None:
        return Disk(free_bytes=self.free_bytes, total_bytes=100 << 30)

    def obstacle(self, folder: Path) -> str | None:
        return self.obstacles.get(folder)

    def fsync_ms(self, folder: Path) -> float | None:
        return self.fsync if folder in self.modes else None

    def version_of(self, program: str) -> str | None:
        return self.versions.get(program)

    def can_sandbox(self) -> bool:
        return self.sandbox

    def is_free(self, host: str, port: int) -> bool:
        return port not in self.taken

    def answer_ms(self, host: str, port: int, path: str) -> float | None:
        self.asked.append((host, port, path))
        return self.answers

    def holders(self, path: Path) -> tuple[Process, ...] | None:
        return self.holding


class FakeOnlooker:
    """Looks at a store that a test made up."""

    def __init__(self, facts: StoreFacts | Fault = SOUND) -> None:
        self.facts = facts
        self.known_schema = 2

    def look(self, limit: int) -> StoreFacts:
        if isinstance(self.facts, Fault):
            raise self.facts
        return self.facts
