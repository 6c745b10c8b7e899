"""The stdio transport: lines on stdin and stdout, strict frames between them and the library.

It takes both descriptors for itself: whatever else prints goes to stderr, and a child process finds
an empty stdin. A refused line is answered at once and the server goes on. At the end of stdin the
answers still owed are written first; a closed stdout ends the server quietly.

Reading happens in a daemon thread of its own, which also parses, hands one message at a time to
the event loop and waits until it was taken; writing hops to a worker thread, so that a client that
does not read never stops the loop.
"""

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from headway.mcp.frames import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    Frame,
    Rejection,
    RequestId,
    over_long,
    read_frame,
)
from headway.mcp.lines import LINE_BYTES_MAX, Line, read_lines
from headway.mcp.refusals import reasoned

DRAIN_SECONDS_MAX: Final = 30.0  # for answers still owed when stdin ends
INTERNAL_ERROR: Final = -32603
BAD_PARAMS: Final = "The request cannot be served as it was sent."
BAD_PARAMS_REMEDY: Final = (
    "Send initialize first, then notifications/initialized, and params as the protocol has them."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Read:
    """A frame and what the library made of it."""

    frame: Frame
    message: JSONRPCMessage


@dataclass(slots=True)
class _Wire:
    """One connection: where lines go out, and the requests, its and ours, not yet answered."""

    out: int
    to_server: MemoryObjectSendStream[SessionMessage | Exception]
    writer: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    owed: set[RequestId] = field(default_factory=set)
    asked: set[RequestId] = field(default_factory=set)
    settled: anyio.Event = field(default_factory=anyio.Event)

    async def receive(self, read: _Read | Rejection) -> None:
        """Pass a message on to the server, or answer why not."""
        if isinstance(read, Rejection):
            logger.warning("refused a message: %s %s", read.code, read.message)
            await self.send(msgspec.json.encode(read.reply()))
            return
        if read.frame.request is not None:
            self.owed.add(read.frame.request)
        if read.frame.message.get("method") == "notifications/cancelled":
            self._forget(read.frame.message.get("params"))
        if isinstance(read.message, JSONRPCResponse | JSONRPCError) and read.message.id is not None:
            self.asked.discard(read.message.id)
        await self.to_server.send(SessionMessage(read.message))

    async def send(self, data: bytes) -> None:
        """Write one line."""
        async with self.lock:
            await anyio.to_thread.run_sync(
                partial(_write_all, self.out, data + b"\n"), limiter=self.writer
            )

    def settle(self, request: RequestId | None) -> None:
        """Note that a request was answered."""
        if request is not None:
            self.owed.discard(request)
        if not self.owed:
            self.settled.set()

    async def give_up_asking(self) -> None:
        """Answer our own questions in place of a client that has left."""
        for question in sorted(self.asked, key=str):
            left = ErrorData(code=INTERNAL_ERROR, message="The client has left.")
            error = JSONRPCError(jsonrpc="2.0", id=question, error=left)
            await self.to_server.send(SessionMessage(error))

    async def drain(self) -> None:
        """Wait, for a while, until no request waits for an answer."""
        with anyio.move_on_after(DRAIN_SECONDS_MAX):
            while self.owed:
                self.settled = anyio.Event()
                await self.settled.wait()

    def _forget(self, params: object) -> None:
        request = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(request, int | str):
            self.settle(request)  # a cancelled request is not answered


def serve_stdio(server: Server) -> None:
    """Serve one client on stdin and stdout until it leaves."""
    with _taken_descriptors() as (inbound, outbound):
        anyio.run(_serve, server, inbound, outbound)


async def _serve(server: Server, inbound: int, outbound: int) -> None:
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    wire = _Wire(out=outbound, to_server=to_server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_forward, wire, from_server, tasks.cancel_scope)
        token = anyio.lowlevel.current_token()
        threading.Thread(
            target=_read_all,
            args=(wire, inbound, token, tasks.cancel_scope),
            daemon=True,
            name="stdin",
        ).start()
        await server.run(from_client, to_client, server.create_initialization_options())
        tasks.cancel_scope.cancel()


def _read_all(
    wire: _Wire, inbound: int, token: anyio.lowlevel.EventLoopToken, scope: anyio.CancelScope
) -> None:
    """Hand over every line, in the thread that waits for them; then the end."""
    try:
        for line in read_lines(partial(os.read, inbound), LINE_BYTES_MAX):
            if line.data.strip():
                anyio.from_thread.run(_deliver, wire, _read_line(line), scope, token=token)
        anyio.from_thread.run(_end, wire, token=token)
    except (OSError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        logger.debug(
            "stdin is no longer read", exc_info=True
        )  # the loop has ended before the input


async def _deliver(wire: _Wire, read: _Read | Rejection, scope: anyio.CancelScope) -> None:
    try:
        await wire.receive(read)
    except OSError:  # nobody reads the answers any more
        scope.cancel()


async def _end(wire: _Wire) -> None:
    await wire.give_up_asking()
    await wire.drain()
    await wire.to_server.aclose()


async def _forward(
    wire: _Wire, answers: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
) -> None:
    """Write what the server says until it has no more to say or nobody listens."""
    async with answers:
        async for answer in answers:
            message = answer.message
            if isinstance(message, JSONRPCRequest):
                wire.asked.add(message.id)
            try:
                await wire.send(_to_line(_explained(message)))
            except OSError:
                scope.cancel()
                return
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                wire.settle(message.id)


def _read_line(line: Line) -> _Read | Rejection:
    if not line.whole:
        return over_long(line.data)
    frame = read_frame(line.data)
    if isinstance(frame, Rejection):
        return frame
    try:
        return _Read(frame, jsonrpc_message_adapter.validate_python(frame.message, by_name=False))
    except ValueError:  # the library's validation errors are of this kind
        return Rejection(
            request=frame.request,
            rpc_code=INVALID_REQUEST,
            code="FRAME_NOT_A_REQUEST",
            message="The message is not a JSON-RPC request, notification or answer.",
            remedy="Send jsonrpc, method, params and, where an answer is wanted, an id.",
        )


def _explained(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return the message; one of the library's errors with our code and what to do."""
    if not isinstance(message, JSONRPCError):
        return message
    known = message.error.data
    if isinstance(known, dict) and "code" in known:
        return message
    error = message.error
    if error.code == INVALID_PARAMS and not known:
        told = {"code": "FRAME_BAD_PARAMS", "message": BAD_PARAMS, "remedy": BAD_PARAMS_REMEDY}
        text = f"{BAD_PARAMS} {BAD_PARAMS_REMEDY}"
        error = ErrorData(code=INVALID_PARAMS, message=text, data=told)
    else:
        error = ErrorData.model_validate(reasoned(error))
    return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)


def _to_line(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:  # text that has no encoding: tell the client rather than let it wait
        logger.exception("an answer could not be encoded")
        request = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
        error = {"code": INTERNAL_ERROR, "message": "The answer holds text that cannot be encoded."}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": request, "error": error})


def _write_all(out: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(out, rest) :]


@contextmanager
def _taken_descriptors() -> Iterator[tuple[int, int]]:
    """Take stdin and stdout from everybody else for as long as the server runs."""
    sys.stdout.flush()
    inbound, outbound = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield inbound, outbound
    finally:
        sys.stdout.flush()
        os.dup2(inbound, 0)
        os.dup2(outbound, 1)
        os.close(nothing)
