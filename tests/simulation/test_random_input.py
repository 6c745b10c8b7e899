"""Random bytes and values through the verbs: a coded refusal or a good answer, nothing else.

Through an engine on a store in memory. A refusal records nothing, and the session goes on after it.
"""

from random import Random

import pytest

from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_workflow
from headway.application.engine import Engine
from headway.application.read_session import read_session
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    Reply,
    ResumeSession,
    StartWorkflow,
)
from headway.application.resume_session import resume_session
from headway.application.start_workflow import start_workflow
from headway.domain.errors import Code, Fault
from headway.domain.ids import session_stream
from headway.domain.values import Json, JsonObject
from headway.ports.sessions import SessionQuery
from simulation.choices import Choices
from simulation.workflows import FILLED, draw_entry
from tests.support.engines import WORKSPACE, engine_for

CALLS = 800
REFUSALS = {
    Code.VALIDATION_ERROR,
    Code.PRECONDITION_FAILED,
    Code.NOT_FOUND,
    Code.TOKEN_INVALID_FORMAT,
    Code.TOKEN_BAD_SIGNATURE,
    Code.TOKEN_SCOPE_MISMATCH,
    Code.TOKEN_UNKNOWN_NODE,
}
KEYS = ("a", "n", "xs", "goal", "", "\0", "__proto__", "is_autonomous", "ü", "\ud800", "a.b")
WORDS = ("ok", "", "\0", "\ud800", "😀", "{{a}}", "wr.loop_control", "stop", "\u202e", "ct_")


class Rubbish:
    """Draws what no caller should send, some of it almost right."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(f"rubbish {seed}")  # noqa: S311  the same in every run

    def text(self) -> str:
        chance = self.chance
        match chance.randrange(4):
            case 0:
                return chance.choice(WORDS)
            case 1:
                return chance.randbytes(chance.randrange(40)).decode("latin-1")
            case 2:
                return "".join(chr(chance.randrange(0x11_0000)) for _ in range(chance.randrange(9)))
            case _:
                return chance.choice(WORDS) * chance.choice((1, 3, 5_000))

    def value(self, depth: int = 0) -> Json:
        chance = self.chance
        plain: tuple[Json, ...] = (None, True, 0, -1, 2**53, 2**70, 1.5, 1e308, -0.0)
        odd: tuple[Json, ...] = (float("nan"), float("inf"), "kind", "decision")
        kind = chance.randrange(6 if depth < 4 else 4)
        if kind < 2:
            return chance.choice((*plain, *odd))
        if kind < 4:
            return self.text()
        if kind == 4:
            return [self.value(depth + 1) for _ in range(chance.randrange(4))]
        return self.object(depth + 1)

    def object(self, depth: int = 0) -> JsonObject:
        chance = self.chance
        made = {chance.choice(KEYS): self.value(depth) for _ in range(chance.randrange(4))}
        if chance.randrange(4) == 0:
            made["kind"] = chance.choice(("wr.loop_control", "wr.assessment", "finding", 3, None))
        return made

    def token(self, real: str) -> str:
        """Return a token: made up, bent, of another kind, or the real one."""
        chance = self.chance
        at = chance.randrange(len(real))
        bent = real[:at] + chance.choice("Az_-!\0é") + real[at + 1 :]
        options = (real, real, bent, real[:at], real + "A", real.upper(), self.text(), f" {real}")
        return chance.choice(options)


def nested(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = {"in": [value]}
    return value


def begun(seed: int) -> tuple[Engine, Reply]:
    """Return an engine and the reply that started a session of a workflow drawn for this seed."""
    for number in range(100):
        chance = Random(f"{seed}/{number}")  # noqa: S311  the same in every run
        workflow = draw_entry(Choices(chance), 1).workflow
        assert workflow is not None
        engine = engine_for(workflow)
        request = StartWorkflow(
            workflow_id=workflow.id, workspace_path=WORKSPACE, goal="Try it", context=FILLED
        )
        try:
            reply = start_workflow(engine, request)
        except Fault:
            continue
        if not reply["isComplete"]:
            return engine, reply
    raise AssertionError("no workflow could be started")


def recorded(engine: Engine) -> int:
    found = engine.sessions.find(SessionQuery(limit=1_000)).rows
    return sum(len(engine.ledger.scan(session_stream(each.session))) for each in found)


def call(engine: Engine, rubbish: Rubbish, token: str) -> Reply:
    chance = rubbish.chance
    match chance.randrange(8):
        case 0:
            return checkpoint_workflow(
                engine, CheckpointWorkflow(checkpoint_token=rubbish.token(token))
            )
        case 1:
            asked = ContinueWorkflow(continue_token=rubbish.token(token), intent="rehydrate")
            return continue_workflow(engine, asked)
        case 2:
            request = StartWorkflow(
                workflow_id=chance.choice(("drawn-1", rubbish.text())),
                workspace_path=chance.choice((WORKSPACE, rubbish.text())),
                goal=rubbish.text(),
                context=rubbish.object(),
            )
            return start_workflow(engine, request)
        case 3:
            search = ResumeSession(
                workspace_path=chance.choice((WORKSPACE, WORKSPACE, rubbish.text())),
                query=rubbish.text(),
                session_id=rubbish.text() if chance.randrange(2) else None,
                git_branch=rubbish.text(),
            )
            return resume_session(engine, search)
        case _:
            made = tuple(rubbish.value() for _ in range(chance.randrange(3)))
            advance = ContinueWorkflow(
                continue_token=rubbish.token(token),
                intent="advance",
                notes=chance.choice((None, rubbish.text())),
                artifacts=(*made, nested(200)) if chance.randrange(30) == 0 else made,
                context=chance.choice((None, rubbish.object())),
            )
            return continue_workflow(engine, advance)


@pytest.mark.parametrize("seed", range(4))
def test_rubbish_gets_a_coded_refusal_and_records_nothing(seed: int) -> None:
    engine, reply = begun(seed)
    rubbish = Rubbish(seed)
    token = str(reply["continueToken"])
    met: list[Fault] = []
    refused = 0
    before = recorded(engine)
    for _ in range(CALLS):
        try:
            answer = call(engine, rubbish, token)
        except Fault as fault:
            met.append(fault)
            continue
        finally:
            now = recorded(engine)
            assert now == before or len(met) == refused
            before, refused = now, len(met)
        if answer.get("continueToken"):
            token = str(answer["continueToken"])
    assert len(met) > CALLS // 10
    assert not [fault for fault in met if fault.code not in REFUSALS or not fault.remedy]
    for summary in engine.sessions.find(SessionQuery(limit=1_000)).rows:
        assert read_session(engine, summary.session).tree.rows


@pytest.mark.parametrize("seed", range(2))
def test_a_session_that_was_fed_rubbish_is_taken_up_and_goes_on(seed: int) -> None:
    engine, reply = begun(seed)
    rubbish = Rubbish(100 + seed)
    token = str(reply["continueToken"])
    for _ in range(60):
        try:
            call(engine, rubbish, token)
        except Fault:
            continue
    again = ContinueWorkflow(continue_token=token, intent="rehydrate")
    told = continue_workflow(engine, again)
    assert told["pending"]
