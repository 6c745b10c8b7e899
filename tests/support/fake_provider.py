"""A provider of models on a real port of this machine; it speaks a real wire format.

It does what it was told to do, in order, and keeps what it was asked.
"""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.patience import SECONDS_MAX
from tests.support.provider_acts import Act, Babbles, BreaksOff, Fails, Says, Silent
from tests.support.provider_wires import Wire

PROBE = Says(text="one two")  # the half of a reply before an error in mid-stream


class CutOff(Exception):
    """The line is cut here."""


@dataclass(frozen=True)
class Asked:
    """One request: where, with which headers, and its body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class FakeProvider:
    """Does its acts in order; the last is done again when there are no more."""

    wire: Wire
    url: str
    acts: list[Act] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def does(self, *acts: Act) -> None:
        self.acts[:] = acts

    async def answer(self, request: Request) -> Response:
        body: dict[str, Any] = json.loads(await request.body())
        path = request.url.path
        self.asked.append(Asked(path, dict(request.headers), body))
        model = str(body.get("model") or path.split("/")[2])
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        match act:
            case Says() | BreaksOff() | Silent():
                return self._stream(self._pieces(act, model))
            case Fails() if act.inside:
                head = _half(list(self.wire.pieces(PROBE, model)))
                return self._stream(_each([*head, self.wire.error_inside(act)]))
            case Fails():
                error = self.wire.error(act)
                headers = error.headers | dict(act.headers)
                return JSONResponse(error.body, status_code=error.status, headers=headers)
            case Babbles():
                return Response(act.body, media_type=act.content_type)

    async def _pieces(self, act: Says | BreaksOff | Silent, model: str) -> AsyncIterator[bytes]:
        says = act if isinstance(act, Says) else act.reply if isinstance(act, BreaksOff) else PROBE
        pieces = list(self.wire.pieces(says, model))
        if isinstance(act, Says):
            for piece in pieces:
                yield piece
                await asyncio.sleep(act.gap)
            return
        for piece in _half(pieces):
            yield piece
        if isinstance(act, Silent):
            await asyncio.Event().wait()  # until the one who asked is gone
        elif act.abruptly:
            raise CutOff

    def _stream(self, pieces: AsyncIterator[bytes]) -> StreamingResponse:
        return StreamingResponse(pieces, media_type=self.wire.content_type)


@contextmanager
def provider(wire: Wire, *acts: Act) -> Iterator[FakeProvider]:
    """Serve on a port of its own, in a thread, until the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    fake = FakeProvider(wire, f"http://127.0.0.1:{listener.getsockname()[1]}", list(acts))
    route = Route("/{path:path}", fake.answer, methods=["POST"])
    config = uvicorn.Config(
        Starlette(routes=[route]), log_config=None, log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(SECONDS_MAX)
        listener.close()
        assert not thread.is_alive()


def _half(pieces: list[bytes]) -> list[bytes]:
    return pieces[: len(pieces) // 2]


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
