"""Find a session to go on with (D16): exact id, then all words, then commit, then branch.

Nothing is better than noise: what matches nothing asked for is not offered. Only when nothing was
asked are the latest sessions of the same workspace offered. For one reason, sessions of the same
repository come first, then those still open, then the last touched, then the lower id.
"""

from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.finding import workspace_of
from headway.application.left_out import left_out
from headway.application.replies import rehydrate_call
from headway.application.requests import Reply, ResumeSession
from headway.domain.ids import SessionId, run_id
from headway.domain.texts import cut_text
from headway.domain.tokens import sign
from headway.domain.values import Value
from headway.ports.listing import Listing
from headway.ports.sessions import SessionQuery, SessionSummary, Status

CANDIDATES_MAX: Final = 5
SNIPPET_BYTES_MAX: Final = 2_048
LOOKED_AT_MAX: Final = 100  # for each reason; `totalEligible` is exact up to it
OPEN: Final[tuple[Status, ...]] = ("in_progress", "blocked", "gated")
Confidence: TypeAlias = Literal["strong", "medium", "weak"]
_Tier: TypeAlias = tuple[SessionQuery | None, Confidence, str]

_ID: Final = "The id is exactly this."
_WORDS: Final = "Every word asked for stands in goal, notes or workflow."
_ID_PREFIXES: Final = ("sess_", "run_")


class _Found(Value):
    """A session with the reason it was found for."""

    summary: SessionSummary
    confidence: Confidence
    why: str


def resume_session(engine: Engine, request: ResumeSession) -> Reply:
    """Return at most five candidates, best first, each with the call that takes it up.

    What cannot be read is left out, and a warning says so. Raises InvalidInput for a workspace that
    cannot be used, SessionNotHealthy for a session asked for by its id that cannot be read.
    """
    workspace = workspace_of(engine, request.workspace_path)
    found, unreadable = _ranked(engine, request, workspace)
    key = engine.keyring.lately().current
    reply: Reply = {
        "candidates": [_candidate(each, key) for each in found[:CANDIDATES_MAX]],
        "totalEligible": len(found),
    }
    if unreadable:
        reply["warnings"] = [left_out("session", unreadable)]
    return reply


def _ranked(
    engine: Engine, request: ResumeSession, workspace: str
) -> tuple[list[_Found], tuple[str, ...]]:
    """Return every match once, under the best reason for it, and the ids of damaged sessions."""
    repository = engine.workspace.git_facts(workspace).repository
    here = SessionQuery(workspace=workspace)
    if repository is not None:
        here = SessionQuery(repository=repository)
    scope = SessionQuery(workspace=workspace) if request.same_workspace_only else SessionQuery()
    tiers: list[_Tier] = [
        *((_narrowed(scope, "session", asked), "strong", _ID) for asked in _ids(request)),
        (_narrowed(scope, "text", (request.query or "").strip() or None), "strong", _WORDS),
        (_narrowed(scope, "git_head", request.git_head_sha), "medium", "It began at this commit."),
        (_narrowed(scope, "branch", request.git_branch), "medium", "It began on this branch."),
    ]
    if all(query is None for query, _, _ in tiers):
        latest = scope if request.same_workspace_only else here
        tiers = [(latest, "weak", "It is among the latest of this workspace.")]
    found: dict[SessionId, _Found] = {}
    unreadable: dict[str, None] = {}
    for query, confidence, why in tiers:
        if query is None:
            continue
        matches = _best_first(engine, query, here)
        unreadable.update(dict.fromkeys(matches.unreadable))
        for summary in matches.rows:
            match = _Found(summary=summary, confidence=confidence, why=why)
            found.setdefault(summary.session, match)
    return list(found.values()), tuple(unreadable)


def _best_first(engine: Engine, query: SessionQuery, here: SessionQuery) -> Listing[SessionSummary]:
    """Return the matches: those of the same repository first, then open ones, then the latest.

    Where there are too many to look at, the best of each of these groups are asked for, so that
    none is missed because others were touched later. Raises SessionNotHealthy when the one that is
    asked for by its id cannot be read.
    """
    first = engine.sessions.find(replace(query, limit=LOOKED_AT_MAX))
    if query.session is not None and first.unreadable:
        engine.sessions.summary(query.session)  # raises
    found, unreadable = list(first.rows), dict.fromkeys(first.unreadable)
    if len(found) == LOOKED_AT_MAX:
        for limited in (query, _both(query, here)):
            for statuses in ((), OPEN):
                asked = replace(limited, statuses=statuses, limit=LOOKED_AT_MAX)
                more = engine.sessions.find(asked)
                found += more.rows
                unreadable.update(dict.fromkeys(more.unreadable))
    unique = {summary.session: summary for summary in found if summary.nonce}

    def rank(summary: SessionSummary) -> tuple[bool, bool, int, str]:
        elsewhere = not (
            summary.repository == here.repository
            if here.repository
            else summary.workspace == here.workspace
        )
        ended = summary.status not in OPEN
        return elsewhere, ended, -summary.updated_at, summary.session

    # Without a nonce none of its steps applied: there is nothing to take up.
    return Listing(tuple(sorted(unique.values(), key=rank)), tuple(unreadable))


def _both(query: SessionQuery, here: SessionQuery) -> SessionQuery:
    if here.repository is not None:
        return replace(query, repository=here.repository)
    return replace(query, workspace=here.workspace)


def _ids(request: ResumeSession) -> list[str]:
    """Return the sessions asked for by id, in a field of their own or among the words."""
    words = [word.strip(".,;:()'\"`") for word in (request.query or "").split()]
    named = [word for word in words if word.startswith(_ID_PREFIXES)]
    asked = [request.session_id, request.run_id, *named]
    return ["sess_" + each.partition("_")[2] for each in asked if each]


def _narrowed(scope: SessionQuery, field: str, value: str | None) -> SessionQuery | None:
    return None if value is None else replace(scope, **{field: value})


def _candidate(found: _Found, key: bytes) -> Reply:
    summary = found.summary
    token = sign("ct", summary.nonce, key)
    complete = summary.status in ("complete", "complete_with_gaps")
    snippet = "\n".join(part for part in (summary.goal, summary.recap) if part)
    return {
        "sessionId": summary.session,
        "runId": run_id(summary.session),
        "workflowId": summary.workflow_id,
        "sessionTitle": cut_text(summary.goal, 120),
        "status": summary.status,
        "gitBranch": summary.branch,
        "resumeToken": sign("st", summary.nonce, key),
        "snippet": cut_text(snippet, SNIPPET_BYTES_MAX),
        "confidence": found.confidence,
        "matchExplanation": found.why,
        "whyMatched": [found.why],
        "pendingStepId": summary.step_id,
        "isComplete": complete,
        "lastModifiedMs": summary.updated_at,
        "nextCall": rehydrate_call(token, summary.workspace),
    }
