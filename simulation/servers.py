"""A PostgreSQL server to try things on: where it is, and a schema of one's own on it."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg

NAMED = os.environ.get("HEADWAY_TEST_DATABASE_URL")  # noqa: TID251  a choice of whoever runs this
LOCAL = "postgresql://root@127.0.0.1:5432/test?connect_timeout=2"

_numbers = itertools.count()


@contextmanager
def schema(url: str) -> Iterator[str]:
    """Make a schema and yield the address that leads into it; the schema is dropped at the end."""
    name = f"headway_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as made:
        made.execute(f"CREATE SCHEMA {name}".encode())
    try:
        more = f"options={quote(f'-csearch_path={name}')}&application_name={name}"
        yield f"{url}{'&' if '?' in url else '?'}{more}"
    finally:
        with psycopg.connect(url, autocommit=True) as made:
            made.execute("SET client_min_messages = warning")
            made.execute(f"DROP SCHEMA {name} CASCADE".encode())
