"""`python -m bench.null_server FILE`: the HTTP server with verbs that do nothing; says its port.

Each tool answers the reply in the file, so that a null call takes every path of a real one, there
and back and with as many bytes, but the verb's own.
"""

import gc
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.application.requests import Reply, Request
from headway.mcp.http import McpOverHttp
from headway.mcp.server import build_server
from headway.web.app import build_app
from headway.web.guard import Rules
from headway.web.serving import listen, serve

HOST = "127.0.0.1"


class NullVerbs:
    """Seven verbs, one answer, and nobody to ask."""

    people = None

    @staticmethod
    def together(calls: Sequence[Callable[[], None]]) -> None:
        for call in calls:
            call()

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def _answer(self, _request: Request) -> Reply:
        return self._reply

    list_workflows = inspect_workflow = start_workflow = _answer
    continue_workflow = continue_soon = _answer
    checkpoint_workflow = resume_session = manage_workflow_source = _answer

    def tell_session(self, name: str) -> Reply:
        return {"sessionId": name}


def main(file: str) -> None:
    verbs = NullVerbs(json.loads(Path(file).read_text("utf-8")))
    listener = listen(HOST, 0)
    app = build_app(
        Rules(host=HOST), {}, {"/mcp": McpOverHttp(build_server(verbs, "0", "/nowhere"))}
    )
    gc.collect()
    gc.freeze()
    serve(app, listener, lambda: print(json.dumps({"port": listener.getsockname()[1]}), flush=True))


if __name__ == "__main__":
    main(sys.argv[1])
