"""The protocol library's own HTTP server over rote verbs: it keeps sessions and answers in streams.

`sdk_server.py HOME`: announced in the lock of that home, so that a relay finds it.
"""

import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from headway import __version__
from headway.mcp.server import build_server
from headway.server_lock import Running, ServerLock
from tests.support.fake_verbs_server import RoteVerbs


class Endpoint:
    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def main() -> None:
    lock = ServerLock(Path(sys.argv[1]))
    listener = socket.create_server(("127.0.0.1", 0))
    port: int = listener.getsockname()[1]
    manager = StreamableHTTPSessionManager(build_server(RoteVerbs(), "0", "/home/someone"))

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            lock.announce(
                Running(
                    pid=os.getpid(),
                    host="127.0.0.1",
                    port=port,
                    version=__version__,
                    started_at="then",
                )
            )
            print("up", flush=True)  # noqa: T201 - whoever started it waits for this line
            yield

    routes = [Route("/mcp", Endpoint(manager), methods=["GET", "POST", "DELETE"])]
    app = Starlette(routes=routes, lifespan=lifespan)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
