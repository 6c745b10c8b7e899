"""Describe a home: who serves it, what its store holds, what was touched last. Nothing changes."""

from collections import Counter

from headway.application.home import Home
from headway.domain.errors import Fault
from headway.domain.values import Value
from headway.ports.onlooker import StoreFacts

HEALTH_PATH = "/healthz"


class ServerStatus(Value):
    """The server of a home; `answer_ms` is None when it does not answer.

    `stopping` says why it does not: it listens no more, and lives to let turns of its runs end.
    """

    pid: int
    url: str
    version: str
    started_at: str
    answer_ms: float | None
    stopping: bool = False


class WorkerAtWork(Value):
    """A process that drives runs now, and how many."""

    host: str
    pid: int
    runs: int


class RunsStatus(Value):
    """How many runs there are; stalled ones lost their worker and wait for another."""

    running: int = 0
    waiting: int = 0
    resting: int = 0
    stalled: int = 0
    ended: int = 0
    workers: tuple[WorkerAtWork, ...] = ()


class HomeStatus(Value):
    """A home at a glance: `server` is None when none runs, `store` when it cannot be looked at."""

    folder: str
    server: ServerStatus | None
    store: StoreFacts | None
    runs: RunsStatus = RunsStatus()
    fault: Fault | None = None


def describe_home(home: Home, limit: int) -> HomeStatus:
    """Return how a home stands, with its `limit` latest sessions."""
    folder, server = str(home.folder), server_status(home)
    try:
        store = home.onlooker.look(limit)
    except Fault as fault:
        return HomeStatus(folder=folder, server=server, store=None, fault=fault)
    return HomeStatus(folder=folder, server=server, store=store, runs=runs_status(home, store))


def runs_status(home: Home, store: StoreFacts) -> RunsStatus:
    """Return how many runs there are in each state, and who drives those that are driven."""
    now = home.clock.now_ms()
    driven = Counter(
        each.owner
        for each in store.claims
        if each.lease_until > now and not home.owners.is_gone(each.owner)
    )
    return RunsStatus(
        running=driven.total(),
        waiting=store.runs.get("queued", 0),
        resting=store.runs.get("resting", 0),
        stalled=store.runs.get("claimed", 0) - driven.total(),
        ended=store.runs.get("ended", 0),
        workers=tuple(
            WorkerAtWork(host=owner.host.partition("/")[0], pid=owner.pid, runs=count)
            for owner, count in driven.most_common()
        ),
    )


def server_status(home: Home) -> ServerStatus | None:
    """Ask the server of a home whether it is well; None when there is none."""
    running = home.running
    if running is None:
        return None
    host = running.url.removeprefix("http://").rpartition(":")[0].strip("[]")
    answer_ms = home.machine.answer_ms(host, running.port, HEALTH_PATH)
    return ServerStatus(
        pid=running.pid,
        url=running.url,
        version=running.version,
        started_at=running.started_at,
        answer_ms=answer_ms,
        # Its lock is held, so it lives; and it took the lock when it listened.
        stopping=answer_ms is None and home.machine.is_free(host, running.port),
    )
