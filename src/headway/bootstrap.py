"""The composition root: the one place where ports meet adapters.

Nothing is built on import; everything is handed over by constructor arguments. What only the engine
needs, SQLAlchemy before all, is imported with it: a look at a home is quicker than that.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headway import __version__
from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.machine.host import HostMachine
from headway.adapters.machine.owners import HostOwners
from headway.adapters.storage.drivers import best_driver
from headway.adapters.storage.looking import SqliteOnlooker
from headway.application.home import Home
from headway.config import Settings
from headway.domain.errors import StoreUnavailable
from headway.ports.clock import Clock, Entropy
from headway.ports.onlooker import Onlooker
from headway.server_lock import read_lock

if TYPE_CHECKING:
    from headway.adapters.engine.remote import RemoteEngine
    from headway.adapters.git.worktrees import GitWorktrees
    from headway.adapters.machine.checks import HostChecker
    from headway.adapters.storage.store import Store
    from headway.agent.crew import Crew
    from headway.application.added_sources import AddedSources
    from headway.application.engine import Engine
    from headway.application.runs import Held, Runs
    from headway.application.verbs import Verbs
    from headway.ports.drafts import Drafts
    from headway.ports.engine import SessionEngine
    from headway.ports.models import Model, NamedModel
    from headway.ports.queue import Bell
    from headway.ports.workflow_files import WorkflowFiles
    from headway.ports.worktrees import Worktrees

logger = logging.getLogger(__name__)

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
        together=store.together,
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
        checker=_checker(settings.environment, guarding=False)
        if settings.checks == "run"
        else None,
    )


@contextmanager
def open_runs(settings: Settings) -> "Iterator[Runs]":
    """Open the store and yield what the verbs of runs need; the store is closed at the end.

    Raises StoreUnavailable when the store cannot be opened.
    """
    with open_work(settings) as (runs, _):
        yield runs


@contextmanager
def open_work(settings: Settings) -> "Iterator[tuple[Runs, Bell]]":
    """As `open_runs`, with the bell that a worker waits for."""
    clock, entropy = SystemClock(), SystemEntropy()
    store = open_store(settings, clock, entropy)
    try:
        with closing(store.bell()) as bell:
            yield _runs_on(settings, store, clock, entropy), bell
    finally:
        store.close()


def _runs_on(settings: Settings, store: "Store", clock: Clock, entropy: Entropy) -> "Runs":
    from headway.application.runs import LeaseTerms, Runs

    return Runs(
        places=_places(settings),
        engine=engine_on(settings, store, clock, entropy),
        queue=store.queue,
        owners=HostOwners(),
        terms=LeaseTerms(ttl_ms=settings.lease_ms, heartbeat_ms=settings.lease_ms // 4),
    )


def shares_store(settings: Settings) -> bool:
    """Tell whether a second process may have the store open."""
    return settings.database_url is not None or best_driver().shares_files


def model_named(settings: Settings, name: str, folder: Path) -> "Model":
    """Return the model of a name. Raises InvalidInput for one that cannot be had."""
    from headway.adapters.models.choosing import choose_model

    return choose_model(name, folder, settings.environment)


def whole_model_name(settings: Settings, name: str, folder: str) -> "NamedModel":
    """Return a model's name for a run that another process drives, which may have other keys.

    Raises InvalidInput as `model_named` for what no key mends.
    """
    from headway.adapters.models.choosing import name_model

    return name_model(name, Path(folder), settings.environment)


def crew_for(settings: Settings, runs: "Runs", held: "Held", model: "Model") -> "Crew":
    """Return what a run is driven with on this machine."""
    from headway.adapters.machine.processes import HostProcesses
    from headway.agent.crewing import Provision, crew_of
    from headway.agent.direct_engine import DirectEngine
    from headway.ports.leases import Lease
    from headway.ports.owners import MARK, mark_of

    marked = {**settings.environment, MARK: mark_of(held.run, held.fence)}
    joined = held.conversation.joined
    url = settings.engine_url or "" if joined is None else joined.engine
    lease = Lease(run=held.run, fence=held.fence)
    engine: SessionEngine = (
        remote_engine(settings, url)
        if url
        else DirectEngine(
            replace(runs.engine, lease=lease), lambda: _checker(marked, guarding=True)
        )
    )
    given = Provision(
        places=_places(settings),
        engine=engine,
        engine_url=url,
        processes=HostProcesses(marked),
    )
    return crew_of(runs, held, model, given)


def _places(settings: Settings) -> "GitWorktrees":
    from headway.adapters.git.worktrees import GitWorktrees
    from headway.adapters.machine.processes import without_secrets

    # A model may have set filters, which are commands that git runs.
    return GitWorktrees(settings.home / WORKTREES_NAME, without_secrets(settings.environment))


def remote_engine(settings: Settings, url: str) -> "RemoteEngine":
    """Return an engine elsewhere; nothing is asked yet. Raises InvalidInput for the address."""
    from headway.adapters.engine.asking import Client, Server, address_of
    from headway.adapters.engine.remote import RemoteEngine

    client = Client("headway-worker", __version__)
    return RemoteEngine(Server(address_of(url), settings.engine_token, client))


def _checker(environment: Mapping[str, str], *, guarding: bool) -> "HostChecker":
    """Return what runs checks. Our own commands are found behind all others."""
    import sysconfig

    from headway.adapters.machine.checks import HostChecker
    from headway.adapters.machine.processes import HostProcesses

    folders = (environment.get("PATH", os.defpath), sysconfig.get_path("scripts"))
    own = {**environment, "PATH": os.pathsep.join(folders)}
    return HostChecker(HostProcesses(own), guarding=guarding)


def worktrees_of(settings: Settings) -> "Worktrees":
    """Return the worktrees of a home."""
    from headway.adapters.git.surveying import SurveyedWorktrees
    from headway.adapters.machine.processes import without_secrets

    environment = without_secrets(settings.environment)
    return SurveyedWorktrees(settings.home / WORKTREES_NAME, environment)


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
        worktrees=settings.home / WORKTREES_NAME,
        machine=HostMachine(settings.environment),
        onlooker=_onlooker(settings),
        owners=HostOwners(),
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
