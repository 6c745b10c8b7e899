"""Real sessions, made through the verbs: long notes, forks, blocks, checkpoints and rehydrates."""

from typing import Final

from headway.adapters.storage.memory import open_memory
from headway.adapters.storage.store import Store
from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    Intent,
    JsonObject,
    Reply,
    ResumeSession,
    StartWorkflow,
)
from headway.application.resume_session import resume_session
from headway.application.start_workflow import start_workflow
from headway.domain.ids import SessionId, StreamId, session_stream
from headway.domain.workflow import Step, Workflow
from headway.ports.sessions import SessionQuery
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.building import counted, step, workflow
from tests.support.engines import WORKSPACE, engine_on

LONG: Final = "A long note, kept as a blob: ✔ " * 4_000
FOLLOWED: Final[Workflow] = workflow(
    step("look"),
    Step(id="judge", title="Judge"),
    counted("again", 2, step("try")),
    step("end"),
)


def engine_of(store: Store, seed: int = 7) -> Engine:
    return engine_on(store, FOLLOWED, FakeClock(), FakeEntropy(seed))


def other_engine(seed: int = 11) -> Engine:
    """Return an engine of another machine: other keys, other ids, nothing in its store."""
    clock, entropy = FakeClock(1_800_000_000_000), FakeEntropy(seed)
    return engine_on(open_memory(clock, entropy), FOLLOWED, clock, entropy)


def begin(engine: Engine, goal: str = "Walk", workflow_id: str = FOLLOWED.id) -> Reply:
    request = StartWorkflow(workflow_id=workflow_id, workspace_path=WORKSPACE, goal=goal)
    return start_workflow(engine, request)


def go_on(
    engine: Engine,
    token: object,
    notes: str | None = "Done.",
    context: JsonObject | None = None,
    intent: Intent = "advance",
) -> Reply:
    return continue_workflow(
        engine,
        ContinueWorkflow(continue_token=str(token), intent=intent, notes=notes, context=context),
    )


def rehydrate(engine: Engine, token: object) -> Reply:
    return go_on(engine, token, notes=None, intent="rehydrate")


def walk(engine: Engine, goal: str = "Walk", notes: str = LONG) -> Reply:
    """Make a session with all there is to prove, and return the reply that opened its tip."""
    first = begin(engine, goal)
    checkpoint_workflow(engine, CheckpointWorkflow(checkpoint_token=str(first["checkpointToken"])))
    second = go_on(engine, first["continueToken"], notes, {"n": 1})
    blocked = go_on(engine, second["continueToken"], notes=None)
    third = go_on(engine, blocked["retryContinueToken"], "Judged.")
    forked = rehydrate(engine, first["continueToken"])
    rehydrate(engine, third["continueToken"])
    go_on(engine, forked["continueToken"], "Another way.")
    return go_on(engine, third["continueToken"], f"Tried for {goal}.", {"n": None, "m": 2})


def finish(engine: Engine, reply: Reply) -> Reply:
    while not reply["isComplete"]:
        reply = go_on(engine, reply["continueToken"])
    return reply


def resumed(engine: Engine, session: SessionId) -> str:
    """Return the token that `resume_session` gives for a session."""
    found = resume_session(engine, ResumeSession(workspace_path=WORKSPACE, session_id=session))
    candidates = found["candidates"]
    assert isinstance(candidates, list)
    return str(candidates[0]["nextCall"]["params"]["continueToken"])


def sessions(engine: Engine) -> list[SessionId]:
    """Return every session, the first begun first."""
    found = engine.sessions.find(SessionQuery(limit=1_000)).rows
    return [each.session for each in sorted(found, key=lambda each: each.started_at)]


def stream_of(engine: Engine, number: int = 0) -> StreamId:
    return session_stream(sessions(engine)[number])
