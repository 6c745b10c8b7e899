"""Calls over HTTP, as a client meets them: a server, a durable commit, and a verb on top.

F is a null call plus a bare durable commit, both measured in turn with the real calls. The null
call goes to a server of the same make whose verbs do nothing, with a reply of the same size.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.advances import NOTE, NOTE_CHARS, WORKFLOW_ID
from bench.figures import Figure
from bench.http_client import Client, Wire
from bench.machine import bare_commit
from bench.sizes import Sizes
from bench.timing import Blocks, interleaved
from headway.application.requests import Json, JsonObject

GROUP = "over HTTP, one client"
CROWD_GROUP = "over HTTP, 32 sessions at once"
CROWD = 32
COMMIT_BYTES = 2_600  # about what an advance leaves in the file
CONTINUE_MAX = 1.6
ABOVE_MAX_MS = 0.8
START_MAX = 2.5
THROUGHPUT_MAX = 1 / 0.35
P99_MAX_MS = 60.0
MILLISECONDS = 1e3
EXIT_SECONDS_MAX = 30


def measure_http(folder: Path, files: Path, workspace: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield the figures of one client, then of many at once."""
    environment = {
        **os.environ,  # noqa: TID251
        "HEADWAY_HOME": str(folder / "http-home"),
        "HEADWAY_WORKFLOW_PATH": str(files),
    }
    with (
        _server(["headway", "up", "--json", "--port", "0"], environment) as port,
        closing(Client(port)) as client,
    ):
        session = _Session(client, workspace)
        sample = folder / "reply.json"
        sample.write_text(json.dumps(session.advance()), "utf-8")
        with _server(["bench.null_server", str(sample)], environment) as null_port:
            with closing(Client(null_port)) as null:
                yield from _alone(session, _Session(null, workspace), folder, sizes)
            yield from _many(port, null_port, session, sizes)


@dataclass
class _Session:
    """A session driven by one client; on the null server a call that leads nowhere."""

    client: Client
    workspace: Path
    token: str = ""

    def __post_init__(self) -> None:
        self.token = self.start()

    def start(self) -> str:
        reply = self.client.call(
            "start_workflow",
            workflowId=WORKFLOW_ID,
            workspacePath=str(self.workspace),
            goal="measure a call",
        )
        return str(reply["continueToken"])

    def advance(self) -> JsonObject:
        reply = self.client.call("continue_workflow", **_advance(self.token))
        self.token = str(reply["continueToken"])
        return reply


def _advance(token: str) -> dict[str, Json]:
    notes = NOTE.format(number=0)[:NOTE_CHARS]
    return {"continueToken": token, "intent": "advance", "output": {"notesMarkdown": notes}}


def _alone(real: _Session, null: _Session, folder: Path, sizes: Sizes) -> Iterator[Figure]:
    with bare_commit(folder / "floor-http.db", COMMIT_BYTES) as commit:
        blocks = interleaved(
            {
                "null call": null.advance,
                "bare commit": commit,
                "continue_workflow": real.advance,
                "start_workflow": real.start,
            },
            blocks=sizes.blocks,
            rounds=sizes.rounds,
        )
    for name in blocks.times:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=GROUP, name=name, value=blocks.median(name), unit="ms", note=note)
    floor = blocks.median("null call") + blocks.median("bare commit")
    above = blocks.median("continue_workflow") - floor
    yield Figure(group=GROUP, name="F: null call + bare commit", value=floor, unit="ms")
    yield _against_f(blocks, "continue_workflow", CONTINUE_MAX)
    yield Figure(
        group=GROUP, name="continue_workflow - F", value=above, unit="ms", target=ABOVE_MAX_MS
    )
    yield _against_f(blocks, "start_workflow", START_MAX)


def _against_f(blocks: Blocks, name: str, most: float) -> Figure:
    ratios = [
        statistics.median(call) / (statistics.median(null) + statistics.median(commit))
        for call, null, commit in zip(
            blocks.times[name],
            blocks.times["null call"],
            blocks.times["bare commit"],
            strict=True,
        )
    ]
    note = "blocks " + " ".join(f"{ratio:.2f}" for ratio in ratios)
    value = statistics.median(ratios)
    return Figure(
        group=GROUP, name=f"{name} / F", value=value, unit="times", target=most, note=note
    )


def _many(port: int, null_port: int, session: _Session, sizes: Sizes) -> Iterator[Figure]:
    rounds: list[tuple[_Crowd, _Crowd]] = []
    for _ in range(sizes.blocks):
        null = uvloop.run(_crowd(null_port, [session.token] * CROWD, sizes.rounds, follow=False))
        tokens = [session.start() for _ in range(CROWD)]
        rounds.append((null, uvloop.run(_crowd(port, tokens, sizes.rounds, follow=True))))
    for name, column in (("null call", 0), ("continue_workflow", 1)):
        many = statistics.median(pair[column].a_second for pair in rounds)
        p99 = statistics.median(pair[column].p99 for pair in rounds)
        most = P99_MAX_MS if column else None
        yield Figure(group=CROWD_GROUP, name=name, value=many, unit="a second")
        yield Figure(group=CROWD_GROUP, name=f"{name}, p99", value=p99, unit="ms", target=most)
    ratios = [null.a_second / real.a_second for null, real in rounds]
    yield Figure(
        group=CROWD_GROUP,
        name="null calls to one continue_workflow",
        value=statistics.median(ratios),
        unit="times",
        target=THROUGHPUT_MAX,
        note=f"{1 / statistics.median(ratios):.2f} of the null calls' throughput",
    )


@dataclass(frozen=True)
class _Crowd:
    a_second: float
    p99: float


async def _crowd(port: int, tokens: Sequence[str], rounds: int, *, follow: bool) -> _Crowd:
    """Let each token's client make its calls, all of them at once."""
    loop = asyncio.get_running_loop()
    took: list[float] = []

    async def run(token: str) -> None:
        _, wire = await loop.create_connection(Wire, "127.0.0.1", port)
        for _ in range(rounds):
            began = time.perf_counter()
            reply = await wire.call("continue_workflow", _advance(token))
            took.append(time.perf_counter() - began)
            if follow:
                token = str(reply["continueToken"])
        wire.close()

    began = time.perf_counter()
    await asyncio.gather(*(run(token) for token in tokens))
    elapsed = time.perf_counter() - began
    took.sort()
    return _Crowd(a_second=len(took) / elapsed, p99=took[int(len(took) * 0.99)] * MILLISECONDS)


@contextmanager
def _server(words: list[str], environment: dict[str, str]) -> Iterator[int]:
    """Start a server that says its port in a line of JSON; stop it at the end."""
    command = [sys.executable, "-m", *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield int(json.loads(process.stdout.readline())["port"])
        finally:
            process.terminate()
            process.wait(EXIT_SECONDS_MAX)
