"""PostgreSQL: the same calls on a server, reported where there is one; nothing is promised of it.

Everything happens in a schema of its own, which is dropped at the end. The floor is one INSERT of
as many bytes as an advance leaves there, committed by itself, through a connection beside it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

from bench.advances import Session, begin, growth, growth_figures, lane, no_context, spread
from bench.figures import Figure
from bench.sizes import Sizes
from bench.threads import measure_appends
from bench.timing import Call, interleaved
from headway.application.engine import Engine

LOCAL = "postgresql://root@127.0.0.1:5432/test?connect_timeout=2"
GROUP = "PostgreSQL, advance, 500 bytes of notes"
BARE, ADVANCE = "bare commit", "an advance"


def find_server(named: str | None) -> str | None:
    """Return the address of a server that answers: the one named, or one on this machine."""
    url = named or LOCAL
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        if named:
            raise
        return None
    return url


@contextmanager
def schema(url: str) -> Iterator[str]:
    """Make a schema and yield the address that leads into it."""
    name = f"headway_bench_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as made:
        made.execute(f"CREATE SCHEMA {name}".encode())
    try:
        yield f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name}')}"
    finally:
        with psycopg.connect(url, autocommit=True) as made:
            made.execute("SET client_min_messages = warning")
            made.execute(f"DROP SCHEMA {name} CASCADE".encode())


def measure_postgres(engine: Engine, workspace: Path, url: str, sizes: Sizes) -> Iterator[Figure]:
    """Yield the figures of an engine on the schema at an address."""
    session: Session = begin(engine, workspace)
    grown = growth(session, lambda: settled(url), sizes)
    yield from growth_figures(GROUP, grown, no_context, None)
    with bare_commit(url, round(grown)) as commit:
        calls: dict[str, Call] = {
            BARE: commit,
            ADVANCE: lane(engine, workspace, no_context, sizes.depths[0], sizes),
        }
        blocks = interleaved(calls, blocks=sizes.blocks, rounds=sizes.rounds)
    for name in calls:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=GROUP, name=name, value=blocks.median(name), unit="ms", note=note)
    yield Figure(
        group=GROUP,
        name=f"{ADVANCE} / {BARE}",
        value=blocks.ratio(ADVANCE, BARE),
        unit="times",
        note=spread(blocks.ratios(ADVANCE, BARE)),
    )
    yield from measure_appends(engine, sizes, "PostgreSQL, an append", None)


def settled(url: str) -> int:
    """Clear away what updates left behind; return the bytes of all tables and indexes."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("VACUUM")
        row = server.execute(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c"
            " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
        ).fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def bare_commit(url: str, size: int) -> Iterator[Call]:
    """Yield a call that makes one row of this many bytes durable, and does nothing else."""
    data = os.urandom(size)
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(
            "CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, data bytea NOT NULL)"
        )

        def commit() -> None:
            server.execute("INSERT INTO bare (data) VALUES (%s)", (data,), prepare=True)

        yield commit
