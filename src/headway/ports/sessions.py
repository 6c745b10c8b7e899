"""Session summaries: one row a session, kept beside its stream in the same transaction.

A projection: every field can be rebuilt from the stream.
"""

from typing import Literal, Protocol, TypeAlias

from headway.domain.ids import Digest, SessionId, WorkflowHash
from headway.domain.values import Moment, Value
from headway.ports.listing import Listing

Status: TypeAlias = Literal["in_progress", "blocked", "gated", "complete", "complete_with_gaps"]


class SessionSummary(Value):
    """A session at a glance, that of its preferred tip: the branch touched last.

    `nonce` belongs to the attempt open at the tip (for a completed session, to the one that ended
    it). Times are milliseconds since 1970 UTC and set by the ledger: `started_at` at the first
    append, `updated_at` at every one; a caller leaves them 0.
    """

    session: SessionId
    workflow: WorkflowHash
    workflow_id: str
    workflow_name: str
    goal: str
    workspace: str
    repository: Digest | None
    branch: str | None
    git_head: str | None
    status: Status
    step_id: str | None
    step_title: str | None
    nonce: bytes
    depth: int = 0
    recap: str = ""  # the newest notes, cut for display
    started_at: Moment = 0
    updated_at: Moment = 0


class GateRow(Value):
    """A gate that waits: one row from its opening to its decision, kept with those events.

    `nonce` is that of the attempt that opened it, `version` that of the event; `recorded_at` is set
    by the ledger. A session may have several: one on each branch, and more than its tip shows.
    """

    session: SessionId
    version: int
    nonce: bytes
    recorded_at: Moment = 0


class SessionQuery(Value):
    """What to look for; every given field narrows.

    Every word of `text` stands in the session's goal, its workflow's name or id, or notes that were
    handed in, each wherever; `domain.words` says when a word is another's beginning. A text without
    a word in it is found nowhere, one of blanks alone asks for nothing.
    """

    text: str = ""
    session: SessionId | None = None
    branch: str | None = None
    git_head: str | None = None
    workspace: str | None = None
    repository: Digest | None = None
    statuses: tuple[Status, ...] = ()  # one of these; none given: any
    limit: int = 50


class Sessions(Protocol):
    """Finds sessions. `StoreUnavailable` when the store cannot serve."""

    def summary(self, session: SessionId) -> SessionSummary | None:
        """Return a session's summary. Raises SessionNotHealthy for a damaged one."""

    def find(self, query: SessionQuery) -> Listing[SessionSummary]:
        """Return the sessions that match every given field, the last updated first."""

    def gates(self, limit: int) -> Listing[GateRow]:
        """Return the gates that wait, the one that waits longest first.

        One that cannot be read is named by its session.
        """
