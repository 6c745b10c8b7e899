"""The engine, as a run sees it: one session, driven from its start to its end.

No token appears here: an implementation keeps what it needs to name the open attempt, so that none
can stand in a conversation, an event or a log.
"""

from typing import Protocol, TypeAlias

from headway.domain.ids import SessionId
from headway.domain.values import Json, JsonObject, Value


class SessionWanted(Value):
    """A session to begin. The same `call_key` (16 to 128 characters) begins one session only."""

    workflow_id: str
    workspace: str
    goal: str
    call_key: str
    context: JsonObject = {}


class Work(Value):
    """What is handed in on a step. `context` holds the keys that changed."""

    notes: str
    artifacts: tuple[Json, ...] = ()
    context: JsonObject | None = None


class StepOpen(Value, tag="step_open"):
    """A step is to be done: the `number`-th of about `total`; `prompt` is the whole of its text."""

    step: str
    title: str
    prompt: str
    number: int = 0
    total: int = 0


class GateWaits(Value, tag="gate_waits"):
    """The work on a step was taken, and somebody else decides; `command` shows it to a person."""

    gate: str
    step: str
    command: str


class AllDone(Value, tag="all_done"):
    """The workflow is complete."""


class Refused(Value, tag="refused"):
    """The work on a step was not taken, and the step stays open.

    `reasons` say what is missing and what to send. `retryable` is False where the same agent cannot
    mend it.
    """

    reasons: tuple[str, ...]
    retryable: bool = True


Whereabouts: TypeAlias = StepOpen | GateWaits | AllDone


class SessionEngine(Protocol):
    """Drives one session.

    Every method raises `Fault`: with `retry_after_ms` set it may be asked again as it was. A call
    repeated after a lost answer is answered with what was recorded, and recorded once.
    """

    async def start(self, wanted: SessionWanted) -> SessionId:
        """Begin the session, or find it begun by an earlier call with its key."""

    async def sync(self, session: SessionId) -> Whereabouts:
        """Take up a session where it stands now, whatever is remembered of it."""

    async def current(self) -> Whereabouts:
        """Return where the session stands, by the last answer. `start` or `sync` came before."""

    async def complete(self, work: Work) -> Whereabouts | Refused:
        """Hand in the work on the open step."""
