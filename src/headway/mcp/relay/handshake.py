"""The handshake of the older era, kept so that it can be made again with another server."""

import json
import threading
from typing import Final

from headway.mcp.relay.failures import Unserved, protocol_changed
from headway.mcp.relay.messages import Message

INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class Handshake:
    """What the client opened with, and what it was told; empty in the newer era, which has none.

    `session` is the server's name for the connection, None where servers keep none. All threads of
    the relay share it; `lock` is held by the one that greets a server anew.
    """

    def __init__(self) -> None:
        self.lock: Final = threading.Lock()
        self.asked: Message | None = None
        self.version: str | None = None
        self.session: str | None = None

    def note(self, message: Message, answer: bytes, session: str | None) -> None:
        """Keep the client's own handshake, once a server has agreed to it."""
        version = agreed_version(answer)
        if version is not None:
            self.asked, self.version, self.session = message, version, session

    def check(self, answer: bytes) -> None:
        """Compare what another server agrees to. Raises Unserved when it is something else."""
        version = agreed_version(answer)
        if version != self.version:
            raise Unserved(protocol_changed(version, self.version))


def agreed_version(answer: bytes) -> str | None:
    """Return the protocol version an answer to `initialize` agrees to, None when it does not."""
    try:
        content = json.loads(answer)
    except ValueError:
        return None
    result = content.get("result") if isinstance(content, dict) else None
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) else None
