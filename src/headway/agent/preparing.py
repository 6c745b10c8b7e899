"""Before the first turn, and before the first after a crash: the place, the session, the step."""

from typing import Final, assert_never

from headway.agent.crew import Crew, Workplace
from headway.agent.journal import Journal
from headway.application.runs import text_blob
from headway.domain.errors import Fault
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    GateReached,
    RunEvent,
    SessionJoined,
    StepReached,
    TextTold,
    WorkflowCompleted,
    WorktreePlanned,
)
from headway.domain.runs.messages import Origin
from headway.domain.runs.outcomes import Failed
from headway.domain.runs.parts import ToldPart
from headway.domain.values import Value
from headway.ports.engine import AllDone, GateWaits, SessionWanted, StepOpen, Whereabouts
from headway.ports.ledger import Blob

SYSTEM: Final = """\
You work on your own in a git worktree, at {path}, on this goal:

{goal}

The work is split into steps. You are given one step at a time and learn of the next when this one \
is complete. Do what the step asks for with the tools you have, then {hand_in} with notes \
on what you did and found; they are all that later steps know of it. Nobody answers questions: \
decide what is sensible, and say in your notes what you assumed. Stay inside the worktree. Do not \
commit, push or merge: that is done for you at the end.\
"""
CALL: Final = "call complete_step"
ANSWER: Final = "end your turn with one JSON object"
GONE: Final = (
    "the worktree {path} was removed under the run, and with it what was not committed there. "
    "{left} Start the run again."
)
UNFORGOTTEN: Final = "What is left of it could not be cleared away: {why}"


async def prepare(journal: Journal, crew: Crew) -> Failed | None:
    """Bring the run to where its model can be asked, or return why it cannot. Raises Fault."""
    if journal.conversation.worktree is None:
        await journal.record(await crew.place.plan())
    planned = journal.conversation.worktree
    assert planned is not None
    if journal.conversation.worked and not await crew.place.is_there(planned):
        # Made anew it would lack what was done, and nobody would know.
        return await gone(planned, crew.place)
    left = await crew.place.make(planned)
    if journal.conversation.joined is None:
        await _join(journal, crew, planned.path)
    session = journal.conversation.session
    assert session is not None
    where = await crew.engine.sync(session)
    news = moved(journal.conversation, where)
    if left is not None and journal.conversation.claims > 1:
        news = (*news, *_noticed(journal.conversation, left))
    if news:
        await journal.record(*events_of(news), blobs=blobs_of(news))
    return None


async def gone(planned: WorktreePlanned, place: Workplace) -> Failed:
    """Clear away what is left of a place that was taken away, and return the run's end."""
    try:
        left = await place.forget(planned)
    except Fault as fault:  # the run ends for the same reason, and says so
        left = UNFORGOTTEN.format(why=fault.message)
    return Failed(reason="worktree_gone", message=GONE.format(path=planned.path, left=left))


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


def told(text: str, origin: Origin) -> News:
    """Return that the model is told something."""
    blob = text_blob(text)
    return News(event=TextTold(text=blob.digest, origin=origin), blob=blob)


def moved(now: Conversation, where: Whereabouts) -> tuple[News, ...]:
    """Return what there is to record when the engine stands elsewhere than was recorded."""
    event = _event(now, where)
    if event is None:
        return ()
    step = (told(where.prompt, "step"),) if isinstance(where, StepOpen) else ()
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


def _noticed(now: Conversation, left: str) -> tuple[News, ...]:
    """Return that the model is told what was left behind, unless it is about to hear just that."""
    news = told(left, "notice")
    known = [part.text for part in now.unheard if isinstance(part, ToldPart)]
    return () if news.blob is not None and news.blob.digest in known else (news,)


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
    hand_in = ANSWER if crew.model.traits.answers else CALL
    system = text_blob(SYSTEM.format(path=path, goal=submitted.goal, hand_in=hand_in))
    joined = SessionJoined(session=session, system=system.digest, engine=crew.engine_url)
    await journal.record(joined, blobs=(system,))
