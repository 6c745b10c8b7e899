"""Before the first turn, and before the first after a crash: the place, the session, the step."""

from typing import assert_never

from headway.agent.crew import Crew
from headway.agent.journal import Journal
from headway.application.runs import text_blob
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    GateReached,
    RunEvent,
    SessionJoined,
    StepReached,
    TextTold,
    WorkflowCompleted,
)
from headway.domain.values import Value
from headway.ports.engine import AllDone, GateWaits, SessionWanted, StepOpen, Whereabouts
from headway.ports.ledger import Blob

SYSTEM = """\
You work on your own in a git worktree, at {path}, on this goal:

{goal}

The work is split into steps. You are given one step at a time and learn of the next when this one \
is complete. Do what the step asks for with the tools you have, then call complete_step with notes \
on what you did and found; they are all that later steps know of it. Nobody answers questions: \
decide what is sensible, and say in your notes what you assumed. Stay inside the worktree. Do not \
commit, push or merge: that is done for you at the end.\
"""


async def prepare(journal: Journal, crew: Crew) -> None:
    """Bring the run to where its model can be asked. Raises Fault."""
    if journal.conversation.worktree is None:
        await journal.record(await crew.place.plan())
    planned = journal.conversation.worktree
    assert planned is not None
    left = await crew.place.make(planned)
    if journal.conversation.joined is None:
        await _join(journal, crew, planned.path)
    session = journal.conversation.session
    assert session is not None
    where = await crew.engine.sync(session)
    news = moved(journal.conversation, where)
    if left is not None and journal.conversation.claims > 1:
        news = (*news, told(left))
    if news:
        await journal.record(*events_of(news), blobs=blobs_of(news))


class News(Value):
    """An event, and the blob it names."""

    event: RunEvent
    blob: Blob | None = None


def events_of(news: tuple[News, ...]) -> tuple[RunEvent, ...]:
    """Return the events."""
    return tuple(each.event for each in news)


def blobs_of(news: tuple[News, ...]) -> tuple[Blob, ...]:
    """Return the blobs."""
    return tuple(each.blob for each in news if each.blob is not None)


def told(text: str) -> News:
    """Return that the model is told what it is to do now."""
    blob = text_blob(text)
    return News(event=TextTold(text=blob.digest, origin="step"), blob=blob)


def moved(now: Conversation, where: Whereabouts) -> tuple[News, ...]:
    """Return what there is to record when the engine stands elsewhere than was recorded."""
    event = _event(now, where)
    if event is None:
        return ()
    step = (told(where.prompt),) if isinstance(where, StepOpen) else ()
    return (News(event=event), *step)


def _event(now: Conversation, where: Whereabouts) -> RunEvent | None:
    match where:
        case StepOpen():
            step = StepReached(
                step=where.step, title=where.title, number=where.number, total=where.total
            )
            return None if now.step == step else step
        case GateWaits(gate=gate, step=at):
            return None if now.gate == gate else GateReached(gate=gate, step=at)
        case AllDone():
            return None if now.complete else WorkflowCompleted()
        case _:
            assert_never(where)


async def _join(journal: Journal, crew: Crew, path: str) -> None:
    submitted = journal.conversation.submitted
    assert submitted is not None
    wanted = SessionWanted(
        workflow_id=submitted.workflow_id,
        workspace=path,
        goal=submitted.goal,
        call_key=journal.held.run,
    )
    session = await crew.engine.start(wanted)
    system = text_blob(SYSTEM.format(path=path, goal=submitted.goal))
    await journal.record(SessionJoined(session=session, system=system.digest), blobs=(system,))
