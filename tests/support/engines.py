"""An engine on a store in memory that follows one given workflow, with time and chance by rule."""

import hashlib

import msgspec

from headway.adapters.storage.memory import open_memory
from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.domain.events import GateMode, GitFacts, ReferenceStatus
from headway.domain.ids import digest
from headway.domain.workflow import Reference, Workflow
from headway.ports.catalogue import Entry, Source
from headway.ports.clock import Clock, Entropy

WORKSPACE = "/workspace"


class CountingClock:
    """A clock that moves on by a millisecond whenever it is asked."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def now_ms(self) -> int:
        self.now += 1
        return self.now


class CountingEntropy:
    """Draws that differ from each other and are the same in every run."""

    def __init__(self) -> None:
        self.drawn = 0

    def draw(self, count: int) -> bytes:
        self.drawn += 1
        return hashlib.shake_128(str(self.drawn).encode()).digest(count)


class OneWorkflow:
    """A catalogue that holds one workflow."""

    def __init__(self, workflow: Workflow) -> None:
        data = msgspec.json.encode(workflow)
        self.entry = Entry(
            id=workflow.id,
            path="/workflows/one.json",
            source="path",
            source_path="/workflows",
            workflow=workflow,
            data=data,
            hash=digest(data),
        )

    def entries(self, workspace: str) -> tuple[Entry, ...]:
        return (self.entry,)

    def find(self, workflow_id: str, workspace: str) -> Entry | None:
        return self.entry if workflow_id == self.entry.id else None

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


def engine_for(workflow: Workflow, gates: GateMode = "advisory") -> Engine:
    clock, entropy = CountingClock(), CountingEntropy()
    return engine_on(open_memory(clock, entropy), workflow, clock, entropy, gates)


def engine_on(
    store: Store, workflow: Workflow, clock: Clock, entropy: Entropy, gates: GateMode = "advisory"
) -> Engine:
    return Engine(
        ledger=store.ledger,
        sessions=store.sessions,
        keyring=store.keyring,
        sources=store.sources,
        records=store.records,
        custody=store.custody,
        ledger_id=store.ledger_id,
        catalogue=OneWorkflow(workflow),
        workspace=PlainWorkspace(),
        clock=clock,
        entropy=entropy,
        gates=gates,
    )
