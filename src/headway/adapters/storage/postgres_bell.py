"""The bell of a store on PostgreSQL: a connection of its own that listens.

A server that goes away, or a pooler that passes no notices on, makes it silent, not wrong: a wait
then lasts as long as it may, and the next one tries to listen again.
"""

import os
import select
from contextlib import suppress
from typing import Final

import psycopg

from headway.adapters.storage.postgres_driver import Raw, connect
from headway.adapters.storage.queue_statements import CHANNEL

LISTEN: Final = f"LISTEN {CHANNEL}"
SCHEMA: Final = "SELECT current_schema()"


class PostgresBell:
    """Implements `ports.queue.Bell`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raw: Raw | None = None
        self._schema = b""
        self._end, self._cut = os.pipe()  # a byte in it ends every wait

    def wait(self, seconds: float) -> None:
        """Return when it has rung since the last wait, or after so long."""
        try:
            if self._raw is None:
                self._raw = self._listening()
                return  # nobody knows what was rung before: let it be looked at
            raw = self._raw
            if not self._told(raw):
                select.select([raw.fileno(), self._end], (), (), seconds)
                raw.pgconn.consume_input()
                self._told(raw)
        except (psycopg.Error, OSError, ValueError):
            self._let_go()
            select.select([self._end], (), (), seconds)

    def cut(self) -> None:
        """Have every wait return at once."""
        os.write(self._cut, b".")

    def close(self) -> None:
        """Let go of the connection."""
        self._let_go()
        os.close(self._end)
        os.close(self._cut)

    def _listening(self) -> Raw:
        raw = connect(self._url)
        try:
            row = raw.execute(SCHEMA).fetchone()
            assert row is not None
            self._schema = str(row[0]).encode()
            raw.execute(LISTEN)
        except BaseException:
            raw.close()
            raise
        return raw

    def _told(self, raw: Raw) -> bool:
        """Take every notice that has come; tell whether one was for this store."""
        ours = False
        while (notice := raw.pgconn.notifies()) is not None:
            ours |= notice.extra == self._schema
        return ours

    def _let_go(self) -> None:
        if self._raw is not None:
            with suppress(psycopg.Error):
                self._raw.close()
            self._raw = None
