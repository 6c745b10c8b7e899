"""What surrounds a simulated engine: its time, its chance, its catalogue and its workspace."""

import hashlib

from headway.domain.events import GitFacts, ReferenceStatus
from headway.domain.workflow import Reference
from headway.ports.catalogue import Entry, Source

WORKSPACE = "/workspace"
START_MS = 1_700_000_000_000
DAY_MS = 86_400_000


class JumpingClock:
    """Moves on by a millisecond whenever it is asked, and by whatever it is told to."""

    def __init__(self) -> None:
        self.now = START_MS

    def now_ms(self) -> int:
        self.now += 1
        return self.now

    def jump(self, by_ms: int) -> None:
        self.now += by_ms


class CountingEntropy:
    """Draws that differ from each other and are the same in every run."""

    def __init__(self) -> None:
        self.drawn = 0

    def draw(self, count: int) -> bytes:
        self.drawn += 1
        return hashlib.shake_128(str(self.drawn).encode()).digest(count)


class DrawnCatalogue:
    """Holds the workflows of a world."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries

    def entries(self, workspace: str) -> tuple[Entry, ...]:
        return self._entries

    def find(self, workflow_id: str, workspace: str) -> Entry | None:
        return next((entry for entry in self._entries if entry.id == workflow_id), None)

    def sources(self, workspace: str) -> tuple[Source, ...]:
        return ()

    def bindings(self, workflow_id: str, workspace: str) -> dict[str, str]:
        return {}


class PlainWorkspace:
    """A workspace outside any repository."""

    def exists(self, path: str) -> bool:
        return path == WORKSPACE

    def git_facts(self, path: str) -> GitFacts:
        return GitFacts()

    def require_git(self) -> None:
        return

    def resolve(self, path: str, references: tuple[Reference, ...]) -> tuple[ReferenceStatus, ...]:
        return ()
