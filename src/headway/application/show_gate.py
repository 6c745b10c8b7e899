"""Show a gate: everything a decider judges, whole, with the digest that binds the answer to it."""

import msgspec

from headway.application.engine import Engine
from headway.application.gate_records import GateRecord, gate_named, gate_record, or_gate_purged
from headway.application.loading import Loaded, admit, load
from headway.application.replies import show_step
from headway.application.requests import Reply, ShowGate
from headway.domain.events import CheckResult, Content
from headway.domain.ids import gate_id
from headway.domain.values import Json

__all__ = ["show_gate"]


def show_gate(engine: Engine, request: ShowGate) -> Reply:
    """Return what the gate shows and whether it was decided; nothing is changed.

    Raises NotFound, InvalidInput for an id that begins several, SessionNotHealthy.
    """
    gate = admit(engine, gate_named(engine, request.gate))
    with or_gate_purged(engine, gate.nonce):
        loaded = load(engine, gate)
        return gate_shown(engine, loaded, gate_record(engine, loaded))


def gate_shown(engine: Engine, loaded: Loaded, record: GateRecord) -> Reply:
    """Return a gate as a decider sees it: notes and artifacts whole, and the context's change."""
    opened, step = record.opened, show_step(loaded.scene, loaded.opened)
    preferences = loaded.opened.preferences
    checks = loaded.scene.state.attempts[loaded.row.attempt].checks or ()
    notes = opened.output.notes
    return {
        "gateId": gate_id(loaded.row.nonce),
        "sessionId": loaded.scene.session,
        "workflowId": loaded.started.workflow_id,
        "goal": loaded.started.goal,
        "workspace": loaded.started.workspace,
        "stepId": opened.step,
        "title": step.title,
        "prompt": step.prompt,
        "gateKind": opened.gate,
        "preferences": {"autonomy": preferences.autonomy, "riskPolicy": preferences.risk_policy},
        "openedAtMs": record.opened_at_ms,
        "notes": None if notes is None else str(_whole(engine, notes, text=True)),
        "artifacts": [_whole(engine, artifact) for artifact in opened.output.artifacts],
        "context": dict(opened.context.delta) if opened.context else {},
        "assessments": [msgspec.to_builtins(each) for each in opened.assessments],
        "gaps": [
            {"code": gap.code, "severity": gap.severity, "message": gap.summary}
            for gap in opened.gaps
        ],
        "checks": [_check(result) for result in checks],
        "shown": opened.shown,
        "status": record.decided.verdict if record.decided else "open",
        "decision": _decision(record),
    }


def _whole(engine: Engine, content: Content, *, text: bool = False) -> Json:
    if not content.blob:
        return content.inline
    data = engine.ledger.blob(content.digest)
    if text:
        return data.decode()
    artifact: Json = msgspec.json.decode(data)
    return artifact


def _check(result: CheckResult) -> Reply:
    return {
        "check": result.check,
        "exitCode": result.exit_code,
        "outputDigest": result.output_digest,
        "durationMs": result.duration_ms,
        **({"problem": result.problem} if result.problem else {}),
    }


def _decision(record: GateRecord) -> Reply | None:
    decided = record.decided
    if decided is None:
        return None
    return {
        "verdict": decided.verdict,
        "decidedBy": decided.decided_by,
        "rationale": decided.rationale,
        "decidedAtMs": record.decided_at_ms,
    }
