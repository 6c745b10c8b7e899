"""What a call over HTTP leaves behind: nothing that the garbage collector alone could free.

A collection stops every call of the server, so that the last of many at once wait for it.
"""

import asyncio
import gc
import json
from collections.abc import Iterator

import pytest
from mcp.types import PROTOCOL_VERSION_META_KEY
from starlette.types import Message

from headway.mcp.http import McpOverHttp
from headway.mcp.server import build_server
from tests.support.fake_verbs_server import RoteVerbs

CALLS = 20
NEWER, OLDER = "2026-07-28", "2025-06-18"


@pytest.fixture
def _collector_off() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


async def call(app: McpOverHttp, version: str) -> object:
    envelope = {
        PROTOCOL_VERSION_META_KEY: version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {
        "name": "resume_session",
        "arguments": {"workspacePath": "/w"},
        **({"_meta": envelope} if version == NEWER else {}),
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "content-type": "application/json",
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": "resume_session",
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body.encode()}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await app({"type": "http", "method": "POST", "headers": raw}, receive, send)
    return json.loads(sent[1]["body"])["result"]["structuredContent"]


@pytest.mark.usefixtures("_collector_off")
@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_a_call_leaves_nothing_for_the_collector(version: str) -> None:
    app = McpOverHttp(build_server(RoteVerbs(), "0", "/home/someone"))

    async def left_by(calls: int) -> int:
        gc.collect()
        for _ in range(calls):
            assert await call(app, version) == {"candidates": [], "totalEligible": 0}
        return gc.collect()

    async def measured() -> int:
        await left_by(1)  # what the first one makes for all
        return await left_by(CALLS)

    assert asyncio.run(measured()) < CALLS
