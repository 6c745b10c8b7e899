"""Describe a session: what a person asks of one, from its events alone. Nothing is changed.

The steps come in the order they were left, branches among each other; the tree shows the shape.
"""

from collections.abc import Sequence

import msgspec

from headway.application.engine import Engine
from headway.application.loading import pinned_workflow
from headway.application.read_session import SessionSummary, session_row
from headway.domain.context import fold_of
from headway.domain.cursor import locate
from headway.domain.errors import SessionNotHealthy
from headway.domain.events import (
    AdvanceBlocked,
    Blocker,
    CheckpointSaved,
    ChecksRecorded,
    Content,
    Gap,
    GapRecorded,
    GateDecided,
    GateOpened,
    Opened,
    Output,
    PreferencesChanged,
    PreferencesSource,
    SessionStarted,
    StepAdvanced,
)
from headway.domain.ids import AttemptId, NodeId, SessionId, gate_id, session_stream
from headway.domain.preferences import Preferences
from headway.domain.projections.tree import label_at
from headway.domain.texts import CUT_MARK
from headway.domain.tokens import nonce_of
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Workflow
from headway.ports.ledger import Recorded

__all__ = ["Artifact", "GateStanding", "SessionDescription", "StepLeft", "describe_session"]

NOTES_CHARACTERS_SHOWN = 600
NOTES_LINES_SHOWN = 8


class Artifact(Value, rename="camel", omit_defaults=False):
    """An artifact handed in; `value` is None unless the whole was asked for."""

    kind: str
    size: int
    digest: str
    value: Json = None


class StepLeft(Value, rename="camel", omit_defaults=False):
    """A step that was left, with what was handed in. `cut` tells that the notes are not whole.

    `branch` counts the advances from this node, the first of them 1.
    """

    label: str
    step_id: str
    left_at: int
    branch: int
    notes: str | None
    cut: bool
    artifacts: tuple[Artifact, ...]


class GateStanding(Value, rename="camel", omit_defaults=False):
    """A gate that was opened; what was decided is None while it waits."""

    gate_id: str
    step_id: str
    kind: str
    opened_at: int
    verdict: str | None = None
    decided_by: str | None = None
    rationale: str | None = None


class Refused(Value, rename="camel", omit_defaults=False):
    """Why an attempt was refused, and what would satisfy it."""

    code: str
    message: str
    fix: str


class GapLeft(Value, rename="camel", omit_defaults=False):
    """Something missing that the session went on without."""

    code: str
    severity: str
    summary: str


class Here(Value, rename="camel", omit_defaults=False):
    """Where the session stands: the step, and why the last attempt on it was refused if it was."""

    label: str
    step_id: str
    blockers: tuple[Refused, ...] = ()


class Counts(Value, rename="camel", omit_defaults=False):
    """How often what happened."""

    events: int = 0
    steps: int = 0
    refusals: int = 0
    forks: int = 0
    checkpoints: int = 0
    checks: int = 0


class SessionDescription(Value, rename="camel", omit_defaults=False):
    """A session: what it is, where it stands, what was done. Times are ms since 1970 UTC."""

    session_id: str
    status: str
    goal: str
    workflow_id: str
    workflow_name: str
    workflow_version: str
    workflow_hash: str
    workflow_source: str
    workspace: str
    branch: str | None
    git_head: str | None
    gate_mode: str
    autonomy: str
    risk_policy: str
    preferences_source: PreferencesSource
    started_at: int
    updated_at: int
    here: Here | None
    counts: Counts
    steps: tuple[StepLeft, ...]
    gaps: tuple[GapLeft, ...]
    gates: tuple[GateStanding, ...]


def describe_session(
    engine: Engine, name: str | None = None, *, whole: bool = False
) -> SessionDescription:
    """Return a session by its id, by a beginning that no other has, or the latest for None.

    Notes are cut, and artifacts only named, unless the whole is asked for. Raises as `read_session`
    does.
    """
    summary = session_row(engine, name)
    records = engine.ledger.scan(session_stream(summary.session))
    started = records[0].event if records else None
    if not isinstance(started, SessionStarted):
        raise SessionNotHealthy(
            f"Session {summary.session} does not begin with its start.",
            remedy="Look at another session; `headway sessions list` shows them.",
        )
    account = _Account(engine, pinned_workflow(engine, started.workflow), summary, whole=whole)
    for record in records:
        account.add(record)
    return account.description(started)


class _Account:
    """What the events so far tell."""

    def __init__(
        self, engine: Engine, workflow: Workflow, summary: SessionSummary, *, whole: bool
    ) -> None:
        self.engine = engine
        self.workflow = workflow
        self.summary = summary
        self.whole = whole
        self.counted: dict[str, int] = dict.fromkeys(Counts.__struct_fields__, 0)
        self.nodes: dict[NodeId, Opened] = {}
        self.folds: dict[int, JsonObject] = {}
        self.left: dict[NodeId, int] = {}
        self.steps: list[StepLeft] = []
        self.gaps: list[Gap] = []
        self.gates: dict[int, GateStanding] = {}
        self.here: Opened | None = None
        self.blockers: tuple[Blocker, ...] = ()
        self.preferences = Preferences()
        self.source: PreferencesSource = "default"

    def add(self, record: Recorded) -> None:
        """Take in the next event."""
        self.counted["events"] += 1
        event = record.event
        match event:
            case SessionStarted():
                self.folds[record.version] = fold_of(event.context)
                self.source = event.preferences_source
                self._stand(event.opened)
            case StepAdvanced():
                self._left(event, record)
            case AdvanceBlocked():
                self.counted["refusals"] += 1
                self.here, self.blockers = self.nodes[event.node], event.blockers
            case PreferencesChanged():
                self.source = event.source
                self._stand(event.opened)
            case GapRecorded():
                self.gaps += event.gaps
            case CheckpointSaved():
                self.counted["checkpoints"] += 1
            case ChecksRecorded():
                self.counted["checks"] += len(event.results)
            case GateOpened():
                self.here, self.blockers = self.nodes[event.node], ()
                self.gates[record.version] = self._gate(event, record.recorded_at)
            case GateDecided():
                self._decide(event)
            case _:
                pass

    def description(self, started: SessionStarted) -> SessionDescription:
        """Return all of it."""
        summary = self.summary
        return SessionDescription(
            session_id=summary.session,
            status=summary.status,
            goal=started.goal,
            workflow_id=started.workflow_id,
            workflow_name=self.workflow.name,
            workflow_version=self.workflow.version,
            workflow_hash=started.workflow,
            workflow_source=started.workflow_source,
            workspace=started.workspace,
            branch=started.git.branch,
            git_head=started.git.head,
            gate_mode=started.gates,
            autonomy=self.preferences.autonomy,
            risk_policy=self.preferences.risk_policy,
            preferences_source=self.source,
            started_at=summary.started_at,
            updated_at=summary.updated_at,
            here=self._here(),
            counts=Counts(**self.counted),
            steps=tuple(self.steps),
            gaps=tuple(map(_gap, self.gaps)),
            gates=tuple(self.gates.values()),
        )

    def _stand(self, opened: Opened | None) -> None:
        self.here, self.blockers = opened, ()
        if opened is not None:
            self.nodes[opened.node] = opened
            self.preferences = opened.preferences

    def _left(self, event: StepAdvanced, record: Recorded) -> None:
        self.counted["steps"] += 1
        branch = self.left[event.node] = self.left.get(event.node, 0) + 1
        self.counted["forks"] += branch > 1
        if event.context:
            self.folds[record.version] = fold_of(event.context)
        self.gaps += event.gaps
        notes, cut = self._notes(event.output.notes)
        self.steps.append(
            StepLeft(
                label=label_at(self.workflow, self.nodes[event.node], self.folds),
                step_id=event.step,
                left_at=record.recorded_at,
                branch=branch,
                notes=notes,
                cut=cut,
                artifacts=self._artifacts(event.output),
            )
        )
        self._stand(event.opened)

    def _here(self) -> Here | None:
        if self.here is None:
            return None
        label = label_at(self.workflow, self.here, self.folds)
        step = locate(self.workflow, self.here.cursor).step.id
        return Here(label=label, step_id=step, blockers=tuple(map(_refused, self.blockers)))

    def _notes(self, notes: Content | None) -> tuple[str | None, bool]:
        if notes is None:
            return None, False
        text = self._data(notes).decode() if notes.blob else str(notes.inline)
        return (text, False) if self.whole else _cut(text)

    def _artifacts(self, output: Output) -> tuple[Artifact, ...]:
        return tuple(self._artifact(each) for each in output.artifacts)

    def _artifact(self, content: Content) -> Artifact:
        value = content.inline
        if content.blob and self.whole:
            value = msgspec.json.decode(self._data(content))
        kind = value.get("kind") if isinstance(value, dict) else None
        return Artifact(
            kind=kind if isinstance(kind, str) else "artifact",
            size=content.size,
            digest=content.digest,
            value=value if self.whole else None,
        )

    def _data(self, content: Content) -> bytes:
        return self.engine.ledger.blob(content.digest)

    def _gate(self, event: GateOpened, at_ms: int) -> GateStanding:
        return GateStanding(
            gate_id=_gate_name(self.summary.session, event.attempt),
            step_id=event.step,
            kind=event.gate,
            opened_at=at_ms,
        )

    def _decide(self, event: GateDecided) -> None:
        self.gates[event.opened_gate] = msgspec.structs.replace(
            self.gates[event.opened_gate],
            verdict=event.verdict,
            decided_by=event.decided_by,
            rationale=event.rationale,
        )


def _gate_name(session: SessionId, attempt: AttemptId) -> str:
    return gate_id(nonce_of(session, attempt))


def _cut(text: str) -> tuple[str, bool]:
    """Return the beginning of notes, whole lines where they are short, and whether more follows."""
    lines: Sequence[str] = text.strip().splitlines()
    kept = "\n".join(lines[:NOTES_LINES_SHOWN])[:NOTES_CHARACTERS_SHOWN]
    cut = len(kept) < len("\n".join(lines))
    return (kept.rstrip() + CUT_MARK if cut else kept), cut


def _refused(blocker: Blocker) -> Refused:
    return Refused(code=blocker.code, message=blocker.message, fix=blocker.fix)


def _gap(gap: Gap) -> GapLeft:
    return GapLeft(code=gap.code, severity=gap.severity, summary=gap.summary)
