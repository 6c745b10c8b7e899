"""The server with rote answers on stdin and stdout, started by one who collects its spans.

Each span's name becomes a line on stderr.
"""

import sys
from typing import Any

from opentelemetry.trace import (
    NoOpTracer,
    NoOpTracerProvider,
    Span,
    Tracer,
    set_tracer_provider,
)

from headway.mcp.server import build_server
from headway.mcp.stdio import serve_stdio
from tests.support.fake_verbs_server import RoteVerbs


class Telling(NoOpTracer):
    def start_span(self, name: str, *more: Any, **told: Any) -> Span:  # noqa: ANN401 - the library's
        sys.stderr.write(f"span {name}\n")
        return super().start_span(name, *more, **told)


class Collecting(NoOpTracerProvider):
    def get_tracer(self, *_name: Any, **_told: Any) -> Tracer:  # noqa: ANN401 - the library's
        return Telling()


if __name__ == "__main__":
    set_tracer_provider(Collecting())
    serve_stdio(build_server(RoteVerbs(), "0", "/home/someone"))
    sys.exit(0)
