"""The engine of a server elsewhere: a session driven through the MCP tools any agent has.

What names the open attempt is a token, kept here. A server that was started anew takes it as
before; where its keys were rotated, and in another process, the token is found again by the
session's id: `resume_session` tells that of the attempt the session stands at.
"""

from typing import Final

from headway.adapters.engine.asking import Server
from headway.domain.errors import Code, Fault, NotFound
from headway.domain.ids import SessionId, session_called
from headway.domain.tokens import same_attempt
from headway.domain.values import Json, JsonObject
from headway.ports.engine import (
    AllDone,
    Refused,
    SessionWanted,
    StepOpen,
    Whereabouts,
    Work,
)
from headway.ports.engine_answers import refused, step_text, waits

CALL_KEY: Final = "headway/callKey"
GATES: Final = "headway/gates"
ANYWHERE: Final = "/"  # a search by id looks at every workspace


class RemoteEngine:
    """Drives one session through a server's tools; see `SessionEngine`. Its gates are enforced."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = SessionId("")
        self._token = ""
        self._current: Whereabouts | None = None
        self._outline: dict[
            str, int
        ] = {}  # the number of each step, those of loops with their loop
        self._total = 0

    async def check(self, workflow_id: str, workspace: str) -> None:
        """Raise the Fault that a start of this workflow there would end in, as far as is known."""
        await self._inspect(workflow_id, workspace)

    async def start(self, wanted: SessionWanted) -> SessionId:
        """Begin the session, or find it begun."""
        about = await self._server.about()
        session = session_called(str(about.get("ledgerId")), wanted.call_key)
        arguments: JsonObject = {
            "workflowId": wanted.workflow_id,
            "workspacePath": wanted.workspace,
            "goal": wanted.goal,
            **({"context": wanted.context} if wanted.context else {}),
        }
        meta: dict[str, Json] = {CALL_KEY: wanted.call_key, GATES: "enforce"}
        reply = await self._server.call("start_workflow", arguments, **meta)
        await self._inspect(wanted.workflow_id, wanted.workspace)
        self._session = session
        self._take(reply)
        return session

    async def sync(self, session: SessionId) -> Whereabouts:
        """Take up a session where it stands now."""
        found = await self._found(session)
        token, status = _token_of(found), str(found.get("status"))
        if found.get("isComplete"):
            self._current = AllDone()
        elif status == "gated":
            # Asked for without work, the recorded answer: the gate, or what came after it.
            reply = await self._server.call("continue_workflow", _advance(token))
            if reply.get("kind") == "blocked":  # rejected in this moment
                await self._read_again(str(reply.get("retryContinueToken")), found)
            else:
                self._take(reply)
        elif not (isinstance(self._current, StepOpen) and same_attempt(token, self._token)):
            await self._read_again(token, found)
        else:
            self._token = token
        self._session = session
        return await self.current()

    async def current(self) -> Whereabouts:
        """Return where the session stands, by the last answer."""
        assert self._current is not None
        return self._current

    async def complete(self, work: Work) -> Whereabouts | Refused:
        """Hand in the work on the open step."""
        try:
            reply = await self._server.call("continue_workflow", _advance(self._token, work))
        except Fault as fault:
            if fault.code != Code.TOKEN_BAD_SIGNATURE:
                raise
            if not await self._same_step():
                return await self.sync(self._session)
            reply = await self._server.call("continue_workflow", _advance(self._token, work))
        if reply.get("kind") == "blocked":
            self._token = str(reply.get("retryContinueToken"))
            return refused(reply)
        self._take(reply)
        return await self.current()

    async def _same_step(self) -> bool:
        """Find the token anew, after the keys were rotated; tell whether the step is still open.

        It is not where the work had been taken and only the answer was lost. An attempt that had
        been refused left the step open: handed in again, the work is judged again.
        """
        found = await self._found(self._session)
        token, step = _token_of(found), self._current
        open_still = same_attempt(token, self._token) or (
            found.get("status") == "blocked"
            and isinstance(step, StepOpen)
            and found.get("pendingStepId") == step.step
        )
        if open_still:
            self._token = token
        return open_still

    async def _read_again(self, token: str, found: JsonObject) -> None:
        """Have the open step told anew, with what was refused on it."""
        workspace = _workspace_of(found)
        if not self._outline:
            await self._inspect(str(found.get("workflowId")), workspace)
        asked: JsonObject = {
            "continueToken": token,
            "intent": "rehydrate",
            "workspacePath": workspace,
        }
        self._take(await self._server.call("continue_workflow", asked))
        self._token = token  # not the fresh one: the attempt that is open is gone on with

    async def _found(self, session: SessionId) -> JsonObject:
        asked: JsonObject = {"workspacePath": ANYWHERE, "sessionId": session}
        reply = await self._server.call("resume_session", asked)
        for candidate in _objects(reply.get("candidates")):
            if candidate.get("sessionId") == session:
                return candidate
        raise NotFound(
            f"The engine at {self._server.address.url} has no session {session}.",
            remedy="Give the address of the engine that the run began its session on.",
            details={"session": session, "engine": self._server.address.url},
        )

    async def _inspect(self, workflow_id: str, workspace: str) -> None:
        """Learn the order of the steps, which an answer does not tell."""
        asked: JsonObject = {"workflowId": workflow_id, "workspacePath": workspace}
        reply = await self._server.call("inspect_workflow", asked)
        outline = _objects(_object(reply.get("compiled")).get("outline"))
        self._total = len(outline)
        self._outline = {
            step: number for number, item in enumerate(outline, 1) for step in _steps_of(item)
        }

    def _take(self, reply: JsonObject) -> None:
        """Keep what an answer says of where the session stands, and the token it comes with."""
        if reply.get("kind") == "gate_checkpoint":
            self._token, self._current = str(reply.get("gateToken")), waits(reply)
        elif reply.get("isComplete"):
            self._token, self._current = "", AllDone()
        else:
            pending = _object(reply.get("pending"))
            step = str(pending.get("stepId"))
            self._token = str(reply.get("continueToken"))
            self._current = StepOpen(
                step=step,
                title=str(pending.get("title")),
                prompt=step_text(reply),
                number=self._outline.get(step, 0),
                total=self._total,
            )


def _advance(token: str, work: Work | None = None) -> JsonObject:
    asked: dict[str, Json] = {"continueToken": token, "intent": "advance"}
    output: dict[str, Json] = {}
    if work is not None and work.notes:
        output["notesMarkdown"] = work.notes
    if work is not None and work.artifacts:
        output["artifacts"] = list(work.artifacts)
    if output:
        asked["output"] = output
    if work is not None and work.context:
        asked["context"] = work.context
    return asked


def _token_of(candidate: JsonObject) -> str:
    return str(_object(_object(candidate.get("nextCall")).get("params")).get("continueToken"))


def _workspace_of(candidate: JsonObject) -> str:
    return str(_object(_object(candidate.get("nextCall")).get("params")).get("workspacePath"))


def _steps_of(item: JsonObject) -> list[str]:
    inner = [step for each in _objects(item.get("body")) for step in _steps_of(each)]
    return [str(item.get("id")), *inner]


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: Json) -> list[JsonObject]:
    return [_object(each) for each in value] if isinstance(value, list | tuple) else []
