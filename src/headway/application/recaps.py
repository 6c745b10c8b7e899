"""Recaps: what the steps around a node left behind, read by following the events back.

Each event that opens a node names the one that opened the node before it, so a walk back touches
only the branch in question and stops after RECAPS_MAX nodes.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from headway.application.engine import Engine
from headway.application.loading import Loaded, standing
from headway.domain.cursor import locate
from headway.domain.events import Content, Event, PreferencesChanged, StepAdvanced
from headway.domain.ids import SessionId, session_stream
from headway.domain.rendering.recovery import RECOVERY_BYTES_MAX, Recap
from headway.domain.texts import cut_text
from headway.domain.values import Value
from headway.domain.workflow import Item, Loop, Workflow
from headway.ports.ledger import Recorded

RECAPS_MAX: Final = 64
KINDS_MAX: Final = 16


class Surroundings(Value):
    """What lies around a node: how many nodes follow it, and the notes before and after it."""

    branches: int
    tip: str | None
    ancestry: tuple[Recap, ...]
    downstream: tuple[Recap, ...]


def surroundings(engine: Engine, loaded: Loaded, outcomes: Sequence[Recorded]) -> Surroundings:
    """Return what is recorded around the node of an attempt, the outcomes on it being known."""
    titles = step_titles(loaded.scene.workflow)
    back = _way_back(engine, loaded.row.session, loaded.row.opened_at)
    ancestry = tuple(_recap(engine, titles, event) for event in islice(back, RECAPS_MAX))
    tip, downstream = _way_on(engine, loaded, titles)
    return Surroundings(
        branches=sum(isinstance(each.event, StepAdvanced) for each in outcomes),
        tip=tip,
        ancestry=ancestry,
        downstream=downstream,
    )


def step_titles(workflow: Workflow) -> dict[str, str]:
    """Return the titles of a workflow's steps by id."""
    titles: dict[str, str] = {}

    def collect(items: tuple[Item, ...]) -> None:
        for item in items:
            titles[item.id] = item.title
            if isinstance(item, Loop):
                collect(item.body)

    collect(workflow.steps)
    return titles


def _way_back(engine: Engine, session: SessionId, opened_at: int) -> Iterator[StepAdvanced]:
    """Yield the advances that led to the node opened at this version, the latest first."""
    version = opened_at
    while True:
        event = _event(engine, session, version)
        if isinstance(event, StepAdvanced):
            yield event
        elif not isinstance(event, PreferencesChanged):
            return
        version = event.opened_at


def _way_on(
    engine: Engine, loaded: Loaded, titles: dict[str, str]
) -> tuple[str | None, tuple[Recap, ...]]:
    """Return the title of the step the session goes on at, and the notes between here and there."""
    summary = engine.sessions.summary(loaded.row.session)
    head = engine.ledger.head(summary.nonce) if summary else None
    if head is None:
        return None, ()
    met = []
    if head.row.outcome_at is not None:
        last = _event(engine, loaded.row.session, head.row.outcome_at)
        if isinstance(last, StepAdvanced):
            met.append(_recap(engine, titles, last))
    if head.row.node == loaded.row.node:
        return None, tuple(met)  # handed in, and nothing came after it: the session ended here
    depth = loaded.opened.depth
    opened = standing(_event(engine, loaded.row.session, head.row.opened_at))
    if opened is None:
        return None, ()
    tip = locate(loaded.scene.workflow, opened.cursor).step.title
    for event in islice(_way_back(engine, loaded.row.session, head.row.opened_at), RECAPS_MAX):
        met.append(_recap(engine, titles, event))
        if event.node == loaded.row.node:
            return tip, tuple(met)
        if event.opened is None or event.opened.depth <= depth:
            break
    return tip, ()  # another branch, or too far away to recap


def _recap(engine: Engine, titles: dict[str, str], event: StepAdvanced) -> Recap:
    kinds = [
        kept.inline["kind"]
        for kept in event.output.artifacts
        if isinstance(kept.inline, dict) and isinstance(kept.inline.get("kind"), str)
    ]
    return Recap(
        title=titles.get(event.step, event.step),
        notes=_notes(engine, event.output.notes),
        artifacts=tuple(kinds[:KINDS_MAX]),
    )


def _notes(engine: Engine, notes: Content | None) -> str:
    if notes is None:
        return ""
    text = engine.ledger.blob(notes.digest).decode() if notes.blob else str(notes.inline)
    return cut_text(text, RECOVERY_BYTES_MAX)


def _event(engine: Engine, session: SessionId, version: int) -> Event:
    return engine.ledger.read(session_stream(session), [version])[0].event
