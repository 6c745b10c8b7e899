"""Start a session: pin the compiled workflow and open its first step, in one write."""

from headway.application.engine import Engine
from headway.application.finding import startable, workspace_of
from headway.application.recording import record
from headway.application.replies import completed_reply, step_reply
from headway.application.requests import Reply, StartWorkflow
from headway.application.scene import Scene
from headway.domain.commands import Facts, Start, StartFacts
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.ids import ID_BYTES, Digest, WorkflowHash, session_id
from headway.domain.preferences import Preferences
from headway.domain.rendering.briefing import render_briefing
from headway.domain.state import SessionState
from headway.ports.ledger import Blob


def start_workflow(engine: Engine, request: StartWorkflow) -> Reply:
    """Begin a session and return its first step.

    Raises InvalidInput for a workspace, goal or context that cannot be used, NotFound for an
    unknown workflow, PreconditionFailed for a broken file or a first loop without its input.
    """
    workspace = workspace_of(engine, request.workspace_path)
    entry, workflow = startable(engine, request.workflow_id, workspace)
    session = session_id(engine.entropy.draw(ID_BYTES))
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
        gates=engine.gates,
    )
    decision = decide(SessionState(), command, Facts(workflow=workflow, start=facts))
    assert isinstance(decision, Accepted)
    key = engine.keyring.keys().current
    before = Scene(session=session, workflow=workflow, state=SessionState(), key=key)
    pinned = Blob(digest=Digest(entry.hash), data=entry.data)
    scene = record(engine, before, decision, (pinned,))
    assert scene.state.started is not None
    opened = scene.state.started.opened
    if opened is None:
        return completed_reply(request.preferences or Preferences())
    reply = step_reply(scene, opened, opened.attempt)
    briefing = render_briefing(workflow, references, resumed=False)
    return reply | ({"briefing": briefing} if briefing else {})
