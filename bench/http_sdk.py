"""The same calls by the protocol library's own client, as most programs make them.

Reported beside the raw client's, in the same era and with replies of the same size: what it adds
is the client's work, which no server can spare it.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import uvloop
from mcp.client.client import Client

from bench.figures import Figure
from bench.http_client import VERSION
from bench.http_session import advance_of, start_in
from bench.sizes import Sizes
from bench.timing import MILLISECONDS, Blocks, Call
from headway.application.requests import Json

GROUP = "over HTTP, one client of the protocol library"
NULL, COMMIT, REAL = "null call", "bare commit", "continue_workflow"


def measure_sdk(
    port: int, null_port: int, commit: Call, workspace: Path, sizes: Sizes
) -> Iterator[Figure]:
    """Yield a call's time, and its ratio to a null call and a commit; nothing is promised."""
    blocks = uvloop.run(_blocks(port, null_port, commit, workspace, sizes))
    for name in (NULL, REAL):
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=GROUP, name=name, value=blocks.median(name), unit="ms", note=note)
    floor = blocks.median(NULL) + blocks.median(COMMIT)
    yield Figure(group=GROUP, name=f"{REAL} / F", value=blocks.median(REAL) / floor, unit="times")


async def _blocks(port: int, null_port: int, commit: Call, workspace: Path, sizes: Sizes) -> Blocks:
    async with _client(port) as real, _client(null_port) as null:
        token = await _call(real, "start_workflow", start_in(workspace))
        open_ = {NULL: token, REAL: token}

        async def advance(name: str, client: Client) -> None:
            open_[name] = await _call(client, "continue_workflow", advance_of(open_[name]))

        async def durable() -> None:
            commit()

        calls: dict[str, Callable[[], Awaitable[None]]] = {
            NULL: lambda: advance(NULL, null),
            COMMIT: durable,
            REAL: lambda: advance(REAL, real),
        }
        times: dict[str, list[list[float]]] = {name: [] for name in calls}
        for _ in range(sizes.blocks):
            for name in calls:
                times[name].append([])
            for _ in range(sizes.rounds):
                for name, call in calls.items():
                    began = time.perf_counter()
                    await call()
                    times[name][-1].append((time.perf_counter() - began) * MILLISECONDS)
        return Blocks(times)


def _client(port: int) -> Client:
    return Client(f"http://127.0.0.1:{port}/mcp", mode=VERSION)


async def _call(client: Client, tool: str, arguments: dict[str, Json]) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    return str(result.structured_content["continueToken"])
