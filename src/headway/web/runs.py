"""Runs over HTTP: submitted, listed, looked at, and spoken to. docs/reference/http-runs.md has all.

What never was is 404, what has ended 410, what stands in the way of a request 409, what cannot be
meant 400 or 422.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.application.checking_limits import Grant
from headway.application.faults import Fault
from headway.application.list_runs import RunFilter
from headway.application.read_run_log import LINES_MAX, LogPage
from headway.application.requests import Reply
from headway.application.run_verbs import RunVerbs
from headway.application.submit_run import Limits, SubmitRun
from headway.web.bodies import read_body, read_query
from headway.web.refusals import NOT_FOUND, UNUSABLE, Refused, answer_of, of_fault
from headway.web.run_requests import (
    AbortBody,
    EventsQuery,
    ListQuery,
    PauseBody,
    ResumeBody,
    RetryBody,
    ShowQuery,
    SteerBody,
    SubmitBody,
)

Answer = TypeVar("Answer")
Door: TypeAlias = Callable[[Request], Awaitable[Response]]

OK: Final = 200
ACCEPTED: Final = 202
LISTED_MAX: Final = 10_000


class Threads(Protocol):
    """Where the verbs run: they wait for the store, and the event loop must not."""

    async def run(self, ask: Callable[[], Answer]) -> Answer:
        """Return what a call returns or raise what it raises."""


class RunDoors:
    """The routes of runs, on verbs that are called in threads."""

    def __init__(self, verbs: RunVerbs, threads: Threads) -> None:
        self._verbs = verbs
        self._threads = threads

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/v1/runs/{run}"
        doors: tuple[tuple[str, str, Door], ...] = (
            ("POST", "/v1/runs", self._submit),
            ("GET", "/v1/runs", self._list),
            ("GET", one, self._show),
            ("GET", f"{one}/events", self._events),
            ("POST", f"{one}/steer", self._steer),
            ("POST", f"{one}/abort", self._abort),
            ("POST", f"{one}/pause", self._pause),
            ("POST", f"{one}/resume", self._resume),
            ("POST", f"{one}/retry", self._retry),
        )
        return [Route(path, _told(door), methods=[method]) for method, path, door in doors]

    async def _submit(self, request: Request) -> Response:
        asked = await read_body(request, SubmitBody)
        limits = asked.limits
        wanted = SubmitRun(
            workflow_id=asked.workflow,
            workspace=asked.workspace,
            goal=asked.goal,
            model=asked.model,
            limits=Limits(
                turns=limits.turns,
                tokens=limits.tokens,
                money=limits.money,
                seconds=limits.seconds,
                policy=limits.on_limit,
            ),
            in_place=asked.in_place,
            stuck=asked.stuck,
            priority=asked.priority,
            dedupe=asked.dedupe,
        )
        try:
            row, is_new = await self._threads.run(lambda: self._verbs.submit(wanted))
        except Fault as fault:
            refusal = of_fault(fault)
            if refusal.status == NOT_FOUND:  # a workflow; the address itself is there
                refusal = Refused(UNUSABLE, refusal.body)
            raise refusal from fault
        return _at(row, ACCEPTED if is_new else OK)

    async def _list(self, request: Request) -> Response:
        query = read_query(request, ListQuery)
        wanted = RunFilter(
            state=query.state,
            workflow_id=query.workflow,
            workspace=query.workspace,
            unfinished=query.unfinished,
        )
        limit = max(1, min(query.limit, LISTED_MAX))
        return JSONResponse(await self._threads.run(lambda: self._verbs.list(limit, wanted)))

    async def _show(self, request: Request) -> Response:
        read_query(request, ShowQuery)
        return JSONResponse(await self._threads.run(lambda: self._verbs.show(_run(request))))

    async def _events(self, request: Request) -> Response:
        query = read_query(request, EventsQuery)
        page = LogPage(
            after=max(0, query.after), limit=max(1, min(query.limit, LINES_MAX)), texts=query.texts
        )
        return JSONResponse(await self._threads.run(lambda: self._verbs.log(_run(request), page)))

    async def _steer(self, request: Request) -> Response:
        said = await read_body(request, SteerBody)
        row = await self._threads.run(lambda: self._verbs.steer(_run(request), said.text, said.by))
        return JSONResponse(row, ACCEPTED)

    async def _abort(self, request: Request) -> Response:
        asked = await read_body(request, AbortBody)
        run = _run(request)
        row = await self._threads.run(lambda: self._verbs.abort(run, asked.by, asked.reason))
        return JSONResponse(row, OK if row["state"] == "ended" else ACCEPTED)

    async def _pause(self, request: Request) -> Response:
        asked = await read_body(request, PauseBody)
        row = await self._threads.run(lambda: self._verbs.pause(_run(request), asked.by))
        return JSONResponse(row, OK if row["state"] == "resting" else ACCEPTED)

    async def _resume(self, request: Request) -> Response:
        asked = await read_body(request, ResumeBody)
        more = asked.limits
        grant = Grant(turns=more.turns, tokens=more.tokens, money=more.money, seconds=more.seconds)
        row = await self._threads.run(lambda: self._verbs.resume(_run(request), asked.by, grant))
        return JSONResponse(row, ACCEPTED)

    async def _retry(self, request: Request) -> Response:
        await read_body(request, RetryBody)
        return _at(await self._threads.run(lambda: self._verbs.retry(_run(request))), ACCEPTED)


def _run(request: Request) -> str:
    return str(request.path_params["run"])


def _at(row: Reply, status: int) -> Response:
    return JSONResponse(row, status, headers={"location": f"/v1/runs/{row['run']}"})


def _told(door: Door) -> Door:
    """Return a door that answers its refusals and the application's faults."""

    async def answered(request: Request) -> Response:
        try:
            return await door(request)
        except Refused as refusal:
            return answer_of(refusal)
        except Fault as fault:
            return answer_of(of_fault(fault))

    return answered
