"""`headway up`: serve this home over HTTP until told to stop.

Whatever stands in the way is found before the store is opened: settings that cannot be used, a home
that is served already, a port that is taken.
"""

import gc
import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click
from starlette.types import ASGIApp

from headway import __version__
from headway.application.engine import Engine
from headway.application.faults import Fault, fault_reply
from headway.application.requests import Json
from headway.application.run_verbs import RunVerbs
from headway.application.runs import Runs
from headway.application.verbs import Verbs
from headway.bootstrap import open_runs, shares_store, whole_model_name
from headway.cli.options import exit_words
from headway.cli.refusing import Refusal, envelope
from headway.cli.up_worker import OwnWorker
from headway.config import PORT_MAX, ConfigError, Settings, checked_token, process_settings
from headway.home import CHECKS, GATES, TOKEN, WORKFLOW_PATH
from headway.mcp.http import McpOverHttp
from headway.mcp.server import CALLS_AT_ONCE_MAX, build_server
from headway.mcp.threads import Threads
from headway.sealing import keep_to_itself
from headway.server_lock import AlreadyServed, Running, ServerLock
from headway.web.app import build_app
from headway.web.guard import Rules, is_loopback
from headway.web.runs import RunDoors
from headway.web.serving import PortTaken, listen, raise_open_files_limit, serve

LOG_FORMAT: Final = "%(levelname)s %(name)s: %(message)s"
# Collections are rare and short: what start-up made is frozen, what a call makes dies with it.
GC_THRESHOLDS: Final = (20_000, 20, 100)
MCP_PATH: Final = "/mcp"
RUNS_PATH: Final = "/v1/runs"

logger = logging.getLogger("headway")


class Refused(Refusal):
    """The server does not start: a code, what is in the way, and what to do."""

    def __init__(self, code: str, message: str, remedy: str) -> None:
        super().__init__(envelope(message, remedy, code))


@click.command(
    "up",
    epilog=exit_words(
        (0, "told to stop, and stopped"),
        (1, "not started: the reason and the remedy stand on stderr"),
        (2, "not called rightly"),
        (130, "interrupted before it served"),
    ),
)
@click.option("--host", help="Address to listen on; 127.0.0.1 unless HEADWAY_HOST says otherwise.")
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    help="Port to listen on, and no other; 0 takes any. Without it: 7430 or the next free of 20.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the token every request must bear, found by headway mcp; or set HEADWAY_TOKEN.",
)
@click.option("--no-worker", is_flag=True, help="Begin no worker: leave runs to headway worker.")
@click.option("--json", "as_json", is_flag=True, help="Say where it serves as one line of JSON.")
def command(
    host: str | None, port: int | None, token_file: Path | None, *, no_worker: bool, as_json: bool
) -> None:
    """Serve this home over HTTP until SIGTERM or Ctrl-C.

    MCP is at /mcp, runs are at /v1/runs; /healthz and /v1/version say that it is there, and what.

    One server a home; server.lock in HEADWAY_HOME says where it is. It listens on this machine
    alone; any other --host needs a token, sent by clients as "authorization: Bearer TOKEN".
    Beside it a worker drives the runs that wait, in a process of its own that is begun again when
    it dies. When told to stop it takes no new calls, answers those in flight, and lets the turns of
    its runs end (HEADWAY_GRACE_SECONDS at most; told again, they are cut off) and others go on.
    """
    try:
        settings = _settings(host, port, token_file)
        logging.basicConfig(stream=sys.stderr, level=settings.log_level.upper(), format=LOG_FORMAT)
        keep_to_itself()
        for warning in settings.warnings:
            logger.warning(warning)
        worker = None if no_worker else _worker(settings)
        with _home_held(settings.home) as lock, closing(_listening(settings)) as listener:
            with open_runs(settings) as runs:
                running = _running(runs.engine, settings, listener, token_file)
                app = _app(runs, settings, running)

                def started() -> None:
                    _announce(lock, running, settings.home)
                    say = _json if as_json else _text
                    click.echo(say(running, settings, works=worker is not None))
                    if worker is not None:
                        worker.start()
                    _settle_memory()

                try:
                    serve(app, listener, started)
                finally:
                    if worker is not None:
                        worker.stop()
            logger.info("stopped")
    except Fault as fault:
        raise Refusal(fault_reply(fault)) from fault


def _settings(host: str | None, port: int | None, token_file: Path | None) -> Settings:
    """Return the settings with what the command line says instead; refuse an open door."""
    try:
        settings = process_settings()
        settings = replace(
            settings,
            host=settings.host if host is None else host,
            port=settings.port if port is None else port,
            token=_token_in(token_file) if token_file else settings.token,
        )
    except ConfigError as error:
        raise Refused(
            "SETTING_UNUSABLE", f"{error.setting}: {error.message}", error.remedy
        ) from error
    if not is_loopback(settings.host) and settings.token is None:
        raise Refused(
            "TOKEN_NEEDED",
            f"Other machines can reach a server on {settings.host}, and it has no token.",
            f"Give one with --token-file or {TOKEN} (openssl rand -hex 32 makes one), "
            "or leave --host out.",
        )
    return settings


def _worker(settings: Settings) -> OwnWorker | None:
    if shares_store(settings):
        return OwnWorker(settings.grace_seconds)
    logger.warning(
        "no worker is begun: this SQLite bears one process on its file alone (headway doctor "
        "tells more); give HEADWAY_DATABASE_URL, or stop the server to run headway worker"
    )
    return None


def _token_in(path: Path) -> str:
    try:
        return checked_token(str(path), path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(
            "SETTING_UNUSABLE", f"{path} cannot be read ({error}).", "Name a readable file."
        ) from error


@contextmanager
def _home_held(home: Path) -> Iterator[ServerLock]:
    try:
        lock = ServerLock(home)
    except AlreadyServed as served:
        first = served.running
        where = f"at {first.url} (process {first.pid})" if first else "by a server that is starting"
        raise Refused(
            "ALREADY_SERVED",
            f"{home} is served already, {where}.",
            "Use that one, stop it first, or serve another home with HEADWAY_HOME.",
        ) from served
    except OSError as error:
        raise _unusable(home, error) from error
    try:
        yield lock
    finally:
        lock.release()


def _announce(lock: ServerLock, running: Running, home: Path) -> None:
    try:
        lock.announce(running)
    except OSError as error:
        raise _unusable(home, error) from error


def _unusable(home: Path, error: OSError) -> Refused:
    return Refused(
        "HOME_UNUSABLE",
        f"{home} cannot be used ({error.strerror}).",
        "Make it a folder of yours that can be written, or set HEADWAY_HOME to one.",
    )


def _listening(settings: Settings) -> socket.socket:
    raise_open_files_limit()
    try:
        return listen(settings.host, settings.port)
    except PortTaken as taken:
        asked = settings.port is not None
        ports = (
            f"port {taken.first} is" if asked else f"ports {taken.first} to {taken.last} are all"
        )
        raise Refused(
            "PORT_TAKEN",
            f"On {settings.host} {ports} taken.",
            "Leave --port and HEADWAY_PORT out to take the next free one, or --port 0 to take any."
            if asked
            else "Stop what listens there, or take any free port with --port 0.",
        ) from taken
    except OSError as error:
        raise Refused(
            "ADDRESS_UNUSABLE",
            f"{settings.host} cannot be listened on ({error.strerror}).",
            "Give an address of this machine, or leave --host out; a port below 1024 may be kept "
            "for the administrator.",
        ) from error


def _running(
    engine: Engine, settings: Settings, listener: socket.socket, token_file: Path | None
) -> Running:
    now = datetime.fromtimestamp(engine.clock.now_ms() / 1000, UTC)
    return Running(
        pid=os.getpid(),
        host=settings.host,
        port=listener.getsockname()[1],
        version=__version__,
        started_at=now.isoformat(timespec="milliseconds"),
        token_file=None if token_file is None else str(token_file.absolute()),
        settings={
            WORKFLOW_PATH: os.pathsep.join(settings.workflow_path),
            GATES: settings.gates,
            CHECKS: settings.checks,
        },
    )


def _app(runs: Runs, settings: Settings, running: Running) -> ASGIApp:
    server = build_server(Verbs(runs.engine), __version__, str(settings.user_home))
    about: dict[str, Json] = {
        "name": "headway",
        "version": __version__,
        "startedAt": running.started_at,
        "ledgerId": runs.engine.ledger_id,
    }
    rules = Rules(host=settings.host, token=settings.token)
    named = partial(whole_model_name, settings)
    doors = RunDoors(RunVerbs(runs, named), Threads(CALLS_AT_ONCE_MAX))
    return build_app(rules, about, {MCP_PATH: McpOverHttp(server)}, doors.routes())


def _settle_memory() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _text(running: Running, settings: Settings, *, works: bool) -> str:
    token = "\nEvery request must bear the token." if settings.token else ""
    who = "a worker beside it drives" if works else "no worker is begun; headway worker drives"
    return (
        f"Headway {__version__} serves {settings.home}\n"
        f"MCP at {running.url}{MCP_PATH}\n"
        f"Runs at {running.url}{RUNS_PATH}; {who} those that wait.{token}\n"
        "Give clients that address, or the command `headway mcp`, which finds it by itself.\n"
        f"Stop it with Ctrl-C, or from elsewhere with: kill {running.pid}"
    )


def _json(running: Running, settings: Settings, *, works: bool) -> str:
    return json.dumps(
        {
            "url": running.url,
            "mcp": f"{running.url}{MCP_PATH}",
            "runs": f"{running.url}{RUNS_PATH}",
            "worker": works,
            "host": running.host,
            "port": running.port,
            "pid": running.pid,
            "version": running.version,
            "startedAt": running.started_at,
            "home": str(settings.home),
            "tokenNeeded": settings.token is not None,
        }
    )
