"""What a client is told where no server can answer it: coded errors, each with a way out."""

import json
from typing import Final, NamedTuple

from headway.mcp.relay.messages import Message
from headway.server_lock import Running

UNAUTHORIZED: Final = 401
SERVER_ERROR: Final = -32000  # JSON-RPC leaves these numbers to servers


class Failure(NamedTuple):
    """Why a request is not answered by a server: a code, what happened, what to do."""

    code: str
    message: str
    remedy: str

    def reply(self, request: int | str) -> bytes:
        """Return the line that tells a request so."""
        error = {
            "code": SERVER_ERROR,
            "message": f"{self.message} {self.remedy}",
            "data": self._asdict(),
        }
        return json.dumps({"jsonrpc": "2.0", "id": request, "error": error}).encode()


class Unserved(Exception):
    """No server can answer a request; the failure says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure: Final = failure


BROKEN: Final = Failure(
    "INTERNAL_ERROR",
    "The relay met an error of its own; whether the call was made is not known.",
    "Repeat it: a repeated call changes nothing twice. The log of headway mcp says more.",
)
UNSERVED: Final = Failure(
    "SERVER_GONE",
    "The server of this home has gone, and the home cannot be served without it.",
    "Run headway up; it says what is wrong.",
)


def silent(message: Message, why: str) -> Failure:
    """Return what is told when the server was not to be reached for too long."""
    remedy = "See what headway up says. Then call again; the same call is answered only once."
    if message.params.get("name") == "start_workflow":
        remedy = (
            "See what headway up says. The session may have begun: look with resume_session "
            "before starting it again."
        )
    return Failure("SERVER_SILENT", f"The server of this home does not answer ({why}).", remedy)


def protocol_changed(now: str | None, before: str | None) -> Failure:
    """Return what is told when the server that runs now agrees to another protocol version."""
    return Failure(
        "PROTOCOL_CHANGED",
        f"The server that runs now speaks {now or 'another protocol'}; this connection began "
        f"with {before}.",
        "Restart the MCP client, so that it shakes hands again.",
    )


def refused(status: int, said: str) -> Failure:
    """Return what is told when the server answers with something that is not the protocol."""
    if status == UNAUTHORIZED:
        return Failure(
            "UNAUTHORIZED",
            "The server of this home demands a token.",
            "Set HEADWAY_TOKEN for this MCP server in the client's settings, or start headway up "
            "with --token-file, whose file headway mcp finds by itself.",
        )
    return Failure(
        "SERVER_REFUSED",
        f"The server answered {status} and said: {said or 'nothing'}",
        "See the server's log; without a server headway mcp serves by itself.",
    )


def other_version(running: Running, ours: str) -> Failure:
    """Return what is told when server and relay are too far apart."""
    return Failure(
        "SERVER_OF_ANOTHER_VERSION",
        f"The server of this home is Headway {running.version}, this is {ours}.",
        "Restart whichever is older: the MCP client, or the server (pid "
        f"{running.pid}) with headway up.",
    )


def fits(theirs: str, ours: str) -> bool:
    """Tell whether two versions understand each other: those that differ in no breaking number.

    By semantic versioning that is the first number, and before 1.0 also the second.
    """
    return _line(theirs) == _line(ours)


def _line(version: str) -> tuple[str, ...]:
    parts = version.split(".")
    return tuple(parts[:2] if parts[0] == "0" else parts[:1])
