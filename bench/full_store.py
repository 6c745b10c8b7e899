"""An advance in a store that holds much: it should cost about what it costs in an empty one.

Many sessions' events are appended directly, each with an attempt beside it as an advance leaves
one. Then both stores are open, and an advance is made in each in turn.
"""

from collections.abc import Iterator
from pathlib import Path

from bench.advances import lane, no_context, spread
from bench.figures import Figure
from bench.machine import settle
from bench.sizes import Sizes
from bench.timing import interleaved
from headway.application.engine import Engine
from headway.domain.events import Gap, GapRecorded
from headway.domain.ids import (
    AttemptId,
    NodeId,
    WorkflowHash,
    digest,
    encode_id,
    session_id,
    session_stream,
)
from headway.domain.tokens import nonce_of
from headway.ports.ledger import AttemptRow, Write
from headway.ports.sessions import SessionSummary

FULL_MAX = 1.5  # the most an advance in the full store may cost of one in the empty one
EVENTS_A_SESSION = 100
NOTE_CHARS = 300
WORKFLOW = WorkflowHash(digest(b"a workflow"))
NODE = NodeId(encode_id("node", bytes(16)))


def measure_full_store(
    full: Engine, empty: Engine, workspace: Path, database: Path, sizes: Sizes
) -> Iterator[Figure]:
    """Fill a store and yield what an advance costs in it, beside one in an empty store."""
    for number in range(sizes.events // EVENTS_A_SESSION):
        full.ledger.append(a_session(number, workspace))
    group = f"advance, {sizes.events:,} events in the store"
    held = settle(database)
    lanes = {
        name: lane(engine, workspace, no_context, sizes.depths[0], sizes)
        for name, engine in (("in the empty store", empty), ("in the full store", full))
    }
    blocks = interleaved(lanes, blocks=sizes.blocks, rounds=sizes.rounds)
    for name in lanes:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=group, name=name, value=blocks.median(name), unit="ms", note=note)
    ratios = blocks.ratios("in the full store", "in the empty store")
    yield Figure(
        group=group,
        name="full / empty",
        value=blocks.ratio("in the full store", "in the empty store"),
        unit="times",
        target=FULL_MAX,
        note=f"{held >> 20:,} MiB; {spread(ratios)}",
    )


def a_session(number: int, workspace: Path) -> Write:
    """Return a whole session as one write."""
    session = session_id(number.to_bytes(16, "big"))
    attempts = []
    for at in range(EVENTS_A_SESSION):
        name = AttemptId(encode_id("attempt", at.to_bytes(16, "big")))
        attempts.append(
            AttemptRow(
                nonce=nonce_of(session, name),
                session=session,
                node=NODE,
                attempt=name,
                opened_at=1,
                blocks=0,
                outcome_at=at + 1,
            )
        )
    gap = Gap(code="BENCH", severity="warning", category="none", summary="." * NOTE_CHARS)
    summary = SessionSummary(
        session=session,
        workflow=WORKFLOW,
        workflow_id="bench.full",
        workflow_name="Full",
        goal=f"Fill the store, part {number}",
        workspace=str(workspace),
        repository=None,
        branch=None,
        git_head=None,
        status="in_progress",
        step_id="look",
        step_title="Look",
        nonce=attempts[-1].nonce,
        recap="Nothing to report.",
    )
    return Write(
        stream=session_stream(session),
        expected_version=0,
        events=(GapRecorded(gaps=(gap,)),) * EVENTS_A_SESSION,
        attempts=tuple(attempts),
        summary=summary,
    )
