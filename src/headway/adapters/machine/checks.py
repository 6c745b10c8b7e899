"""Checks on this machine: a command by the shell in the workspace, one workspace at a time."""

import asyncio
import shlex
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headway.domain.workflow import Check
from headway.ports.checks import Checked, ChecksStopped
from headway.ports.processes import CannotRun, Ended, Processes

LOOK_SECONDS_MAX: Final = 60  # for git to say what changed
SHOWN_MAX: Final = 5


class _GitFailed(Exception):
    """Git could not tell; the message is its own."""


@dataclass(slots=True)
class _Held:
    """A workspace's lock, and how many hold it or wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    callers: int = 0


class _Workspaces:
    """The workspaces in which this process runs checks, each held by one caller at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: dict[str, _Held] = {}

    @contextmanager
    def alone(self, workspace: str) -> Iterator[None]:
        """Hold a workspace, however its path is written."""
        name = str(Path(workspace).resolve())
        with self._guard:
            held = self._held.setdefault(name, _Held())
            held.callers += 1
        try:
            with held.lock:
                yield
        finally:
            with self._guard:
                held.callers -= 1
                if not held.callers:
                    del self._held[name]


_WORKSPACES: Final = _Workspaces()  # of all checkers: each run of a worker has one of its own


class HostChecker:
    """Implements `Checker`.

    With `guarding`, files that a check protects are compared with the commit it is given: that is
    right only where all changes since are the agent's.
    """

    def __init__(self, processes: Processes, *, guarding: bool) -> None:
        self._processes = processes
        self._guarding = guarding
        self._guard = threading.Lock()
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Ended]]] = set()
        self._stopped = False

    def alone(self, workspace: str) -> AbstractContextManager[None]:
        """Hold a workspace, however its path is written."""
        return _WORKSPACES.alone(workspace)

    def run(self, check: Check, workspace: str, since: str | None) -> Checked:
        """Run a check, unless what it protects was changed."""
        began = time.monotonic()
        changed = self._changed(check, workspace, since)
        if changed:
            return Checked(exit_code=None, problem=_protected(changed))
        try:
            ended = self._end(check.run, workspace, check.timeout_seconds)
        except CannotRun as error:
            return Checked(exit_code=None, output=str(error).encode())
        late = f"It was ended after {check.timeout_seconds} s, with all that it had started."
        return Checked(
            exit_code=ended.code,
            output=ended.output(),
            duration_ms=round((time.monotonic() - began) * 1_000),
            problem="" if ended.in_time else late,
        )

    def stop(self) -> None:
        """End what runs, and run nothing more."""
        with self._guard:
            self._stopped = True
            for loop, task in self._running:
                loop.call_soon_threadsafe(task.cancel)

    def _changed(self, check: Check, workspace: str, since: str | None) -> list[str]:
        """Return the protected files that are no longer as in the commit; added ones are not."""
        if not self._guarding or not check.protect or since is None:
            return []
        paths = ["--", *(f":(top,glob){each}" for each in check.protect)]
        diff = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=a", since)
        try:
            changed = self._git(workspace, *diff, *paths)
            listed = self._git(workspace, "ls-files", "-v", "-z", *paths)
        except CannotRun:
            return []  # the check will not be run either
        except _GitFailed as failure:
            return [f"(git cannot tell: {str(failure)[:200]})"]
        hidden = (line[2:] for line in listed if _is_overlooked(line, workspace))
        return [*changed, *(f"{name} (git is told to overlook it)" for name in hidden)]

    def _git(self, workspace: str, *words: str) -> list[str]:
        """Return what git lists. Raises CannotRun, ChecksStopped, _GitFailed."""
        ended = self._end(shlex.join(["git", *words]), workspace, LOOK_SECONDS_MAX)
        said = ended.output().decode(errors="replace")
        if ended.code:
            raise _GitFailed(said.strip())
        return [each for each in said.split("\0") if each]

    def _end(self, command: str, folder: str, seconds: float) -> Ended:
        """Run a command to its end, in this thread. Raises CannotRun, ChecksStopped."""
        try:
            return asyncio.run(self._stoppable(command, folder, seconds))
        except asyncio.CancelledError:
            raise ChecksStopped from None

    async def _stoppable(self, command: str, folder: str, seconds: float) -> Ended:
        task = asyncio.current_task()
        assert task is not None
        entry = asyncio.get_running_loop(), task
        with self._guard:
            if self._stopped:
                raise ChecksStopped
            self._running.add(entry)
        try:
            return await self._processes.run(command, folder, seconds)
        finally:
            with self._guard:
                self._running.discard(entry)


def _is_overlooked(line: str, workspace: str) -> bool:
    """Tell whether a file, listed with its tag, is marked so that no change to it is seen.

    One that is left out of a sparse checkout is marked, too, and is not there.
    """
    tag, name = line[0], line[2:]
    return tag.islower() or (tag == "S" and Path(workspace, name).exists())


def _protected(changed: list[str]) -> str:
    more = f" and {len(changed) - SHOWN_MAX} more" if len(changed) > SHOWN_MAX else ""
    return (
        f"It was not run: protected files were changed: {', '.join(changed[:SHOWN_MAX])}{more}. "
        "Bring them back to what they were."
    )
