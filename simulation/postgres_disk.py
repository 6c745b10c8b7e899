"""A disk that is a PostgreSQL server: each world has a schema of its own, and lines that break."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from headway.adapters.storage.postgres import open_postgres
from headway.adapters.storage.store import Store
from headway.ports.clock import Clock, Entropy
from simulation.cutting_line import Line, line_to
from simulation.disks import LINE_BREAKS, Break
from simulation.servers import schema

END_OTHERS: Final = (
    b"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    b" WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()"
)


class PostgresServer:
    """Makes the disks of one run, all behind one line that can be cut in mid-commit."""

    def __init__(self, url: str, line: Line) -> None:
        self.url = url
        self.line = line
        self.worlds = ExitStack()

    def disk(self) -> "PostgresDisk":
        """Return an empty disk; what is left of it goes with the run."""
        disk = PostgresDisk(self)
        self.worlds.callback(disk.close)
        return disk


class PostgresDisk:
    """Implements `disks.Disk` in a schema that is dropped when the disk is closed."""

    breaks = LINE_BREAKS

    def __init__(self, server: PostgresServer) -> None:
        self._line = server.line
        self._own = ExitStack()
        self._url = self._own.enter_context(schema(server.url))
        self._cut_short = make_conninfo(self._url, host="127.0.0.1", port=server.line.port)
        self._store: Store | None = None

    def open(self, clock: Clock, entropy: Entropy) -> Store:
        self._close_store()
        self._store = open_postgres(self._cut_short, clock, entropy)
        return self._store

    def close(self) -> None:
        self._close_store()
        self._own.close()

    @contextmanager
    def breaking(self, how: Break) -> Iterator[None]:
        """Break the line before, or in the midst of, what is written within."""
        if how == "terminated":
            with psycopg.connect(self._url, autocommit=True) as other:
                other.execute(END_OTHERS)
            yield
            return
        self._line.cut_next = "before" if how == "cut before commit" else "after"
        try:
            yield
        finally:
            self._line.cut_next = None

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


@contextmanager
def postgres_server(url: str) -> Iterator[PostgresServer]:
    """Yield the disks of a run on the server of an address, which must be one over TCP."""
    parts = conninfo_to_dict(url)
    with line_to(str(parts.get("host", "127.0.0.1")), int(str(parts.get("port", 5432)))) as line:
        server = PostgresServer(url, line)
        try:
            yield server
        finally:
            server.worlds.close()
