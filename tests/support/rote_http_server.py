"""The HTTP server with verbs that know their answers by rote; says its port on stdout."""

from headway.mcp.http import McpOverHttp
from headway.mcp.server import build_server
from headway.web.app import build_app
from headway.web.guard import Rules
from headway.web.serving import listen, serve
from tests.support.fake_verbs_server import RoteVerbs


def main() -> None:
    listener = listen("127.0.0.1", 0)
    mcp = McpOverHttp(build_server(RoteVerbs(), "0", "/home/someone"))
    app = build_app(Rules(host="127.0.0.1"), {}, {"/mcp": mcp})
    serve(app, listener, lambda: print(listener.getsockname()[1], flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
