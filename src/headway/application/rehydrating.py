"""Rehydrate: tell a step again to whoever takes it up, with what is known of the way there.

No event comes of it; a fresh attempt is minted, so that going on from an old step is a fork. The
recap reads a bounded number of nodes in either direction, however long the session is.
"""

from typing import Final

from headway.application.engine import Engine
from headway.application.loading import Loaded
from headway.application.recaps import surroundings
from headway.application.refusals import outcomes_on, refusals
from headway.application.replies import (
    drift_warnings,
    pending,
    show_gate_command,
    show_step,
    step_reply,
)
from headway.application.requests import Reply
from headway.domain.cursor import locate
from headway.domain.events import Drift, GateOpened, StepAdvanced
from headway.domain.ids import ID_BYTES, fresh_attempt, gate_id
from headway.domain.rendering.briefing import render_briefing
from headway.domain.rendering.functions import functions_in_scope
from headway.domain.rendering.recovery import RecoveryFacts, render_recovery
from headway.domain.tokens import nonce_of
from headway.domain.values import Json
from headway.ports.ledger import AttemptRow

_COMPLETE: Final = (
    "This branch is complete; there is nothing left to do on it. Going on from here does its last "
    "step again, on a branch of its own."
)


_GATED: Final = (
    "This step was handed in and waits for a decision, which a person makes after reading it with "
    "`{command}`; handing it in again asks for another one. To learn what was decided, call "
    "continue_workflow with intent advance and this token: {token}"
)


def rehydrate(engine: Engine, loaded: Loaded) -> Reply:
    """Return the step of an attempt with a fresh token, a briefing and the recap of the session."""
    scene, opened = loaded.scene, loaded.opened
    attempt = fresh_attempt(engine.entropy.draw(ID_BYTES))
    engine.ledger.mint(
        AttemptRow(
            nonce=nonce_of(scene.session, attempt),
            session=scene.session,
            node=loaded.row.node,
            attempt=attempt,
            opened_at=loaded.row.opened_at,
        )
    )
    place = locate(scene.workflow, opened.cursor)
    outcomes = outcomes_on(engine, loaded.row)
    around = surroundings(engine, loaded, outcomes)
    shown_already = {*place.step.function_references, *(c.name for c in place.step.function_calls)}
    recovery = render_recovery(
        RecoveryFacts(
            branches=around.branches,
            tip=around.tip,
            downstream=around.downstream,
            ancestry=around.ancestry,
            functions=tuple(
                function
                for function in functions_in_scope(scene.workflow, place.loops, place.step)
                if function.name not in shown_already
            ),
        )
    )
    shown = show_step(scene, opened, resumed=True)
    reply = step_reply(scene, opened, attempt)
    reply["pending"] = pending(scene, shown, recovery=recovery)
    reply["nextIntent"] = "rehydrate_only"
    briefing = render_briefing(scene.workflow, loaded.started.references, resumed=True)
    drift = binding_drift(engine, loaded)
    # Changed bindings change the compiled form too: one cause is told once.
    warnings = drift_warnings(drift) if drift else workflow_drift(engine, loaded)
    outcome = scene.state.attempts[loaded.row.attempt].outcome
    if isinstance(outcome, StepAdvanced) and outcome.opened is None:
        warnings.append({"kind": "BRANCH_COMPLETE", "message": _COMPLETE})
    if isinstance(outcome, GateOpened):
        token = scene.token("ct", loaded.row.attempt)
        command = show_gate_command(gate_id(loaded.row.nonce))
        told = _GATED.format(command=command, token=token)
        warnings.append({"kind": "GATE_OPEN", "message": told})
    else:
        warnings += refusals(engine, loaded.row, outcomes)
    extras: Reply = {"briefing": briefing} if briefing else {}
    return reply | extras | ({"warnings": warnings} if warnings else {})


def workflow_drift(engine: Engine, loaded: Loaded) -> list[Json]:
    """Return a warning when the workflow is no longer what the session was started with.

    The session goes on with its own, pinned form. Nothing is told where the workspace is not there,
    as on another machine.
    """
    workflow, started = loaded.scene.workflow, loaded.started
    if not engine.workspace.exists(started.workspace):
        return []
    entry = engine.catalogue.find(workflow.id, started.workspace)
    if entry is not None and entry.hash == started.workflow:
        return []
    if entry is None:
        what = "Its file is no longer there"
    elif entry.workflow is None:
        what = f"Its file {entry.path} is broken now"
    else:
        what = f"The workflow has changed since ({entry.path})"
    return [
        {
            "kind": "WORKFLOW_DRIFT",
            "workflowId": workflow.id,
            "pinnedHash": started.workflow,
            "currentHash": entry.hash if entry and entry.workflow else None,
            "message": f"{what}; this session goes on with the form it was started with.",
        }
    ]


def binding_drift(engine: Engine, loaded: Loaded) -> tuple[Drift, ...]:
    """Return the bindings that changed since the session was started; they warn, never stop."""
    pinned = loaded.scene.workflow.bindings
    if not pinned:
        return ()
    now = engine.catalogue.bindings(loaded.scene.workflow.id, loaded.started.workspace)
    return tuple(
        Drift(slot=each.slot, pinned=each.value, current=now.get(each.slot, each.default))
        for each in pinned
        if now.get(each.slot, each.default) != each.value
    )
