"""The answer of the decider, and the part of a state that one command is about."""

from typing import TypeAlias

from headway.domain.context import merged_context
from headway.domain.cursor import Place, locate
from headway.domain.errors import Code, TokenFault
from headway.domain.events import Event, SessionStarted
from headway.domain.ids import AttemptId, Digest
from headway.domain.state import AttemptState, NodeState, Outcome, SessionState
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import Workflow


class Accepted(Value):
    """Events to append, and the blobs they name."""

    events: tuple[Event, ...]
    blobs: tuple[tuple[Digest, bytes], ...] = ()


class Replayed(Value):
    """Nothing to append: this was answered before, at the version given."""

    at: int
    outcome: Outcome | None = None  # None: a checkpoint


Decision: TypeAlias = Accepted | Replayed


class Situation(Value):
    """An attempt, the node it is on, its place and context, and the session's own facts."""

    started: SessionStarted
    attempt: AttemptState
    node: NodeState
    place: Place
    context: JsonObject


def find(workflow: Workflow, state: SessionState, attempt_id: AttemptId) -> Situation:
    """Return what a command about this attempt stands on.

    Raises TokenFault when the session knows no such attempt.
    """
    attempt = state.attempts.get(attempt_id)
    if attempt is None or attempt.node not in state.nodes or state.started is None:
        raise TokenFault(
            Code.TOKEN_UNKNOWN_NODE,
            "The token names no open or finished attempt of this session.",
            remedy="Call resume_session to get a valid token for the session.",
        )
    node = state.nodes[attempt.node]
    return Situation(
        started=state.started,
        attempt=attempt,
        node=node,
        place=locate(workflow, node.opened.cursor),
        context=merged_context(node.opened.context, state.folds),
    )
