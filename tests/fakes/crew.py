"""A model, tools, an engine and a place for runs that touch nothing but their own memory."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from headway.agent.crew import Crew
from headway.agent.tooling import FatalToolError
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
)
from headway.ports.engine import AllDone, Refused, SessionWanted, StepOpen, Whereabouts, Work
from headway.ports.models import ModelFailed

SESSION = session_id(bytes(16))
# One turn: what the model says, given how often it was asked before; or how it fails.
Turn = tuple[str, ...] | ModelFailed


class PlayedModel:
    """Says its turns in order: names of tools to call. An interrupted turn is said again."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self._turns = list(turns)
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return "played:model"

    async def reply(self, request: ModelRequest) -> Reply:
        self.requests.append(request)
        replies = [each for each in request.messages if isinstance(each, Reply)]
        at = int(replies[-1].native or 0) if replies else 0
        if replies and _was_cut_off(request, replies[-1]):
            at -= 1
        turn = self._turns[at] if at < len(self._turns) else ()
        if isinstance(turn, ModelFailed):
            self._turns[at] = ("done",)
            raise turn
        number = len(replies) + 1
        calls = tuple(
            ToolCall(id=f"{number}-{place}", name=name, arguments=f'{{"at": {at}}}')
            for place, name in enumerate(turn)
        )
        return Reply(
            text="",
            stop="tools" if calls else "end",
            model=self.name,
            calls=calls,
            native=str(at + 1),
        )


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
    """`write` makes a file, `done` completes a step, `fatal` ends the run, others fail."""

    def __init__(self, world: World, during: Callable[[ToolCall], None]) -> None:
        self._world = world
        self._during = during

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name=name, description="", schema={}) for name in ("write", "done"))

    async def run(self, call: ToolCall) -> ToolResult:
        self._during(call)
        self._world.effects[call.id] += 1
        if call.name == "write":
            self._world.files.add(call.arguments)
        elif call.name == "done":
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

    async def make(self, planned: WorktreePlanned) -> str | None:
        self._world.places.add(planned.path)
        return None

    async def commit(self, now: Conversation) -> str | None:
        assert now.complete
        if not self._world.commits:
            self._world.commits.append(frozenset(self._world.files))
        return "abc123"


def a_crew(
    world: World, model: PlayedModel, during: Callable[[ToolCall], None] = lambda _: None
) -> Crew:
    return Crew(
        model=model,
        tools=lambda _: PlayedTools(world, during),
        engine=PlayedEngine(world),
        place=PlayedPlace(world),
    )
