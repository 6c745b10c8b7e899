"""`headway status`: what runs on this home, what its store holds, what was touched last."""

import sys
from collections.abc import Iterator
from typing import Final

import click

from headway import __version__
from headway.application.describe_home import (
    HomeStatus,
    RunsStatus,
    ServerStatus,
    describe_home,
)
from headway.application.faults import fault_reply
from headway.cli.opening import looked_at
from headway.cli.options import examples, json_option, print_json
from headway.cli.safe_text import moment, one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style, counted, fitted
from headway.cli.terminal import output_style
from headway.domain.values import Json
from headway.ports.onlooker import StoreFacts
from headway.ports.sessions import SessionSummary

LATEST: Final = 5
EXIT_NOT_WELL: Final = 1
NAME_WIDTH: Final = 10
MINUTE_CHARACTERS: Final = len("2026-01-01T00:00")
ID_CHARACTERS: Final = 13  # sess_ and enough of the rest to name one
UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
NO_SESSION: Final = "none; `headway run` or an MCP client begins one: see `headway demo`"


@click.command("status", epilog=examples("headway status", "headway status --json"))
@json_option
def command(*, as_json: bool) -> None:
    """Tell what runs on this home, what its store holds, and which sessions were touched last.

    Ends with 1 when the server does not answer or the store cannot be looked at, else with 0.
    """
    with looked_at() as (settings, home):
        status = describe_home(home, LATEST)
    if as_json:
        print_json(_document(status))
    else:
        for line in status_lines(status, output_style(settings.environment)):
            click.echo(line)
    if status.fault or (status.server and status.server.answer_ms is None):
        sys.exit(EXIT_NOT_WELL)


def status_lines(status: HomeStatus, style: Style) -> Iterator[str]:
    """Yield the parts of a home's status, one or more lines each."""
    width = max(style.width, WIDTH_MIN)
    for name, text in _facts(status):
        first, *rest = wrapped(one_line(text), width - NAME_WIDTH)
        yield style.paint(name.ljust(NAME_WIDTH), "dim") + first
        yield from (" " * NAME_WIDTH + line for line in rest)
    latest = status.store.latest if status.store else ()
    if latest:
        yield ""
        yield style.paint("Latest", "bold")
    for summary in latest:
        yield fitted(_latest(summary), width, style)


def _facts(status: HomeStatus) -> Iterator[tuple[str, str]]:
    yield "home", status.folder
    yield "server", _server(status.server)
    if status.fault is not None:
        yield "store", f"{status.fault.message} {status.fault.remedy}"
        return
    store = status.store
    assert store is not None
    if store.schema is None:
        yield "store", f"none yet at {store.place} ({store.product})"
        yield "sessions", NO_SESSION
        return
    size = f", {_size(store.size_bytes)}" if store.size_bytes is not None else ""
    yield "store", f"{store.place}{size} ({store.product})"
    yield "sessions", _sessions(store)
    if store.waiting:
        wait = "1 waits" if store.waiting == 1 else f"{store.waiting:,} wait"
        yield "gates", f"{wait} for a decision; `headway gates list` shows them"
    else:
        yield "gates", "none waits"
    yield "runs", _runs(status.runs)
    if store.unreadable:
        yield "damaged", f"{', '.join(store.unreadable)}; `headway verify` says what is wrong"
    if status.runs.workers:
        yield "workers", _workers(status.runs)


def _runs(runs: RunsStatus) -> str:
    counts = {name: getattr(runs, name) for name in ("running", "waiting", "resting", "stalled")}
    parts = [f"{count:,} {name}" for name, count in counts.items() if count]
    if not parts:
        return f"none under way, {runs.ended:,} ended" if runs.ended else "none"
    hints = ["`headway worker` takes what waits and what stalled"] if _is_idle(runs) else []
    hints += ["`headway runs resume` goes on with what rests"] if runs.resting else []
    return "; ".join([f"{', '.join(parts)}, {runs.ended:,} ended", *hints])


def _is_idle(runs: RunsStatus) -> bool:
    return bool(runs.waiting or runs.stalled) and not runs.workers


def _workers(runs: RunsStatus) -> str:
    each = (
        f"process {worker.pid} on {worker.host} with {counted(worker.runs, 'run')}"
        for worker in runs.workers
    )
    return ", ".join(each)


def _server(server: ServerStatus | None) -> str:
    if server is None:
        return "none runs"
    since = server.started_at[:MINUTE_CHARACTERS].replace("T", " ")
    told = f"{server.url} (pid {server.pid}, version {server.version}, since {since} UTC)"
    if server.version != __version__:
        told += f"; this program is version {__version__}"
    if server.stopping:
        return f"{told} is stopping"
    return told if server.answer_ms is not None else f"{told} does not answer"


def _sessions(store: StoreFacts) -> str:
    total = sum(store.sessions.values())
    parts = [f"{count:,} {status.replace('_', ' ')}" for status, count in store.sessions.items()]
    return f"{total:,}: {', '.join(parts)}" if total else NO_SESSION


def _latest(summary: SessionSummary) -> str:
    step = f" at {one_line(summary.step_id)}" if summary.step_id else ""
    status = f"{summary.status.replace('_', ' ')}{step}"
    name = summary.session[:ID_CHARACTERS]
    return f"   {name}  {moment(summary.updated_at)}  {status}  {one_line(summary.goal)}"


def _size(count: int) -> str:
    size = float(count)
    for unit in UNITS[:-1]:
        if size < 1024:  # noqa: PLR2004 - what the units are of each other
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} {UNITS[-1]}"


def _document(status: HomeStatus) -> dict[str, Json]:
    server, store = status.server, status.store
    return {
        "version": __version__,
        "home": status.folder,
        "server": None if server is None else _server_document(server),
        "store": None if store is None else _store_document(store),
        "runs": None if store is None else _runs_document(status.runs),
        "problem": None if status.fault is None else fault_reply(status.fault),
        "latest": [_session_document(each) for each in (store.latest if store else ())],
    }


def _server_document(server: ServerStatus) -> dict[str, Json]:
    return {
        "pid": server.pid,
        "url": server.url,
        "version": server.version,
        "startedAt": server.started_at,
        "answers": server.answer_ms is not None,
        "answerMs": server.answer_ms,
        "stopping": server.stopping,
    }


def _store_document(store: StoreFacts) -> dict[str, Json]:
    return {
        "kind": store.kind,
        "place": store.place,
        "product": store.product,
        "schema": store.schema,
        "sizeBytes": store.size_bytes,
        "sessions": {status: count for status, count in store.sessions.items()},  # noqa: C416 - for the type
        "gatesWaiting": store.waiting,
        "newestEventAt": store.newest_at,
        "unreadable": list(store.unreadable),
    }


def _runs_document(runs: RunsStatus) -> dict[str, Json]:
    return {
        "running": runs.running,
        "waiting": runs.waiting,
        "resting": runs.resting,
        "stalled": runs.stalled,
        "ended": runs.ended,
        "workers": [
            {"host": each.host, "pid": each.pid, "runs": each.runs} for each in runs.workers
        ],
    }


def _session_document(summary: SessionSummary) -> dict[str, Json]:
    return {
        "sessionId": summary.session,
        "status": summary.status,
        "workflowId": summary.workflow_id,
        "stepId": summary.step_id,
        "goal": summary.goal,
        "updatedAt": summary.updated_at,
    }
