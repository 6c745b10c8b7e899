"""The HTTP protocol of the server library, with our answer to bytes that are no HTTP."""

import json
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headway.web.guard import envelope

NOT_HTTP: Final = json.dumps(
    envelope(
        "NOT_HTTP",
        "What was sent is not an HTTP/1.1 request.",
        "Send one line with method and path, then headers with one Host and one Content-Length.",
    )
).encode()


class Wire(HttpToolsProtocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - ours says more
        """Answer what could not be read with a code and a remedy, and hang up."""
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(NOT_HTTP)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + NOT_HTTP)
        self.transport.close()
