"""`python -m bench.library_server FILE`: the protocol library's own HTTP server; says its port.

Its one tool answers the reply in the file and does nothing. It is what anybody gets who serves a
tool with the library, at its fastest: JSON answers, no sessions, uvloop and httptools, no look at a
tool's schema, no thread, nothing for the garbage collector to walk through. What a floor is made of
must not be ours: a door of ours that got faster would make every verb behind it look slower.
"""

import gc
import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from headway.mcp.render import render_reply
from headway.mcp.tools import tool_list
from headway.web.serving import listen

HOST = "127.0.0.1"


def build(reply: dict[str, Any], text: str) -> Server:
    """Return a server whose tool answers this, whatever it is called and given."""

    async def call_tool(_: ServerRequestContext, _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=text)], structured_content=reply)

    async def list_tools(
        _: ServerRequestContext, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tool_list())  # clients look a tool up before they call it

    return Server(
        "null",
        version="0",
        on_call_tool=call_tool,
        on_list_tools=list_tools,
        get_tool_input_schema=lambda _tool: None,
    )


def main(file: str) -> None:
    reply = json.loads(Path(file).read_text("utf-8"))
    listener = listen(HOST, 0)
    server = build(reply, render_reply("continue_workflow", reply))
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_config=None, access_log=False)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
