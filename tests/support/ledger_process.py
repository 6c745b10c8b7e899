"""Another process on a store: `python -m tests.support.ledger_process VERB FILE COUNT [OPTION]`.

It tells what happens as one JSON object a line. `append` adds COUNT events to the stream and ends;
`write` adds events for ever, telling each version once it is recorded; `fill` does so without a
word until it is refused, tells the refusal, and when a line comes in makes room and adds one more;
`hold` opens the store and `lock` keeps others from writing it, until their input ends. A fault is
told by its code and remedy. With `--standard` the standard library's SQLite is used; with
`--nobody` the rights of root are dropped first; with `--files=BYTES` no file may grow beyond that.
"""

import json
import os
import resource
import sqlite3
import sys
from pathlib import Path
from typing import Final

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.drivers import best_driver, driver_of
from headway.adapters.storage.sqlite import SqliteOptions, open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.errors import Fault
from headway.ports.ledger import Conflict
from tests.support.writes import STREAM, a_write, an_event

NOBODY: Final = 65_534
LARGE: Final = "long " * 2_000
BALLAST: Final = "ballast"  # a file beside the store that `fill` gives up to make room
FILES: Final = "--files="


def main(verb: str, path: Path, count: int, options: set[str]) -> None:
    driver = driver_of(sqlite3) if "--standard" in options else best_driver()
    confine(options)
    try:
        store = open_sqlite(path, SystemClock(), SystemEntropy(), SqliteOptions(driver=driver))
    except Fault as fault:
        tell_fault(fault)
        return
    match verb:
        case "append":
            for _ in range(count):
                append(store)
        case "write":
            while True:
                tell(version=append(store))
        case "fill":
            fill(store)
            sys.stdin.readline()
            make_room(path)
            found = len(store.ledger.scan(STREAM))
            tell(found=found, version=append(store))
        case "hold":
            tell(open=store.ledger_id)
            sys.stdin.read()
        case "lock":
            store.close()
            holder = sqlite3.connect(path, isolation_level=None)
            holder.execute("BEGIN IMMEDIATE")
            tell(locked=True)
            sys.stdin.read()
            holder.close()
        case _:
            raise SystemExit(verb)
    store.close()
    tell(closed=True)


def confine(options: set[str]) -> None:
    if "--nobody" in options and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for size in (option.removeprefix(FILES) for option in options if option.startswith(FILES)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), resource.RLIM_INFINITY))


def fill(store: Store) -> None:
    kept = 0
    try:
        while True:
            kept = append(store, LARGE)
    except Fault as fault:
        tell_fault(fault, kept=kept, found=len(store.ledger.scan(STREAM)))


def make_room(path: Path) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    path.with_name(BALLAST).unlink(missing_ok=True)


def append(store: Store, text: str = "c") -> int:
    while True:
        version = len(store.ledger.scan(STREAM))
        try:
            return store.ledger.append(a_write(version, an_event(version, text)))[0].version
        except Conflict:
            continue


def tell_fault(fault: Fault, **facts: object) -> None:
    tell(fault=fault.code, message=fault.message, remedy=fault.remedy, **facts)


def tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    verb, path, count, *options = sys.argv[1:]
    main(verb, Path(path), int(count), set(options))
