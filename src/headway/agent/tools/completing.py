"""Handing in a step: the one tool that moves the session on. No token passes through it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final, assert_never

from msgspec import Meta

from headway.agent.tooling import COMPLETE_STEP, FatalToolError
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.errors import Code, Fault
from headway.domain.values import Json, JsonObject, Value
from headway.ports.engine import AllDone, GateWaits, Refused, SessionEngine, StepOpen, Whereabouts
from headway.ports.engine import Work as HandedIn
from headway.ports.engine_answers import for_a_model

NOTES_CHARS_MIN: Final = 50
WAITS_SECONDS: Final = (0.25, 1.0, 4.0)  # between the tries of a hand-in that may yet be taken
FATAL: Final = frozenset(
    {
        Code.TOKEN_INVALID_FORMAT,
        Code.TOKEN_BAD_SIGNATURE,
        Code.TOKEN_SCOPE_MISMATCH,
        Code.TOKEN_UNKNOWN_NODE,
        Code.NOT_FOUND,
        Code.SESSION_NOT_HEALTHY,
    }
)
NOTES_HOLD: Final = (
    "what you did and decided, what you found (files, commands, results), and what the next step "
    "must know: they are all that it will see of this one"
)


class CompleteStep(Value):
    """Arguments of complete_step."""

    # Authors may have written for callers of continue_workflow, whose names are told for that.
    notes: Annotated[
        str,
        Meta(
            description=f"At least {NOTES_CHARS_MIN} characters: {NOTES_HOLD}. It is what is "
            "called output.notesMarkdown elsewhere."
        ),
    ]
    artifacts: Annotated[
        tuple[Json, ...],
        Meta(
            description="What the step's contract asks for, if it asks. It is what is called "
            "output.artifacts elsewhere."
        ),
    ] = ()
    context: Annotated[
        JsonObject | None, Meta(description="Facts that changed, for later steps.")
    ] = None


def complete_step(
    engine: SessionEngine, waits_seconds: Sequence[float] = WAITS_SECONDS
) -> Tool[CompleteStep]:
    """Return the tool that hands in the work on the open step."""

    async def work(arguments: CompleteStep) -> Answer:
        if len(arguments.notes.strip()) < NOTES_CHARS_MIN:
            raise ToolFailed(
                f"The notes have {len(arguments.notes.strip())} characters; at least "
                f"{NOTES_CHARS_MIN} are needed. They must hold {NOTES_HOLD}."
            )
        handed_in = HandedIn(
            notes=arguments.notes, artifacts=arguments.artifacts, context=arguments.context
        )
        return _answer(await _hand_in(engine, handed_in, waits_seconds))

    return Tool(
        COMPLETE_STEP,
        "Hand in the step when all that it asks for is done. The next step is told after it. Call "
        "it alone, after the results of every other tool are there.",
        CompleteStep,
        work,
    )


async def _hand_in(
    engine: SessionEngine, work: HandedIn, waits_seconds: Sequence[float]
) -> Whereabouts | Refused:
    """Hand in, again where that may help: what was recorded is told again, not done again."""
    for wait in (*waits_seconds, None):
        try:
            return await engine.complete(work)
        except Fault as fault:
            if fault.code in FATAL:
                raise FatalToolError(
                    fault.message, code=fault.code.value, remedy=fault.remedy
                ) from fault
            if fault.retry_after_ms is None or wait is None:
                raise ToolFailed(
                    for_a_model(f"The step was not taken. {fault.message} {fault.remedy}")
                ) from fault
            pause = max(wait, fault.retry_after_ms / 1000)
        await asyncio.sleep(pause)
    raise AssertionError  # pragma: no cover - the last try returns or raises


def _answer(outcome: Whereabouts | Refused) -> Answer:
    match outcome:
        case StepOpen(title=title):
            return Answer(text=f"The step is taken. The next one follows: {title}")
        case GateWaits():
            return Answer(
                text="The step is handed in and waits for somebody's decision. Nothing is left to "
                "do until then: end your turn."
            )
        case AllDone():
            return Answer(text="The step is taken, and the workflow is complete.")
        case Refused(reasons=reasons, retryable=retryable):
            asked = (
                "Mend this and hand it in again."
                if retryable
                else "Say in the notes what keeps you from it, as far as you know."
            )
            listed = "\n".join(f"- {reason}" for reason in reasons)
            return Answer(
                text=f"The step is not taken and stays open:\n{listed}\n{asked}", failed=True
            )
        case _:
            assert_never(outcome)
