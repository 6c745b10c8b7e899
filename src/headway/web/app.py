"""The ASGI application: the routes of this surface, and those of others mounted beside them."""

import logging
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from headway.application.faults import fault_reply, internal_fault
from headway.application.requests import Json
from headway.web.guard import Guard, Rules, envelope

logger = logging.getLogger(__name__)


class _Mounts:
    """Requests to a mounted path go straight to its application, all others to the routes."""

    def __init__(self, routes: ASGIApp, mounted: Mapping[str, ASGIApp]) -> None:
        self._routes = routes
        self._mounted = dict(mounted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        chosen = self._mounted.get(scope.get("path", ""), self._routes)
        await chosen(scope, receive, send)


def build_app(
    rules: Rules,
    about: Mapping[str, Json],
    mounted: Mapping[str, ASGIApp],
    doors: Sequence[Route] = (),
) -> ASGIApp:
    """Return the application.

    `about` is what `/v1/version` answers, `mounted` maps whole paths, `doors` are further routes.
    """

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def version(_request: Request) -> Response:
        return JSONResponse(dict(about))

    routes = Starlette(
        routes=[Route("/healthz", healthz), Route("/v1/version", version), *doors],
        exception_handlers={
            HTTPException: _not_served,
            ClientDisconnect: _left,
            Exception: _failed,
        },
    )
    return Guard(_Mounts(routes, mounted), rules)


async def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = error.status_code == 404  # noqa: PLR2004 - the number everybody knows
    body = envelope(
        "NOT_FOUND" if known else "METHOD_NOT_ALLOWED",
        f"There is nothing at {request.url.path[:200]} for {request.method}.",
        "This server has /mcp (POST), /v1/runs (GET, POST), /healthz and /v1/version (GET).",
    )
    return JSONResponse(body, status_code=error.status_code, headers=error.headers)


async def _left(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # to nobody; without it, that would be a bug of ours


async def _failed(request: Request, _error: Exception) -> Response:
    logger.error("%s %s failed", request.method, request.url.path)
    return JSONResponse(fault_reply(internal_fault()), status_code=500)
