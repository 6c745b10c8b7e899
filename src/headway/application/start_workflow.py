"""Start a session: pin the compiled workflow and open its first step, in one write.

A start that carries a call key is answered once: the session's id is derived from the key, so the
same call sent again, by a caller who lost the answer, finds the session it began.
"""

from typing import Final

from headway.application.engine import Engine
from headway.application.finding import startable, workspace_of
from headway.application.loading import Admitted, load
from headway.application.recording import record
from headway.application.replies import completed_reply, step_reply
from headway.application.requests import Reply, StartWorkflow
from headway.application.scene import Scene
from headway.domain.commands import Facts, Start, StartFacts
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import InvalidInput
from headway.domain.ids import (
    ID_BYTES,
    Digest,
    RunId,
    SessionId,
    WorkflowHash,
    first_attempt,
    session_called,
    session_id,
)
from headway.domain.preferences import Preferences
from headway.domain.rendering.briefing import render_briefing
from headway.domain.state import SessionState
from headway.domain.tokens import nonce_of
from headway.ports.ledger import Blob, Conflict

CALL_KEY_LENGTH_MIN: Final = 16
CALL_KEY_LENGTH_MAX: Final = 128


def start_workflow(engine: Engine, request: StartWorkflow) -> Reply:
    """Begin a session and return its first step.

    Raises InvalidInput for a workspace, goal, context or call key that cannot be used, NotFound for
    an unknown workflow, PreconditionFailed for a broken file or a first loop without its input.
    """
    if request.call_key is None:
        return _begin(engine, request, session_id(engine.entropy.draw(ID_BYTES)))
    _check_call_key(request.call_key)
    session = session_called(engine.ledger_id, request.call_key)
    begun = _begun(engine, request, session)
    if begun is not None:
        return begun
    try:
        return _begin(engine, request, session)
    except Conflict:  # the same call on its way twice; without an attempt it was over at once
        return _begun(engine, request, session) or completed_reply(_preferences(request))


def _check_call_key(call_key: str) -> None:
    if not CALL_KEY_LENGTH_MIN <= len(call_key) <= CALL_KEY_LENGTH_MAX:
        raise InvalidInput(
            f"The call key has {len(call_key)} characters.",
            remedy=f"Draw one at random, {CALL_KEY_LENGTH_MIN} to {CALL_KEY_LENGTH_MAX} long.",
        )


def session_of_run(engine: Engine, run: RunId) -> SessionId | None:
    """Return the session that a run begins here: its call key is the run's own id."""
    try:
        _check_call_key(run)
    except InvalidInput:  # nothing that was ever drawn as an id
        return None
    return session_called(engine.ledger_id, run)


def _begun(engine: Engine, request: StartWorkflow, session: SessionId) -> Reply | None:
    """Return the answer to this start if it was made before, as it was then."""
    nonce = nonce_of(session, first_attempt(session))
    if engine.ledger.head(nonce) is None and engine.custody.tombstone_of(nonce) is None:
        return None
    loaded = load(engine, Admitted(nonce=nonce, key=engine.keyring.lately().current))
    if (loaded.started.workflow_id, loaded.started.goal) != (request.workflow_id, request.goal):
        raise InvalidInput(
            "The call key belongs to the start of another session.",
            remedy="Draw a new key for every start; repeat one only with the same call.",
        )
    return _reply(loaded.scene, request)


def _begin(engine: Engine, request: StartWorkflow, session: SessionId) -> Reply:
    workspace = workspace_of(engine, request.workspace_path)
    entry, workflow = startable(engine, request.workflow_id, workspace)
    references = engine.workspace.resolve(workspace, workflow.references)
    facts = StartFacts(
        session=session,
        workflow=WorkflowHash(entry.hash),
        workflow_source=entry.source,
        workspace=workspace,
        git=engine.workspace.git_facts(workspace),
        references=references,
    )
    command = Start(
        goal=request.goal,
        context=request.context,
        preferences=request.preferences,
        model_tier=request.model_tier,
        gates=request.gates or engine.gates,
    )
    decision = decide(SessionState(), command, Facts(workflow=workflow, start=facts))
    assert isinstance(decision, Accepted)
    key = engine.keyring.lately().current
    before = Scene(session=session, workflow=workflow, state=SessionState(), key=key)
    pinned = Blob(digest=Digest(entry.hash), data=entry.data)
    return _reply(record(engine, before, decision, (pinned,)), request)


def _reply(scene: Scene, request: StartWorkflow) -> Reply:
    """Return the answer to a start, from what was recorded of it."""
    started = scene.state.started
    assert started is not None
    opened = started.opened
    if opened is None:
        return completed_reply(_preferences(request))
    reply = step_reply(scene, opened, opened.attempt)
    briefing = render_briefing(scene.workflow, started.references, resumed=False)
    return reply | ({"briefing": briefing} if briefing else {})


def _preferences(request: StartWorkflow) -> Preferences:
    return request.preferences or Preferences()
