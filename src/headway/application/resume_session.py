"""Find a session to go on with (D16): exact id, then all words, then commit, then branch.

Nothing is better than noise: what matches nothing asked for is not offered. Only when nothing was
asked are the latest sessions of the same workspace offered.
"""

from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.finding import workspace_of
from headway.application.replies import rehydrate_call
from headway.application.requests import Reply, ResumeSession
from headway.domain.ids import SessionId, run_id
from headway.domain.texts import cut_text
from headway.domain.tokens import sign
from headway.domain.values import Value
from headway.ports.sessions import SessionQuery, SessionSummary

CANDIDATES_MAX: Final = 5
SNIPPET_BYTES_MAX: Final = 2_048
FOUND_MAX: Final = 200
Confidence: TypeAlias = Literal["strong", "medium", "weak"]


class _Found(Value):
    """A session with the reason it was found for."""

    summary: SessionSummary
    confidence: Confidence
    why: str


def resume_session(engine: Engine, request: ResumeSession) -> Reply:
    """Return at most five candidates, best first, each with the call that takes it up.

    Raises InvalidInput for a workspace that cannot be used.
    """
    workspace = workspace_of(engine, request.workspace_path)
    found = _ranked(engine, request, workspace)
    key = engine.keyring.keys().current
    return {
        "candidates": [_candidate(each, key) for each in found[:CANDIDATES_MAX]],
        "totalEligible": len(found),
    }


def _ranked(engine: Engine, request: ResumeSession, workspace: str) -> list[_Found]:
    """Return every match once, under the best reason there is for it."""
    scope = SessionQuery(limit=FOUND_MAX)
    if request.same_workspace_only:
        scope = SessionQuery(workspace=workspace, limit=FOUND_MAX)
    tiers: list[tuple[SessionQuery | None, Confidence, str]] = [
        (_by_id(scope, request), "strong", "The id is exactly this."),
        (
            _by_text(scope, request),
            "strong",
            "Every word asked for stands in goal, notes or workflow.",
        ),
        (_narrowed(scope, "git_head", request.git_head_sha), "medium", "It began at this commit."),
        (_narrowed(scope, "branch", request.git_branch), "medium", "It began on this branch."),
    ]
    if all(query is None for query, _, _ in tiers):
        repository = engine.workspace.git_facts(workspace).repository
        here = SessionQuery(workspace=workspace, limit=FOUND_MAX)
        if repository is not None:
            here = SessionQuery(repository=repository, limit=FOUND_MAX)
        tiers = [(here, "weak", "It is among the latest of this workspace.")]
    found: dict[SessionId, _Found] = {}
    for query, confidence, why in tiers:
        for summary in engine.sessions.find(query) if query else ():
            if not summary.nonce:
                continue  # none of its steps applied: there is nothing to take up
            found.setdefault(
                summary.session, _Found(summary=summary, confidence=confidence, why=why)
            )
    return list(found.values())


def _by_id(scope: SessionQuery, request: ResumeSession) -> SessionQuery | None:
    asked = request.session_id or (request.run_id and "sess_" + request.run_id.removeprefix("run_"))
    if not asked and request.query and request.query.startswith(("sess_", "run_")):
        asked = "sess_" + request.query.partition("_")[2].strip()
    return _narrowed(scope, "session", asked or None)


def _by_text(scope: SessionQuery, request: ResumeSession) -> SessionQuery | None:
    return _narrowed(scope, "text", (request.query or "").strip() or None)


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
