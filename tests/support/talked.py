"""Runs played by chance: whatever `next_action` says is done, and comes out one way or another.

What is drawn is only how the world answers. So every conversation here is one that the loop could
have had, with crashes, words of people and compactions wherever they may come.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar, assert_never

import hypothesis.strategies as st

from headway.domain.ids import Digest, digest
from headway.domain.runs.acting import (
    CallModel,
    Compact,
    Note,
    Nudge,
    RunTools,
    Stop,
    next_action,
)
from headway.domain.runs.conversation import Conversation, evolve
from headway.domain.runs.events import (
    AbortAsked,
    CallAsked,
    CompactionAsked,
    ConversationCompacted,
    ModelAsked,
    ModelErred,
    ModelReplied,
    Owner,
    PauseAsked,
    RunClaimed,
    RunEnded,
    RunEvent,
    RunResumed,
    RunSteered,
    RunSubmitted,
    StepReached,
    StuckPolicy,
    TextTold,
    ToolEnded,
    ToolStarted,
    WorkflowCompleted,
)
from headway.domain.runs.limits import Limits
from headway.domain.runs.messages import StopReason, Usage
from headway.domain.runs.outcomes import is_rest
from headway.ports.models import ModelProblem

ROOM = 1_000
ACTIONS_MAX = 250
STEPS = 3
ME = Owner(host="here", boot="b", pid=1, started="1")
_T = TypeVar("_T")


@dataclass
class Talked:
    """A run as it went: each event with the conversation before it."""

    now: Conversation = field(default_factory=Conversation)
    past: list[tuple[Conversation, RunEvent]] = field(default_factory=list)

    def add(self, *events: RunEvent) -> None:
        for event in events:
            self.past.append((self.now, event))
            self.now = evolve(self.now, event)

    @property
    def events(self) -> list[RunEvent]:
        return [event for _, event in self.past]


@lru_cache(typed=True)
def one_of(*values: _T) -> st.SearchStrategy[_T]:
    """Return a strategy for these values; it is made once, which takes longer than a draw."""
    return st.sampled_from(values)


@st.composite
def talks(draw: st.DrawFn) -> Talked:
    """Return runs that went on until they ended, rested too often, or took many actions."""
    talk = Talked()
    limits = Limits(turns=draw(one_of(None, 5, 30)), money=draw(one_of(None, 40)))
    stuck: StuckPolicy = draw(one_of("abort", "notify"))
    talk.add(
        RunSubmitted(
            workflow_id="w", workspace="/w", goal="g", model="m", limits=limits, stuck=stuck
        ),
        RunClaimed(fence=1, owner=ME),
        *_step(1),
    )
    steady = draw(st.booleans())  # a model that gets on, so that long runs come up as well
    for number in range(ACTIONS_MAX):
        if talk.now.outcome is not None:
            if not is_rest(talk.now.outcome) or draw(st.integers(0, 2)) == 0:
                break
            more = Limits(turns=talk.now.spent.turns + 20)
            talk.add(RunResumed(by="me", limits=more), RunClaimed(fence=9, owner=ME))
        _meddle(draw, talk, number)
        _act(draw, talk, number, steady=steady)
    return talk


def text(words: str) -> Digest:
    return digest(words.encode())


def _step(number: int) -> tuple[RunEvent, ...]:
    name = f"s{number}"
    return (
        StepReached(step=name, title=name, number=number, total=STEPS),
        TextTold(text=text(name), origin="step"),
    )


def _meddle(draw: st.DrawFn, talk: Talked, number: int) -> None:
    match draw(st.integers(0, 60)):
        case 0:
            talk.add(RunSteered(text=text(f"steer {number}"), by="me"))
        case 1:
            talk.add(PauseAsked(by="me"))
        case 2:
            talk.add(RunClaimed(fence=number + 2, owner=ME))
        case 3 if draw(st.integers(0, 9)) == 0:
            talk.add(AbortAsked(by="me"))
        case _:
            pass


def _act(draw: st.DrawFn, talk: Talked, number: int, *, steady: bool) -> None:
    now = talk.now
    action = next_action(now, ROOM)
    match action:
        case Stop(outcome=outcome):
            talk.add(RunEnded(outcome=outcome))
        case Nudge():
            talk.add(TextTold(text=text("nudge"), origin="nudge"))
        case Note(event=event):
            talk.add(event)
        case CallModel(turn=turn):
            talk.add(ModelAsked(turn=turn), *_reply(draw, turn, steady=steady))
        case Compact(first=first, last=last):
            talk.add(
                CompactionAsked(first=first, last=last), *_summary(draw, now.turn, first, last)
            )
        case RunTools(calls=calls):
            talk.add(ToolStarted(call=calls[0].id), *_result(draw, talk, calls[0], number))
        case _:
            assert_never(action)


def _reply(draw: st.DrawFn, turn: int, *, steady: bool) -> tuple[RunEvent, ...]:
    how = draw(one_of(*["calls"] * 6, *([] if steady else ["ends", "errs", "crash"])))
    usage = Usage(input_tokens=draw(one_of(10, 900)), output_tokens=150, cost=1)
    reply = text(f"reply {turn}")
    match how:
        case "calls":
            calls = tuple(
                CallAsked(id=f"{turn}-{i}", name="bash", arguments=text(f"{turn} {i}"))
                for i in range(draw(st.integers(1, 3)))
            )
            stop: StopReason = draw(one_of("tools", "tools", "length"))
            answered = len(calls) == 1 and draw(st.booleans())
            return (
                ModelReplied(
                    turn=turn,
                    reply=reply,
                    stop=stop,
                    model="m",
                    calls=calls,
                    answered=answered,
                    usage=usage,
                ),
            )
        case "ends":
            end: StopReason = draw(one_of("end", "length"))
            return (ModelReplied(turn=turn, reply=reply, stop=end, model="m", usage=usage),)
        case "errs":
            return (_error(draw, turn),)
        case _:
            return (RunClaimed(fence=turn + 1, owner=ME),)


def _error(draw: st.DrawFn, turn: int) -> ModelErred:
    problem: ModelProblem = draw(
        one_of("transient", "overflow", "overflow", "malformed", "expired")
    )
    return ModelErred(turn=turn, problem=problem, message="no", wait_ms=5)


def _summary(draw: st.DrawFn, turn: int, first: int, last: int) -> tuple[RunEvent, ...]:
    if draw(st.integers(0, 4)) == 0:
        return (_error(draw, turn),)
    if draw(st.integers(0, 4)) == 0:
        return (RunClaimed(fence=turn + 1, owner=ME),)
    usage = Usage(input_tokens=500, output_tokens=50, cost=2)
    summary = text(f"summary {first} {last}")
    return (ConversationCompacted(first=first, last=last, summary=summary, model="m", usage=usage),)


def _result(draw: st.DrawFn, talk: Talked, call: CallAsked, number: int) -> tuple[RunEvent, ...]:
    how = draw(st.integers(0, 19))
    if how == 0:
        return (RunClaimed(fence=number + 2, owner=ME),)
    ended = ToolEnded(call=call.id, text=text(f"result {call.id}"), failed=how < 4)
    step = talk.now.step
    if how > 1 or step is None:
        return (ended,)
    return (ended, *(_step(step.number + 1) if step.number < STEPS else (WorkflowCompleted(),)))
