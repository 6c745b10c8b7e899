"""Describe a home: who serves it, what its store holds, what was touched last. Nothing changes."""

from headway.application.home import Home
from headway.domain.errors import Fault
from headway.domain.values import Value
from headway.ports.onlooker import StoreFacts

HEALTH_PATH = "/healthz"


class ServerStatus(Value):
    """The server of a home; `answer_ms` is None when it does not answer."""

    pid: int
    url: str
    version: str
    started_at: str
    answer_ms: float | None


class HomeStatus(Value):
    """A home at a glance: `server` is None when none runs, `store` when it cannot be looked at."""

    folder: str
    server: ServerStatus | None
    store: StoreFacts | None
    fault: Fault | None = None


def describe_home(home: Home, limit: int) -> HomeStatus:
    """Return how a home stands, with its `limit` latest sessions."""
    folder, server = str(home.folder), server_status(home)
    try:
        store = home.onlooker.look(limit)
    except Fault as fault:
        return HomeStatus(folder=folder, server=server, store=None, fault=fault)
    return HomeStatus(folder=folder, server=server, store=store)


def server_status(home: Home) -> ServerStatus | None:
    """Ask the server of a home whether it is well; None when there is none."""
    running = home.running
    if running is None:
        return None
    host = running.url.removeprefix("http://").rpartition(":")[0].strip("[]")
    return ServerStatus(
        pid=running.pid,
        url=running.url,
        version=running.version,
        started_at=running.started_at,
        answer_ms=home.machine.answer_ms(host, running.port, HEALTH_PATH),
    )
