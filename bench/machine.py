"""The machine a run was made on, and the floor: what it costs to make some bytes durable on it."""

import contextlib
import importlib
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from bench.timing import Call, once

FSYNC_BYTES = 4096
FSYNCS = 200


class Cursor(Protocol):
    def fetchone(self) -> tuple[object, ...] | None: ...


class Connection(Protocol):
    def execute(self, statement: str, values: tuple[object, ...] = ()) -> Cursor: ...

    def close(self) -> None: ...


def connect(path: Path) -> Connection:
    """Open an SQLite file by the driver that Headway uses here."""
    driver = importlib.import_module(driver_name())
    connection: Connection = driver.connect(str(path), isolation_level=None)
    return connection


def driver_name() -> str:
    try:
        importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return "sqlite3"
    return "pysqlite3.dbapi2"


def facts(folder: Path) -> dict[str, str]:
    """Return what to know of the machine before reading a figure."""
    driver = driver_name()
    version = importlib.import_module(driver).sqlite_version
    flushed = statistics.median(_fsyncs(folder))
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {sys.version.split()[0]}",
        "sqlite": f"{version} ({driver}), WAL, synchronous=FULL",
        "disk": f"write and fsync of {FSYNC_BYTES} bytes: {flushed:.3f} ms",
    }


@contextlib.contextmanager
def bare_commit(path: Path, size: int) -> Iterator[Call]:
    """Yield a call that makes one row of this many bytes durable, and does nothing else."""
    connection = connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
    data = os.urandom(size)

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO row (data) VALUES (?)", (data,))
        connection.execute("COMMIT")

    try:
        yield commit
    finally:
        connection.close()


def settle(path: Path) -> int:
    """Move everything from the write-ahead log into the file; return the file's size."""
    connection = connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.close()
    return path.stat().st_size


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _fsyncs(folder: Path) -> list[float]:
    with (folder / "fsync").open("wb", buffering=0) as file:

        def write() -> None:
            file.write(bytes(FSYNC_BYTES))
            os.fsync(file.fileno())

        return [once(write) for _ in range(FSYNCS)]
