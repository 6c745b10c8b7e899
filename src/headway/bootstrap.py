"""The composition root: the one place where ports meet adapters.

Nothing is built on import; everything is handed over by constructor arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.git.workspace import GitWorkspace
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.adapters.workflows.catalogue import FolderCatalogue
from headway.application.engine import Engine
from headway.application.verbs import Verbs
from headway.config import Settings
from headway.domain.errors import StoreUnavailable
from headway.ports.clock import Clock, Entropy
from headway.ports.workflow_files import WorkflowFiles

DATABASE_NAME = "headway.db"


def open_store(settings: Settings, clock: Clock, entropy: Entropy) -> Store:
    """Open the store the settings name. Raises StoreUnavailable when that cannot be done."""
    if settings.database_url is None:
        return open_sqlite(settings.home / DATABASE_NAME, clock, entropy)
    try:
        from headway.adapters.storage.postgres import open_postgres
    except ImportError as error:
        raise StoreUnavailable(
            f"HEADWAY_DATABASE_URL is set, but PostgreSQL's driver is not there ({error}).",
            remedy="Install it with Headway: pip install 'headway[postgres]'.",
        ) from error
    return open_postgres(settings.database_url, clock, entropy)


@contextmanager
def open_engine(settings: Settings) -> Iterator[Engine]:
    """Open the store and yield the engine on it; the store is closed at the end.

    Raises StoreUnavailable when the store cannot be opened.
    """
    clock, entropy = SystemClock(), SystemEntropy()
    store = open_store(settings, clock, entropy)
    try:
        yield Engine(
            ledger=store.ledger,
            sessions=store.sessions,
            keyring=store.keyring,
            sources=store.sources,
            records=store.records,
            custody=store.custody,
            ledger_id=store.ledger_id,
            catalogue=FolderCatalogue(
                workflow_path=settings.workflow_path, home=settings.home, sources=store.sources
            ),
            workspace=GitWorkspace(environment=settings.environment),
            clock=clock,
            entropy=entropy,
            gates=settings.gates,
        )
    finally:
        store.close()


@contextmanager
def open_workflow_files(settings: Settings) -> Iterator[WorkflowFiles]:
    """Yield the workflow files of a home, for authors.

    Raises StoreUnavailable when the store, which knows the attached folders, cannot be opened.
    """
    store = open_store(settings, SystemClock(), SystemEntropy())
    try:
        yield FolderCatalogue(
            workflow_path=settings.workflow_path, home=settings.home, sources=store.sources
        )
    finally:
        store.close()


@contextmanager
def open_verbs(settings: Settings) -> Iterator[Verbs]:
    """Yield the verbs on the store of a home; see `open_engine`."""
    with open_engine(settings) as engine:
        yield Verbs(engine)
