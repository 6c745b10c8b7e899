"""A model, tools, an engine and a place for runs that touch nothing but their own memory."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from headway.agent.crew import Crew
from headway.agent.tooling import FatalToolError
from headway.domain.errors import PreconditionFailed
from headway.domain.ids import SessionId, session_id
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import WorktreePlanned
from headway.domain.runs.messages import (
    ModelRequest,
    Reply,
    Results,
    Told,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from headway.ports.engine import AllDone, Refused, SessionWanted, StepOpen, Whereabouts, Work
from headway.ports.models import Heard, ModelFailed, Traits, unheard

SESSION = session_id(bytes(16))
# One turn: the tools it calls, or all that the model says, or how it fails before it calls `done`.
Turn = tuple[str, ...] | Reply | ModelFailed


class PlayedModel:
    """Says its turns in order; an interrupted one is said again. It sums up when it is asked to.

    Each reply takes so much of `usage`; `summaries` are what the first summaries come to.
    """

    def __init__(
        self,
        turns: tuple[Turn, ...],
        traits: Traits | None = None,
        usage: Usage | None = None,
        summaries: tuple[ModelFailed | Reply, ...] = (),
    ) -> None:
        self._turns = list(turns)
        self._traits = traits or Traits()
        self._usage = usage or Usage()
        self._summaries = list(summaries)
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return "played:model"

    @property
    def traits(self) -> Traits:
        return self._traits

    async def reply(self, request: ModelRequest, heard: Heard = unheard) -> Reply:
        self.requests.append(request)
        if is_summing(request):
            summary = self._summaries.pop(0) if self._summaries else None
            if isinstance(summary, ModelFailed):
                raise summary
            return summary or Reply(
                text="So far so good.", stop="end", model=self.name, usage=self._usage
            )
        replies = [each for each in request.messages if isinstance(each, Reply)]
        at, number = (int(n) for n in (replies[-1].native or "").split()) if replies else (0, 0)
        if replies and _was_cut_off(request, replies[-1]):
            at -= 1
        turn = self._turns[at] if at < len(self._turns) else ()
        if isinstance(turn, ModelFailed):
            self._turns[at] = ("done",)
            raise turn
        number += 1
        native = f"{at + 1} {number}"
        if isinstance(turn, Reply):
            return replace(turn, model=self.name, usage=self._usage, native=native)
        calls = tuple(
            ToolCall(id=f"{number}-{place}", name=name, arguments=f'{{"at": {at}}}')
            for place, name in enumerate(turn)
        )
        return Reply(
            text="",
            stop="tools" if calls else "end",
            model=self.name,
            calls=calls,
            usage=self._usage,
            native=native,
        )


def is_summing(request: ModelRequest) -> bool:
    return any(isinstance(each, Told) and each.origin == "turns" for each in request.messages)


def _was_cut_off(request: ModelRequest, last: Reply) -> bool:
    """Tell whether a call of the last reply was interrupted, and the step is still the same."""
    since = request.messages[request.messages.index(last) + 1 :]
    if any(isinstance(each, Told) and each.origin == "step" for each in since):
        return False
    results = [result for each in since if isinstance(each, Results) for result in each.results]
    return any(result.interrupted for result in results)


@dataclass
class World:
    """What outlives a crash: the session, the files, and how often each call had an effect."""

    steps: int = 2
    step: int = 1
    files: set[str] = field(default_factory=set)
    effects: Counter[str] = field(default_factory=Counter)
    commits: list[frozenset[str]] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    sessions: dict[str, SessionId] = field(default_factory=dict)
    left: str | None = None  # what a dead tool left in the place
    refusals: int = 0  # of a commit, before it is made


class PlayedEngine:
    """A session of so many steps."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def start(self, wanted: SessionWanted) -> SessionId:
        return self._world.sessions.setdefault(wanted.call_key, SESSION)

    async def sync(self, session: SessionId) -> Whereabouts:
        assert session in self._world.sessions.values()
        return await self.current()

    async def current(self) -> Whereabouts:
        world = self._world
        if world.step > world.steps:
            return AllDone()
        name = f"step-{world.step}"
        return StepOpen(
            step=name, title=name, prompt=f"Do {name}.", number=world.step, total=world.steps
        )

    async def complete(self, work: Work) -> Whereabouts | Refused:
        self._world.step += 1
        return await self.current()


class PlayedTools:
    """`write` makes a file, `done` completes a step, `fatal` ends the run, others fail.

    `complete_step` takes JSON with notes, as the real one does.
    """

    def __init__(self, world: World, during: Callable[[ToolCall], None]) -> None:
        self._world = world
        self._during = during

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        names = ("complete_step", "write", "done")
        return tuple(ToolSpec(name=name, description="", schema={"of": name}) for name in names)

    async def run(self, call: ToolCall) -> ToolResult:
        self._during(call)
        self._world.effects[call.id] += 1
        if call.name == "write":
            self._world.files.add(call.arguments)
        elif call.name == "complete_step" and "notes" not in call.arguments:
            return ToolResult(call=call.id, text="the notes are missing", failed=True)
        elif call.name in {"done", "complete_step"}:
            self._world.step += 1
        elif call.name == "fatal":
            raise FatalToolError("The session is gone.", code="NOT_FOUND", remedy="Start again.")
        else:
            return ToolResult(call=call.id, text="no such tool", failed=True)
        return ToolResult(call=call.id, text=f"did {call.name}")


class PlayedPlace:
    """A folder that is a name, with one commit at the end."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def plan(self) -> WorktreePlanned:
        return WorktreePlanned(path="/place", branch="headway/w/r", base="0")

    async def is_there(self, planned: WorktreePlanned) -> bool:
        return planned.path in self._world.places

    async def make(self, planned: WorktreePlanned) -> str | None:
        self._world.places.add(planned.path)
        return self._world.left

    async def forget(self, planned: WorktreePlanned) -> str:
        assert planned.path not in self._world.places
        return "Its branch went with it."

    async def commit(self, now: Conversation) -> str | None:
        assert now.complete
        if self._world.refusals:
            self._world.refusals -= 1
            raise PreconditionFailed("git commit failed: index.lock", remedy="Try again.")
        if not self._world.commits:
            self._world.commits.append(frozenset(self._world.files))
        return "abc123"


def a_crew(
    world: World,
    model: PlayedModel,
    during: Callable[[ToolCall], None] = lambda _: None,
) -> Crew:
    return Crew(
        model=model,
        tools=lambda _: PlayedTools(world, during),
        engine=PlayedEngine(world),
        place=PlayedPlace(world),
    )
