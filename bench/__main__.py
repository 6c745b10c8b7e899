"""`python -m bench`: measures and prints a table (or JSON); --check fails on a broken promise.

Everything runs in this process on real SQLite files in a new folder, which is removed at the end,
and on the PostgreSQL that tests use, where there is one; for the calls over HTTP, servers of their
own are started beside it.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import (
    advances,
    catalogue,
    full_store,
    http,
    http_growth,
    linting,
    postgres,
    proofs,
    providers,
    runs,
    search,
    starting,
    threads,
    verbs,
)
from bench.figures import Figure, as_json, over, table
from bench.machine import bare_commit, facts
from bench.sizes import FULL, QUICK, Sizes
from headway.bootstrap import DATABASE_NAME, open_engine
from headway.config import DATABASE_URL, TEST_DATABASE_URL, Settings

METHOD = """\
An advance is one call of the verb continue_workflow: token, head read, decision, one durable
transaction, rendered reply. The floor is one durable commit of one row of as many bytes as the
advance leaves in the settled file, in an SQLite file beside it. All are called in turn, each first
in turn; a ratio is the median of {blocks} blocks' ratios of medians of {rounds} calls."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--check", action="store_true", help="exit 1 when over a target")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows only that it runs")
    parser.add_argument("--folder", type=Path, default=verbs.ROOT, help="the disk to measure on")
    given = parser.parse_args(arguments)
    sizes = QUICK if given.quick else FULL
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=given.folder) as name:
        folder = Path(name)
        machine = facts(folder)
        if not given.json:
            print("\n".join(f"{key:<10} {text}" for key, text in machine.items()), flush=True)
            print("\n" + METHOD.format(blocks=sizes.blocks, rounds=sizes.rounds), flush=True)
        figures = []
        for figure in measure(folder, sizes):
            figures.append(figure)
            print(f"... {figure.group}: {figure.name}", file=sys.stderr, flush=True)
    print(as_json(machine, figures) if given.json else table(figures))
    return 1 if given.check and over(figures) else 0


def measure(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield every figure."""
    home, workspace, files = folder / "home", folder / "workspace", folder / "workflows"
    for each in (home, workspace, files):
        each.mkdir()
    advances.write_workflow(files)
    settings = Settings(home=home, user_home=folder, workflow_path=(str(files),))
    yield from verbs.measure_compiler(sizes)
    yield from linting.measure_lint(settings, sizes)
    yield from catalogue.measure_catalogue(settings, sizes)
    yield from search.measure_search(home, sizes)
    yield from runs.measure_runs(settings, folder, sizes)
    yield from providers.measure_providers(sizes)
    environment = {
        **os.environ,  # noqa: TID251
        "HEADWAY_HOME": str(folder / "http-home"),
        "HEADWAY_WORKFLOW_PATH": str(files),
    }
    yield from starting.measure_starts(folder, environment, sizes)
    yield from measure_stores(folder, workspace, settings, environment, sizes)
    with open_engine(settings) as engine:
        yield from advances.measure_advances(engine, workspace, home / DATABASE_NAME, sizes)
        yield from threads.measure_threads(engine, workspace, sizes)
        yield from verbs.measure_verbs(engine, workspace, sizes)
        yield from proofs.measure_verify(engine)
    yield from http_growth.measure_memory(environment, folder / "busy", workspace, sizes)
    with bare_commit(folder / "floor-http.db", http.COMMIT_BYTES) as commit:
        store = http.Store(name="", commit=commit, promised=True)
        yield from http.measure_http(folder, environment, workspace, store, sizes)


def measure_stores(
    folder: Path, workspace: Path, settings: Settings, environment: dict[str, str], sizes: Sizes
) -> Iterator[Figure]:
    """Yield the figures of other stores: one that holds much, and one on a server."""
    full, empty = replace(settings, home=folder / "full"), replace(settings, home=folder / "empty")
    with open_engine(full) as one, open_engine(empty) as other:
        database = full.home / DATABASE_NAME
        yield from full_store.measure_full_store(one, other, workspace, database, sizes)
    homes = {"full": full.home, "empty": empty.home}
    yield from http_growth.measure_growth(environment, homes, workspace, sizes)
    shutil.rmtree(full.home)
    server = postgres.find_server(os.environ.get(TEST_DATABASE_URL))  # noqa: TID251  as tests do
    if server is None:
        print(f"... no PostgreSQL: {TEST_DATABASE_URL} names none", file=sys.stderr, flush=True)
        return
    # Nothing is promised of it: a few blocks show how it stands.
    few = replace(sizes, blocks=min(3, sizes.blocks), rounds=max(2, sizes.rounds // 2))
    with postgres.schema(server) as url:
        with open_engine(replace(settings, database_url=url)) as engine:
            yield from postgres.measure_postgres(engine, workspace, url, few)
        with postgres.bare_commit(url, http.COMMIT_BYTES) as commit:
            store = http.Store(name=", PostgreSQL", commit=commit, settings={DATABASE_URL: url})
            yield from http.measure_http(folder, environment, workspace, store, few)


if __name__ == "__main__":
    sys.exit(main())
