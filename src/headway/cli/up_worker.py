"""The worker of a server: a process of its own, begun again when it dies, told to stop with it.

It runs `headway worker` on the same settings. The server serves whether or not it can work. A pipe
tells it when the server is gone without a word: then it drains by itself.
"""

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

COMMAND: Final = (sys.executable, "-m", "headway", "worker", "--until-stdin-ends")
WAIT_SECONDS_FIRST: Final = 1.0
WAIT_SECONDS_MAX: Final = 60.0
STEADY_SECONDS: Final = 60.0  # one that lived so long is begun again as if it were the first
EXIT_SECONDS_MAX: Final = 15.0  # after its grace is over
STOPPING: Final = (signal.SIGTERM, signal.SIGINT)

logger = logging.getLogger(__name__)


class OwnWorker:
    """One worker process at a time. `start` and `stop` are called once each, from one thread."""

    def __init__(self, grace_seconds: float) -> None:
        self._patience = grace_seconds + EXIT_SECONDS_MAX
        self._stops = threading.Event()
        self._turn = threading.Lock()  # between beginning one and telling it to stop
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    def start(self) -> None:
        """Begin the worker, and go on looking after it."""
        self._keeper.start()

    def stop(self) -> None:
        """Tell the worker to stop and wait until it has; SIGTERM or Ctrl-C hurry it meanwhile."""
        with self._turn:
            self._stops.set()
        if not self._keeper.ident:
            return
        with _heeded(self._tell):
            self._tell()
            self._keeper.join(self._patience)
        if self._keeper.is_alive() and self._process is not None:
            logger.error("the worker did not stop, and is killed; its runs are gone on with")
            self._process.kill()
            self._keeper.join()

    def _tell(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()

    def _keep(self) -> None:
        wait = WAIT_SECONDS_FIRST
        while True:
            began = time.monotonic()
            with self._turn:
                if self._stops.is_set():
                    return
                process = self._begun()
            if process is not None:
                with process:  # its end of the pipe goes with it
                    code = process.wait()
                if self._stops.is_set():
                    return
                logger.warning("the worker ended (%d); another begins in %.0f s", code, wait)
            self._stops.wait(wait)
            steady = time.monotonic() - began > STEADY_SECONDS + wait
            wait = WAIT_SECONDS_FIRST if steady else min(2 * wait, WAIT_SECONDS_MAX)

    def _begun(self) -> subprocess.Popen[bytes] | None:
        try:
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=sys.stderr.fileno(),
                start_new_session=True,  # Ctrl-C is the server's, which tells the worker
            )
        except OSError as error:
            logger.warning("no worker could be begun: %s", error)
            return None
        return self._process


@contextmanager
def _heeded(hurry: Callable[[], None]) -> Iterator[None]:
    """Have a signal do this instead of ending the process."""

    def heed(_: int, __: FrameType | None) -> None:
        hurry()

    before = {each: signal.signal(each, heed) for each in STOPPING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
