"""Diagnose a home: what could keep Headway from working here, and what to do about each of it.

Every part is looked at, whatever was found before; nothing is made, mended or brought up.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from headway import __version__
from headway.application.describe_home import ServerStatus, server_status
from headway.application.diagnose_runs import run_findings
from headway.application.findings import Finding
from headway.application.home import Home
from headway.domain.errors import Fault
from headway.ports.machine import Process
from headway.ports.onlooker import StoreFacts

UNCONFINED: Final = "no command of a run is confined by it yet"
PORT_DEFAULT: Final = 7430
LOOPBACK: Final = "127.0.0.1"
FREE_BYTES_LOW: Final = 1 << 30
FREE_BYTES_MIN: Final = 100 << 20
FSYNC_MS_SLOW: Final = 50.0
CLOCK_BEHIND_MS_MAX: Final = 60_000
CLOCK_MS_MIN: Final = 1_735_689_600_000  # the beginning of 2025, before which nothing was recorded
WITHOUT_GIT: Final = "no run can work, and sessions do not record branch and commit"
GIT_MIN: Final = (2, 31)  # answers `rev-parse --path-format`
OTHERS: Final = 0o077
SQLITE_SUFFIXES: Final = ("", "-wal", "-shm")


def diagnose_home(home: Home) -> tuple[Finding, ...]:
    """Return a finding or more for each part that was looked at."""
    return tuple(_findings(home))


def _findings(home: Home) -> Iterator[Finding]:
    for warning in home.warnings:
        yield Finding(
            part="settings", level="warning", told=warning, remedy="Correct it, or unset it."
        )
    yield _folder(home)
    yield from _privacy(home)
    yield from _disk(home)
    try:
        facts = home.onlooker.look(limit=0)
    except Fault as fault:
        yield Finding(part="store", level="problem", told=fault.message, remedy=fault.remedy)
    else:
        yield _store(facts, home.onlooker.known_schema)
        if not facts.shares:
            yield _lone_sqlite(facts.product)
        yield _keys(facts)
        yield _clock(home.clock.now_ms(), facts.newest_at)
        yield from run_findings(home, facts)
    yield _git(home.machine.version_of("git"))
    yield _sandbox(home)
    server = server_status(home)
    yield _server(server)
    yield _port(home)
    yield from _processes(home)


def _folder(home: Home) -> Finding:
    mode = home.machine.mode(home.folder)
    obstacle = home.machine.obstacle(home.folder)
    if obstacle is not None:
        verb = "made" if mode is None else "written"
        return Finding(
            part="home",
            level="problem",
            told=f"{home.folder} cannot be {verb}: {obstacle}",
            remedy="Let this user write there, or set HEADWAY_HOME to another folder.",
        )
    if mode is None:
        told = f"{home.folder} is not there yet; the first command that needs it makes it"
        return Finding(part="home", level="ok", told=told)
    if mode & OTHERS:
        return Finding(
            part="home",
            level="warning",
            told=f"others on this machine can look into {home.folder} (mode {mode:o})",
            remedy=f"chmod 700 {home.folder}",
        )
    return Finding(part="home", level="ok", told=f"{home.folder}, yours alone")


def _privacy(home: Home) -> Iterator[Finding]:
    if home.database is None:
        return
    files = [home.database.with_name(home.database.name + each) for each in SQLITE_SUFFIXES]
    modes = {file: home.machine.mode(file) for file in files}
    open_to_others = [
        str(file) for file, bits in modes.items() if bits is not None and bits & OTHERS
    ]
    if open_to_others:
        yield Finding(
            part="privacy",
            level="problem",
            told=f"others can read {', '.join(open_to_others)}: the signing keys are in there",
            remedy=f"chmod 600 {' '.join(open_to_others)} && headway keys rotate",
        )


def _disk(home: Home) -> Iterator[Finding]:
    disk = home.machine.disk(home.folder)
    if disk is None:
        return
    free = f"{disk.free_bytes / (1 << 30):,.1f} GiB free"
    if disk.free_bytes < FREE_BYTES_LOW:
        scarce = disk.free_bytes < FREE_BYTES_MIN
        yield Finding(
            part="disk",
            level="problem" if scarce else "warning",
            told=f"{free} under {home.folder}",
            remedy="Free some space: a store without room refuses every write.",
        )
    else:
        yield Finding(part="disk", level="ok", told=free)
    took = home.machine.fsync_ms(home.folder)
    if took is None:
        return
    slow = took > FSYNC_MS_SLOW
    remedy = "Every step waits for this; put HEADWAY_HOME on a local disk." if slow else ""
    yield Finding(
        part="fsync",
        level="warning" if slow else "ok",
        told=f"a small write is on the disk after {took:.1f} ms",
        remedy=remedy,
    )


def _store(facts: StoreFacts, known: int) -> Finding:
    if facts.schema is None:
        told = f"no store yet at {facts.place} ({facts.product})"
        return Finding(part="store", level="ok", told=told)
    count = sum(facts.sessions.values())
    told = f"{facts.place}, {facts.product}, schema version {facts.schema}, {count:,} sessions"
    if facts.schema > known:
        return Finding(
            part="store",
            level="problem",
            told=f"{told}; this Headway knows schema versions up to {known}",
            remedy="Update Headway to the version that wrote it, or a later one.",
        )
    if facts.schema < known:
        told += f"; the next command brings it to version {known}"
    return Finding(part="store", level="ok", told=told)


def _lone_sqlite(product: str) -> Finding:
    return Finding(
        part="sqlite",
        level="warning",
        told=f"{product} can damage a file that several processes write, so one at a time may",
        remedy="Use a Python with SQLite 3.51.3 or newer, or the package pysqlite3 where it fits.",
    )


def _keys(facts: StoreFacts) -> Finding:
    if facts.sessions and not facts.keys:
        return Finding(
            part="keys",
            level="problem",
            told="there are sessions but no signing key: tokens handed out are not good any more",
            remedy="Restore the store from a backup, or have agents call resume_session.",
        )
    told = {0: "none yet; the first session draws one", 1: "one signs tokens"}.get(
        facts.keys, "one signs tokens, the one before it is still good"
    )
    return Finding(part="keys", level="ok", told=told)


def _clock(now_ms: int, newest_at: int | None) -> Finding:
    now = f"{datetime.fromtimestamp(now_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    remedy = "Set the clock, with a time service if there is one."
    if now_ms < CLOCK_MS_MIN:
        told = f"it says {now}, which has long passed"
        return Finding(part="clock", level="problem", told=told, remedy=remedy)
    behind = (newest_at or 0) - now_ms
    if behind > CLOCK_BEHIND_MS_MAX:
        told = f"{now} is {_span(behind)} before the newest event: the clock was set back"
        remedy += " Nothing is lost: order comes from versions, times are for people."
        return Finding(part="clock", level="warning", told=told, remedy=remedy)
    return Finding(part="clock", level="ok", told=now)


def _span(ms: int) -> str:
    minutes = ms // 60_000
    hours, days = minutes // 60, minutes // 1440
    return f"{days} days" if days > 1 else f"{hours} hours" if hours > 1 else f"{minutes} minutes"


def _git(version: str | None) -> Finding:
    if version is None:
        return Finding(
            part="git",
            level="warning",
            told=f"not found: {WITHOUT_GIT}",
            remedy="Install git and have it on PATH.",
        )
    found = re.search(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < GIT_MIN:
        told = f"{version} is too old: {WITHOUT_GIT}"
        return Finding(part="git", level="warning", told=told, remedy="Install git 2.31 or newer.")
    return Finding(part="git", level="ok", told=version.removeprefix("git version "))


def _sandbox(home: Home) -> Finding:
    version = home.machine.version_of("bwrap")
    if version is None:
        told, remedy = "not found", "Install bubblewrap: the sandbox that is to come needs it."
    elif not home.machine.can_sandbox():
        told = f"{version} cannot make a sandbox here"
        remedy = "Allow unprivileged user namespaces (a setting of kernel or container)."
    else:
        told = version.removeprefix("bubblewrap ")
        return Finding(part="bubblewrap", level="ok", told=f"{told}; {UNCONFINED}")
    return Finding(part="bubblewrap", level="warning", told=f"{told}; {UNCONFINED}", remedy=remedy)


def _server(server: ServerStatus | None) -> Finding:
    if server is None:
        return Finding(part="server", level="ok", told="none runs on this home")
    told = f"pid {server.pid} at {server.url}"
    if server.stopping:
        return Finding(
            part="server",
            level="warning",
            told=f"pid {server.pid} is stopping: it takes no calls, and lets turns of runs end",
            remedy=f"None needed; to cut the turns off: kill {server.pid}",
        )
    if server.answer_ms is None:
        return Finding(
            part="server",
            level="problem",
            told=f"{told} does not answer",
            remedy=f"Look at its log; end it with: kill {server.pid}",
        )
    if server.version != __version__:
        return Finding(
            part="server",
            level="warning",
            told=f"{told} is version {server.version}, this is {__version__}",
            remedy="Start it again, so that both are the same.",
        )
    told = f"{told} answered in {server.answer_ms:.0f} ms"
    return Finding(part="server", level="ok", told=told)


def _port(home: Home) -> Finding:
    if home.running is not None and home.running.port == PORT_DEFAULT:
        return Finding(part="port", level="ok", told=f"{PORT_DEFAULT} is this home's server")
    if home.machine.is_free(LOOPBACK, PORT_DEFAULT):
        return Finding(part="port", level="ok", told=f"{PORT_DEFAULT} is free")
    return Finding(
        part="port",
        level="warning",
        told=f"{PORT_DEFAULT} is taken by another program, or by the server of another home",
        remedy="None needed: a server here takes the next free port and says which.",
    )


def _processes(home: Home) -> Iterator[Finding]:
    if home.database is None:
        return
    guard = home.database.with_name(home.database.name + "-open")
    holders = home.machine.holders(guard)
    if holders is None:
        return
    stale = [each for each in holders if each.orphan and " mcp" in each.command]
    for each in stale:
        yield Finding(
            part="processes",
            level="warning",
            told=f"pid {each.pid} serves a client that has gone ({each.command})",
            remedy=f"kill {each.pid}",
        )
    if not stale:
        yield Finding(part="processes", level="ok", told=_holding(holders))


def _holding(holders: tuple[Process, ...]) -> str:
    if not holders:
        return "none has the store open"
    pids = ", ".join(str(each.pid) for each in holders)
    return f"{len(holders)} with the store open: pid {pids}"
