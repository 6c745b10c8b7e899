"""The engine in this process: a session driven through the verbs, one thread hop a call.

The open attempt is found from the session itself, so a run that another process takes up needs
nothing but the session's id.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from headway.application.continue_workflow import continue_workflow, outcome_reply
from headway.application.engine import Engine
from headway.application.loading import admit, load
from headway.application.naming import unknown_session
from headway.application.replies import pending, show_step
from headway.application.requests import ContinueWorkflow, Reply, StartWorkflow
from headway.application.start_workflow import session_called, start_workflow
from headway.domain.ids import SessionId
from headway.domain.values import Json
from headway.ports.engine import (
    AllDone,
    GateWaits,
    Refused,
    SessionWanted,
    StepOpen,
    Whereabouts,
    Work,
)

_RETRY_TOKEN: Final = " with the retry token of this answer"  # which is kept here, not told


class DirectEngine:
    """Drives one session through the verbs; see `SessionEngine`. Its gates are always enforced."""

    def __init__(self, engine: Engine) -> None:
        self._engine = replace(engine, gates="enforce")
        self._session = SessionId("")
        self._token = ""
        self._current: Whereabouts | None = None

    async def start(self, wanted: SessionWanted) -> SessionId:
        """Begin the session, or find it begun."""
        return await asyncio.to_thread(self._start, wanted)

    async def sync(self, session: SessionId) -> Whereabouts:
        """Take up a session where it stands now."""
        return await asyncio.to_thread(self._stand, session)

    async def current(self) -> Whereabouts:
        """Return where the session stands, by the last answer."""
        assert self._current is not None
        return self._current

    async def complete(self, work: Work) -> Whereabouts | Refused:
        """Hand in the work on the open step."""
        return await asyncio.to_thread(self._complete, work)

    def _start(self, wanted: SessionWanted) -> SessionId:
        start_workflow(
            self._engine,
            StartWorkflow(
                workflow_id=wanted.workflow_id,
                workspace_path=wanted.workspace,
                goal=wanted.goal,
                context=wanted.context,
                call_key=wanted.call_key,
            ),
        )
        session = session_called(self._engine, wanted.call_key)
        self._stand(session)
        return session

    def _stand(self, session: SessionId) -> Whereabouts:
        summary = self._engine.sessions.summary(session)
        if summary is None:
            raise unknown_session(self._engine, session)
        self._session = session
        if summary.status in {"complete", "complete_with_gaps"}:
            self._current = AllDone()
            return self._current
        loaded = load(self._engine, admit(self._engine, summary.nonce))
        scene, attempt = loaded.scene, loaded.row.attempt
        self._token = scene.token("ct", attempt)
        outcome = scene.state.attempts[attempt].outcome
        if outcome is not None:
            self._current = _waits(outcome_reply(scene, outcome))
            return self._current
        told = pending(scene, loaded.opened, show_step(scene, loaded.opened))
        self._current = StepOpen(
            step=str(told["stepId"]),
            title=str(told["title"]),
            prompt=str(told["prompt"]),
            number=loaded.opened.cursor.at[0] + 1,
            total=len(scene.workflow.steps),
        )
        return self._current

    def _complete(self, work: Work) -> Whereabouts | Refused:
        handed_in = ContinueWorkflow(
            continue_token=self._token,
            intent="advance",
            notes=work.notes,
            artifacts=work.artifacts,
            context=work.context,
        )
        reply = continue_workflow(self._engine, handed_in)
        if reply["kind"] != "blocked":
            return self._stand(self._session)
        self._token = str(reply["retryContinueToken"])
        return Refused(reasons=_reasons(reply), retryable=bool(reply["retryable"]))


def _waits(reply: Reply) -> GateWaits:
    """Return what a gate's answer says; no other outcome is met at a tip that is not complete."""
    return GateWaits(
        gate=str(reply["gateId"]), step=str(reply["stepId"]), command=str(reply["showCommand"])
    )


def _reasons(reply: Reply) -> tuple[str, ...]:
    """Return what a blocked reply lacks, with what to send, and what it suggests."""
    reasons = [
        f"{blocker['message']} {blocker['suggestedFix']}".replace(_RETRY_TOKEN, "")
        for blocker in _objects(_object(reply["blockers"])["blockers"])
    ]
    validation = _object(reply.get("validation"))
    for part in ("issues", "suggestions"):
        reasons += [str(text) for text in _list(validation.get(part)) if text not in reasons]
    followup = _object(reply.get("assessmentFollowup"))
    reasons += [f"{followup['title']}: {followup['guidance']}"] if followup else []
    return tuple(reasons)


def _object(value: Json) -> Reply:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()


def _objects(value: Json) -> list[Reply]:
    return [_object(each) for each in _list(value)]
