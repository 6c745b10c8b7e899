"""What is called over HTTP: one session by one client, or many at once."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.advances import NOTE, NOTE_CHARS, WORKFLOW_ID
from bench.http_client import Client, Wire
from bench.sizes import Sizes
from bench.timing import MILLISECONDS, Call
from headway.application.requests import Json, JsonObject

CROWD = 32


def advance_of(token: str) -> dict[str, Json]:
    """Return the arguments that hand a step in, with 500 bytes of notes."""
    notes = NOTE.format(number=0)[:NOTE_CHARS]
    return {"continueToken": token, "intent": "advance", "output": {"notesMarkdown": notes}}


def start_in(workspace: Path) -> dict[str, Json]:
    """Return the arguments that begin a session."""
    goal = "measure a call"
    return {"workflowId": WORKFLOW_ID, "workspacePath": str(workspace), "goal": goal}


@dataclass
class Session:
    """A session driven by one client; on the null server a call that leads nowhere."""

    client: Client
    workspace: Path
    token: str = ""
    depth: int = 0

    def __post_init__(self) -> None:
        self.token = self.start()

    def start(self) -> str:
        """Begin another session; return its token."""
        return str(self.client.call("start_workflow", **start_in(self.workspace))["continueToken"])

    def advance(self) -> JsonObject:
        reply = self.client.call("continue_workflow", **advance_of(self.token))
        self.token = str(reply["continueToken"])
        self.depth += 1
        return reply


def near(client: Client, workspace: Path, depth: int, sizes: Sizes) -> Call:
    """Return a call that advances some session that is near this depth; as `advances.lane`."""
    steps = max(2, min(depth, depth // 10 + 8))
    waiting: deque[Session] = deque()
    for _ in range(-(-sizes.blocks * sizes.rounds // steps)):
        session = Session(client, workspace)
        while session.depth < max(0, depth - steps // 2):
            session.advance()
        waiting.append(session)

    def advance() -> None:
        if len(waiting) > 1 and waiting[0].depth > depth + steps // 2:
            waiting.popleft()
        waiting[0].advance()

    return advance


@dataclass(frozen=True)
class Crowd:
    """How many calls a second were answered, and how long all but one in a hundred took."""

    a_second: float
    p99_ms: float


async def crowd(port: int, tokens: Sequence[str], rounds: int, *, follow: bool) -> Crowd:
    """Let each token's client make its calls, all of them at once."""
    loop = asyncio.get_running_loop()
    took: list[float] = []

    async def run(token: str) -> None:
        _, wire = await loop.create_connection(partial(Wire, port), "127.0.0.1", port)
        for _ in range(rounds):
            began = time.perf_counter()
            reply = await wire.call("continue_workflow", advance_of(token))
            took.append(time.perf_counter() - began)
            if follow:
                token = str(reply["continueToken"])
        wire.close()

    began = time.perf_counter()
    await asyncio.gather(*(run(token) for token in tokens))
    elapsed = time.perf_counter() - began
    took.sort()
    return Crowd(a_second=len(took) / elapsed, p99_ms=took[int(len(took) * 0.99)] * MILLISECONDS)


async def many_sessions(port: int, workspace: Path, sessions: int, steps: int) -> None:
    """Begin sessions and take some steps in each, many at once."""
    loop = asyncio.get_running_loop()
    left = iter(range(sessions))

    async def run() -> None:
        _, wire = await loop.create_connection(partial(Wire, port), "127.0.0.1", port)
        for _ in left:
            reply = await wire.call("start_workflow", start_in(workspace))
            for _ in range(steps):
                token = str(reply["continueToken"])
                reply = await wire.call("continue_workflow", advance_of(token))
        wire.close()

    await asyncio.gather(*(run() for _ in range(CROWD)))
