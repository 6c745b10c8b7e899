"""The engine in this process: a session driven through the verbs, one thread hop a call.

The open attempt is found from the session itself, so a run that another process takes up needs
nothing but the session's id.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import anyio
from anyio.to_thread import run_sync

from headway.application.continue_workflow import continue_workflow, outcome_reply
from headway.application.engine import Engine
from headway.application.loading import admit, load
from headway.application.naming import unknown_session
from headway.application.refusals import outcomes_on, refusals
from headway.application.replies import pending, show_step
from headway.application.requests import ContinueWorkflow, StartWorkflow
from headway.application.start_workflow import start_workflow
from headway.domain.ids import SessionId, session_called
from headway.domain.tokens import sign, told_nonce
from headway.domain.values import Json
from headway.ports.checks import Checker
from headway.ports.engine import (
    AllDone,
    Refused,
    SessionWanted,
    StepOpen,
    Whereabouts,
    Work,
)
from headway.ports.engine_answers import refused, step_text, waits
from headway.ports.ledger import AttemptRow


class StoppableChecker(Checker, Protocol):
    """A checker that whoever waits for it may end."""

    def stop(self) -> None:
        """End what runs, and run nothing more."""


class DirectEngine:
    """Drives one session through the verbs; see `SessionEngine`.

    Its gates are always enforced. `new_checker` makes what runs the checks of one hand-in, which
    is stopped when the hand-in is cancelled.
    """

    def __init__(
        self, engine: Engine, new_checker: Callable[[], StoppableChecker] | None = None
    ) -> None:
        self._engine = replace(engine, gates="enforce", checker=None)
        self._new_checker = new_checker
        self._limiter = anyio.CapacityLimiter(1)
        self._session = SessionId("")
        self._nonce = b""  # of the open attempt; its token is signed when it is needed
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
        checker = self._new_checker() if self._new_checker is not None else None
        engine = replace(self._engine, checker=checker)
        handed_in = asyncio.ensure_future(
            # Checks may keep the thread for long: it is none of those that others wait for.
            run_sync(self._complete, engine, work, limiter=self._limiter)
        )
        try:
            return await asyncio.shield(handed_in)
        except asyncio.CancelledError:
            if checker is not None:
                checker.stop()
            with anyio.CancelScope(shield=True):  # every process it began is gone before we are
                await asyncio.wait([handed_in])
            handed_in.exception()  # nobody waits for it any more
            raise

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
        session = session_called(self._engine.ledger_id, wanted.call_key)
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
        self._nonce = loaded.row.nonce
        outcome = scene.state.attempts[attempt].outcome
        if outcome is not None:
            self._current = waits(outcome_reply(scene, outcome))
            return self._current
        told = pending(scene, show_step(scene, loaded.opened))
        warnings = self._refusals(loaded.row)
        self._current = StepOpen(
            step=str(told["stepId"]),
            title=str(told["title"]),
            prompt=step_text({"pending": told, "warnings": warnings}),
            number=loaded.opened.cursor.at[0] + 1,
            total=len(scene.workflow.steps),
        )
        return self._current

    def _refusals(self, row: AttemptRow) -> list[Json]:
        """Return what was refused before the attempt; blocks in a row tell whether anything was."""
        if not row.blocks:
            return []
        return refusals(self._engine, row, outcomes_on(self._engine, row))

    def _complete(self, engine: Engine, work: Work) -> Whereabouts | Refused:
        handed_in = ContinueWorkflow(
            continue_token=sign("ct", self._nonce, self._engine.keyring.lately().current),
            intent="advance",
            notes=work.notes,
            artifacts=work.artifacts,
            context=work.context,
        )
        reply = continue_workflow(engine, handed_in)
        if reply["kind"] != "blocked":
            return self._stand(self._session)
        self._nonce = told_nonce(str(reply["retryContinueToken"]))
        return refused(reply)
