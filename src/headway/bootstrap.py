"""The composition root: the one place where ports meet adapters.

Nothing is built on import; everything is handed over by constructor arguments. What only the engine
needs, SQLAlchemy before all, is imported with it: a look at a home is quicker than that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.machine.host import HostMachine
from headway.adapters.storage.looking import SqliteOnlooker
from headway.application.home import Home
from headway.config import Settings
from headway.domain.errors import StoreUnavailable
from headway.ports.clock import Clock, Entropy
from headway.ports.onlooker import Onlooker
from headway.server_lock import read_lock

if TYPE_CHECKING:
    from headway.adapters.storage.store import Store
    from headway.agent.crew import Crew
    from headway.application.added_sources import AddedSources
    from headway.application.engine import Engine
    from headway.application.runs import Held, Runs
    from headway.application.verbs import Verbs
    from headway.ports.drafts import Drafts
    from headway.ports.models import Model
    from headway.ports.workflow_files import WorkflowFiles
    from headway.ports.worktrees import Worktrees

DATABASE_NAME = "headway.db"
WORKTREES_NAME = "worktrees"


def open_store(settings: Settings, clock: Clock, entropy: Entropy) -> "Store":
    """Open the store the settings name. Raises StoreUnavailable when that cannot be done."""
    if settings.database_url is None:
        from headway.adapters.storage.sqlite import open_sqlite

        return open_sqlite(settings.home / DATABASE_NAME, clock, entropy)
    try:
        from headway.adapters.storage.postgres import open_postgres
    except ImportError as error:
        raise _no_driver(error) from error
    return open_postgres(settings.database_url, clock, entropy)


@contextmanager
def open_engine(settings: Settings) -> "Iterator[Engine]":
    """Open the store and yield the engine on it; the store is closed at the end.

    Raises StoreUnavailable when the store cannot be opened.
    """
    clock, entropy = SystemClock(), SystemEntropy()
    store = open_store(settings, clock, entropy)
    try:
        yield engine_on(settings, store, clock, entropy)
    finally:
        store.close()


def engine_on(settings: Settings, store: "Store", clock: Clock, entropy: Entropy) -> "Engine":
    """Return the engine on an open store."""
    from headway.adapters.git.workspace import GitWorkspace
    from headway.adapters.workflows.catalogue import FolderCatalogue
    from headway.application.engine import Engine

    return Engine(
        ledger=store.ledger,
        sessions=store.sessions,
        keyring=store.keyring,
        sources=store.sources,
        records=store.records,
        custody=store.custody,
        ledger_id=store.ledger_id,
        catalogue=FolderCatalogue(
            workflow_path=settings.workflow_path,
            home=settings.home,
            sources=store.sources,
            clock=clock,
        ),
        workspace=GitWorkspace(environment=settings.environment),
        clock=clock,
        entropy=entropy,
        gates=settings.gates,
        elicitation=settings.elicitation,
    )


@contextmanager
def open_runs(settings: Settings) -> "Iterator[Runs]":
    """Open the store and yield what the verbs of runs need; the store is closed at the end.

    Raises StoreUnavailable when the store cannot be opened.
    """
    from headway.adapters.machine.owners import HostOwners
    from headway.application.runs import LeaseTerms, Runs

    clock, entropy = SystemClock(), SystemEntropy()
    store = open_store(settings, clock, entropy)
    try:
        yield Runs(
            engine=engine_on(settings, store, clock, entropy),
            queue=store.queue,
            owners=HostOwners(),
            terms=LeaseTerms(ttl_ms=settings.lease_ms, heartbeat_ms=settings.lease_ms // 4),
        )
    finally:
        store.close()


def model_named(name: str, folder: Path) -> "Model":
    """Return the model of a name. Raises InvalidInput for one that cannot be had."""
    from headway.adapters.models.choosing import choose_model

    return choose_model(name, folder)


def crew_for(settings: Settings, runs: "Runs", held: "Held", model: "Model") -> "Crew":
    """Return what a run is driven with on this machine."""
    from headway.adapters.git.worktrees import GitWorktrees
    from headway.agent.crewing import crew_of

    places = GitWorktrees(settings.home / WORKTREES_NAME, settings.environment)
    return crew_of(runs, held, model, places, settings.environment)


def worktrees_of(settings: Settings) -> "Worktrees":
    """Return the worktrees of a home."""
    from headway.adapters.git.surveying import SurveyedWorktrees

    return SurveyedWorktrees(settings.home / WORKTREES_NAME, settings.environment)


@contextmanager
def open_workflow_files(settings: Settings) -> "Iterator[WorkflowFiles]":
    """Yield the workflow files of a home, for authors.

    Raises StoreUnavailable when the store, which knows the attached folders, cannot be opened.
    """
    from headway.adapters.workflows.catalogue import FolderCatalogue

    clock = SystemClock()
    store = open_store(settings, clock, SystemEntropy())
    try:
        yield FolderCatalogue(
            workflow_path=settings.workflow_path,
            home=settings.home,
            sources=store.sources,
            clock=clock,
        )
    finally:
        store.close()


@contextmanager
def open_sources(settings: Settings) -> "Iterator[AddedSources]":
    """Yield what the verbs about git repositories need. Raises StoreUnavailable."""
    from headway.adapters.git.fetching import GitFetching
    from headway.adapters.workflows.catalogue import FolderCatalogue
    from headway.application.added_sources import AddedSources

    clock = SystemClock()
    store = open_store(settings, clock, SystemEntropy())
    try:
        yield AddedSources(
            sources=store.sources,
            fetcher=GitFetching(settings.home, settings.environment),
            catalogue=FolderCatalogue(
                workflow_path=settings.workflow_path,
                home=settings.home,
                sources=store.sources,
                clock=clock,
            ),
        )
    finally:
        store.close()


def open_drafts() -> "Drafts":
    """Return the means to read and write single workflow files."""
    from headway.adapters.workflows.drafting import FileDrafts

    return FileDrafts()


@contextmanager
def open_verbs(settings: Settings) -> "Iterator[Verbs]":
    """Yield the verbs on the store of a home; see `open_engine`."""
    from headway.application.verbs import Verbs

    with open_engine(settings) as engine:
        yield Verbs(engine)


def look_at_home(settings: Settings) -> Home:
    """Return the means to look at a home; nothing is opened or made.

    Raises StoreUnavailable when a driver is missing.
    """
    try:
        running = read_lock(settings.home)
    except OSError:  # somebody else's, who keeps it to himself
        running = None
    url = settings.database_url
    return Home(
        folder=settings.home,
        database=settings.home / DATABASE_NAME if url is None else None,
        machine=HostMachine(settings.environment),
        onlooker=_onlooker(settings),
        clock=SystemClock(),
        running=running,
        warnings=settings.warnings,
    )


def _onlooker(settings: Settings) -> Onlooker:
    if settings.database_url is None:
        return SqliteOnlooker(settings.home / DATABASE_NAME)
    try:
        from headway.adapters.storage.looking_postgres import PostgresOnlooker
    except ImportError as error:
        raise _no_driver(error) from error
    return PostgresOnlooker(settings.database_url)


def _no_driver(error: ImportError) -> StoreUnavailable:
    return StoreUnavailable(
        f"HEADWAY_DATABASE_URL is set, but PostgreSQL's driver is not there ({error}).",
        remedy="Install it with Headway: pip install 'headway[postgres]'.",
    )
