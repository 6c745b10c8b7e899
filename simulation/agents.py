"""What simulated agents hand in: what a step asks for, less than that, and plain rubbish."""

from functools import lru_cache
from typing import Final

from headway.domain.contracts.judging import contract_for
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Loop, Step, Workflow
from simulation.choices import Choices
from simulation.workflows import CONTRACT, FILLED, FLAGS, LOOP_CONTROL

PASSING_NOTES: Final = "ok, done"
LONG_NOTES: Final = "ok " * 24_000  # beyond what an event keeps within itself
_BAD_NOTES: Final = (None, "", " ", "bad", "no word of it, said in far too many words. " * 4)
_RUBBISH_NOTES: Final = ("\0", "half \ud800", "😀漢" * 30, "{{a}}")
_RUBBISH: Final[tuple[Json, ...]] = (
    None,
    3,
    1.5,
    "text",
    [],
    {},
    {"kind": "other", "ü": "漢"},
    {"kind": "wr.loop_control", "decision": "perhaps"},
    {"kind": "wr.loop_control", "decision": "stop", "loopId": "loop1"},
    {"kind": "wr.assessment", "assessmentId": "quality", "dimensions": {"depth": "odd"}},
    {"kind": "finding"},
    float("nan"),
    2**60,
    "\udfff",
)
_RUBBISH_CONTEXT: Final[tuple[JsonObject, ...]] = (
    {"is_autonomous": True},
    {"__proto__": 1},
    {"n": float("inf")},
    {"metrics_outcome": "glory"},
    {"x": "y" * 300_000},
)
_SMALL: Final[tuple[Json, ...]] = (True, False, None, 0, 1, 2, "", "yes", "no", "2")
_LISTS: Final[tuple[Json, ...]] = (["p"], [], ["p", {"name": "r"}], ["p", "q", "p"])


class Sent(Value):
    """What an agent sends with an advance."""

    notes: str | None = None
    artifacts: tuple[Json, ...] = ()
    context: JsonObject | None = None


def draw_sent(choices: Choices, step: Step) -> Sent:
    """Draw a submission for a step, mostly good."""
    match choices.below(12):
        case 9:
            notes = choices.of(_BAD_NOTES)
            return satisfying(step, "stop", _change(choices), notes)
        case 10:
            made = tuple(choices.of(_RUBBISH) for _ in range(choices.below(3)))
            return Sent(notes=PASSING_NOTES, artifacts=made, context=_change(choices))
        case 11:
            return _rubbish(choices)
        case _:
            word = choices.of(("stop", "continue", "continue"))
            told = LONG_NOTES if choices.rarely(200) else PASSING_NOTES
            return satisfying(step, word, _change(choices), told)


def satisfying(
    step: Step,
    word: str = "stop",
    context: JsonObject | None = None,
    notes: str | None = PASSING_NOTES,
) -> Sent:
    """Return what passes everything a step demands."""
    ref = step.output_contract.ref if step.output_contract else None
    return Sent(notes=notes, artifacts=_good(ref, step, word), context=context)


def finishing(step: Step) -> Sent:
    """Return what passes a step and gives every loop ahead its input."""
    return satisfying(step, "stop", FILLED)


def steps_of(workflow: Workflow) -> dict[str, Step]:
    """Return the steps of a workflow by id."""
    found: dict[str, Step] = {}
    waiting = list(workflow.steps)
    while waiting:
        item = waiting.pop()
        if isinstance(item, Loop):
            waiting.extend(item.body)
        else:
            found[item.id] = item
    return found


def _rubbish(choices: Choices) -> Sent:
    match choices.below(3):
        case 0:
            return Sent(notes=choices.of(_RUBBISH_NOTES))
        case 1:
            return Sent(notes=PASSING_NOTES, context=choices.of(_RUBBISH_CONTEXT))
        case _:
            return Sent(notes=PASSING_NOTES, artifacts=(choices.of(_RUBBISH),) * 300)


def _good(ref: str | None, step: Step, word: str) -> tuple[Json, ...]:
    made: list[Json] = []
    if "quality" in step.assessment_refs:
        made.append(_assessment("quality", {"depth": "high"}))
    if "risk" in step.assessment_refs:
        made.append(_assessment("risk", {"blast": "none"}))
    if ref == LOOP_CONTROL:
        made.append({"kind": "wr.loop_control", "decision": word})
    elif ref:
        made.append(_example(ref))
    return tuple(made)


@lru_cache(maxsize=64)
def _example(ref: str) -> Json:
    contract = contract_for(ref, (CONTRACT,))
    assert contract is not None
    return contract.example


def _assessment(name: str, dimensions: JsonObject) -> Json:
    return {"kind": "wr.assessment", "assessmentId": name, "dimensions": dimensions}


def _change(choices: Choices) -> JsonObject | None:
    """Draw a context change: keys set, removed, or of the wrong kind."""
    changed: dict[str, Json] = {}
    for _ in range((0, 0, 0, 1, 1, 2)[choices.below(6)]):
        match choices.below(6):
            case 0 | 1 | 2:
                changed[choices.of(FLAGS)] = choices.of(_SMALL)
            case 3:
                changed[choices.of(("n", "m"))] = choices.of((1, 2, 3, 0, None, "3"))
            case 4:
                changed[choices.of(("xs", "ys"))] = choices.of((*_LISTS, None, 0))
            case _:
                changed[f"note{choices.below(4)}"] = "漢x" * choices.of((1, 10, 400))
    return changed or None
