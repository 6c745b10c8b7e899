"""Runs recorded as a worker records them: a session begun, a step told, a reply, a result."""

import msgspec

from headway.adapters.storage.store import Store
from headway.application.engine import Engine
from headway.application.requests import Reply, StartWorkflow
from headway.application.runs import Runs, text_blob
from headway.application.start_workflow import start_workflow
from headway.domain.ids import RunId, SessionId, digest, session_called, task_id
from headway.domain.runs.events import (
    CallAsked,
    ModelAsked,
    ModelReplied,
    Owner,
    RunEnded,
    RunSubmitted,
    SessionJoined,
    TextTold,
    ToolEnded,
    ToolStarted,
)
from headway.domain.runs.messages import Reply as Said
from headway.domain.runs.messages import ToolCall
from headway.domain.runs.outcomes import Outcome, is_rest, kind_of
from headway.ports.ledger import Blob
from headway.ports.queue import Claiming, Move, RunWrite, Task
from tests.support.engines import WORKSPACE
from tests.support.walked import FOLLOWED

ME = Owner(host="here", boot="b", pid=1, started="1")
TTL_MS = 60_000
CALL = ToolCall(id="call_1", name="bash", arguments='{"command": "ls"}')


class Alone:
    """The one process there is."""

    def me(self) -> Owner:
        return ME

    def is_gone(self, owner: Owner) -> bool:
        return False

    def end_work_of(self, run: RunId, fence: int) -> int:
        return 0


def run_id(number: int = 0) -> RunId:
    return task_id(number.to_bytes(16, "big"))


def waiting_run(store: Store | Runs, number: int = 0) -> RunId:
    """Return a run that waits for a worker."""
    run = run_id(number)
    begun = RunSubmitted(workflow_id=FOLLOWED.id, workspace=WORKSPACE, goal="g", model="m")
    task = Task(run=run, workflow_id=FOLLOWED.id, workspace=WORKSPACE, goal="g")
    store.queue.submit(task, (begun,), ())
    return run


def recorded_run(
    store: Store, engine: Engine, number: int = 0, outcome: Outcome | None = None
) -> tuple[RunId, SessionId, Reply]:
    """Return a run of one turn, the session it drives, and the reply that opened its step.

    It is claimed, unless an outcome is given, with which it ended or rests.
    """
    run = waiting_run(store, number)
    assert store.queue.claim(Claiming(owner=ME, ttl_ms=TTL_MS, run=run)) is not None
    wanted = StartWorkflow(
        workflow_id=FOLLOWED.id, workspace_path=WORKSPACE, goal=f"Goal {number}", call_key=run
    )
    opened = start_workflow(engine, wanted)
    session = session_called(engine.ledger_id, run)
    system, step, result = map(text_blob, ("The system.", f"Step of {run}.", f"Result of {run}."))
    said = msgspec.json.encode(Said(text=f"I am {run}.", stop="tools", model="m", calls=(CALL,)))
    reply = Blob(digest=digest(said), data=said)
    asked = CallAsked(id=CALL.id, name=CALL.name, arguments=digest(CALL.arguments.encode()))
    events = (
        SessionJoined(session=session, system=system.digest),
        TextTold(text=step.digest, origin="step"),
        ModelAsked(turn=1),
        ModelReplied(turn=1, reply=reply.digest, stop="tools", model="m", calls=(asked,)),
        ToolStarted(call=CALL.id),
        ToolEnded(call=CALL.id, text=result.digest),
        *(() if outcome is None else (RunEnded(outcome=outcome),)),
    )
    move = None
    if outcome is not None:
        move = Move(state="resting" if is_rest(outcome) else "ended", outcome=kind_of(outcome))
    write = RunWrite(
        run=run,
        expected_version=2,
        events=events,
        blobs=(system, step, reply, result),
        fence=1,
        move=move,
    )
    store.queue.append(write)
    return run, session, opened
