"""What simulated agents remember: every token they hold and every answer they were given.

The model shares no code with the engine. It knows an attempt by the part of its tokens that never
changes, and holds the engine to this: what was answered once is answered for ever.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import msgspec

from headway.application.requests import Reply
from headway.domain.ids import SessionId
from headway.domain.values import Json, Value
from headway.domain.workflow import Step
from headway.ports.catalogue import Entry
from simulation.agents import Sent, steps_of
from simulation.faults import Violation

_TOKEN: Final = re.compile(rb"\b(ct|ck|st)_([A-Za-z0-9_-]{16})[A-Za-z0-9_-]{8}")


class Answer(Value):
    """An answer to a gate."""

    approve: bool
    by: str


@dataclass(slots=True)
class Attempt:
    """An attempt as its agent knows it: its tokens, what was sent and what came back."""

    name: str  # for the history
    session: SessionId
    token: str
    step: str
    checkpoint_token: str = ""
    resume_token: str = ""
    sent: list[Sent] = field(default_factory=list)
    told: bytes | None = None
    checkpoint_told: bytes | None = None
    gate: str = ""  # the digest shown, while the last answer was that a gate is open
    shown: str = ""  # the same, once it was seen by anyone
    answers: list[Answer] = field(default_factory=list)  # that people gave, taken or not
    decided: Answer | None = None  # the one that stands, once it was told


@dataclass(slots=True)
class Session:
    """A session as its agents know it."""

    name: str
    id: SessionId
    entry: Entry
    attempts: list[Attempt] = field(default_factory=list)
    by_key: dict[str, Attempt] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    copied: bool = False  # it came in with a bundle, and so did attempts that nobody here knows

    def __post_init__(self) -> None:
        assert self.entry.workflow is not None
        self.steps = steps_of(self.entry.workflow)

    def learn(self, token: str, step: str, checkpoint_token: str = "") -> Attempt:
        """Return the attempt of a token, met before or not."""
        key = token[3:19]
        known = self.by_key.get(key)
        if known is None:
            known = Attempt(
                name=f"{self.name}{len(self.attempts) + 1}",
                session=self.id,
                token=token,
                step=step,
                checkpoint_token=checkpoint_token,
            )
            self.by_key[key] = known
            self.attempts.append(known)
        elif known.step != step:
            raise Violation(f"{known.name} stood on {known.step} and now stands on {step}")
        return known


def hear(
    session: Session, attempt: Attempt, reply: Reply, *, rotated: bool, was_decided: bool
) -> None:
    """Take the answer to an advance: it must be what was answered before, if anything was.

    `was_decided`: the attempt's gate was known to be decided when the call was made.
    """
    data = msgspec.json.encode(reply)
    kind = reply["kind"]
    if kind == "gate_checkpoint" and attempt.answers:
        if was_decided:
            raise Violation(f"{attempt.name}: its gate was decided and is told to be open")
        if attempt.told is not None and not attempt.gate:
            return  # it was still open when this call looked, and another has learnt more since
    if attempt.told is not None and (kind == "gate_checkpoint" or not attempt.gate):
        _same(attempt, data, rotated=rotated)
        return
    if attempt.gate and not attempt.answers:
        raise Violation(f"{attempt.name}: its gate was not decided and is told to be closed")
    if (
        kind != "gate_checkpoint"
        and attempt.decided
        and attempt.decided.approve == (kind == "blocked")
    ):
        raise Violation(f"{attempt.name}: decided as {attempt.decided}, and it is told {kind}")
    attempt.told = data
    attempt.gate = ""
    if kind == "gate_checkpoint":
        attempt.gate = attempt.shown = str(reply["shown"])
    elif not reply["isComplete"]:
        following = session.learn(
            str(reply["continueToken"]), pending_step(reply), str(reply["checkpointToken"])
        )
        if kind == "blocked" and following.step != attempt.step:
            raise Violation(f"{attempt.name} was blocked and its retry is on another step")


def check_same(before: bytes | None, reply: Reply, what: str) -> bytes:
    """Return the bytes of a reply that must say what one before it said, tokens signed anew."""
    data = _TOKEN.sub(rb"\1_\2", msgspec.json.encode(reply))
    if before is not None and data != before:
        raise Violation(f"{what} was answered otherwise before")
    return data


def pending_step(reply: Reply) -> str:
    """Return the step a reply hands out."""
    pending: Json = reply["pending"]
    assert isinstance(pending, dict)
    return str(pending["stepId"])


def _same(attempt: Attempt, data: bytes, *, rotated: bool) -> None:
    before = attempt.told
    assert before is not None
    if data == before:
        return
    if rotated:
        data, before = _TOKEN.sub(rb"\1_\2", data), _TOKEN.sub(rb"\1_\2", before)
    if data != before:
        raise Violation(
            f"{attempt.name} was answered once:\n  {before.decode()}\nand now:\n  {data.decode()}"
        )
