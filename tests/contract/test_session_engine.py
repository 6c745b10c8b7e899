"""The engine as a run drives it, here and elsewhere: started once, taken up anywhere.

Each test runs with the engine in this process and with a real `headway up`, on real homes, each in
a workspace of its own.
"""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import anyio
import msgspec
import pytest

from headway.adapters.engine.asking import Client, Server, address_of
from headway.adapters.engine.remote import RemoteEngine
from headway.adapters.machine.checks import HostChecker
from headway.adapters.machine.processes import HostProcesses
from headway.agent.direct_engine import DirectEngine
from headway.agent.tools.completing import complete_step
from headway.agent.tools.tool import ToolFailed
from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.requests import DecideGate, ShowGate
from headway.application.rotate_keys import rotate_keys
from headway.application.show_gate import show_gate
from headway.bootstrap import open_engine
from headway.config import Settings, read_settings
from headway.domain.blocking import BLOCKS_MAX
from headway.domain.errors import Code, Fault, InvalidInput, NotFound, PreconditionFailed
from headway.domain.ids import SessionId, digest
from headway.domain.values import Json
from headway.ports.engine import (
    AllDone,
    GateWaits,
    Refused,
    SessionEngine,
    SessionWanted,
    StepOpen,
    Whereabouts,
    Work,
)
from tests.support.living import eventually, is_alive
from tests.support.patience import SECONDS_MAX
from tests.support.standing_in import reply, standing_in
from tests.support.up import Up, port_to_come_back_to, prepare, up

pytestmark = pytest.mark.anyio

NOTES = Work(notes="What was done on this step, and what the next one must know of it.")
TOKEN = "a-token-of-more-than-16-characters"
CLIENT = Client("headway-test", "1")


def flow(name: str, *steps: dict[str, Json]) -> dict[str, Json]:
    return {
        "id": name,
        "name": name,
        "description": f"The workflow {name}.",
        "version": "1.0.0",
        "steps": list(steps),
    }


def step(name: str, **more: Json) -> dict[str, Json]:
    return {"id": name, "title": name.title(), "prompt": f"Do {name}.", **more}


QUALITY: Json = {
    "id": "quality",
    "purpose": "Is it good?",
    "dimensions": [{"id": "depth", "purpose": "How deep?", "levels": ["low", "high"]}],
}
LOW: Json = {"kind": "require_followup", "guidance": "Dig."}
EACH: Json = {"type": "forEach", "items": "files", "itemVar": "file", "maxIterations": 2}
LOOP: dict[str, Json] = {
    "id": "again",
    "type": "loop",
    "title": "Again",
    "loop": {"type": "for", "count": 2, "maxIterations": 2},
    "body": [step("inner")],
}
DEMANDS: dict[str, dict[str, Json]] = {
    "criteria": {"validationCriteria": [{"type": "contains", "value": "Q", "message": "No Q."}]},
    "contract": {"outputContract": {"contractRef": "wr.contracts.loop_control"}},
    "assessment": {
        "assessmentRefs": ["quality"],
        "assessmentConsequences": [{"when": {"anyEqualsLevel": "low"}, "effect": LOW}],
    },
}
FLOWS = (
    *(
        {**flow(name, step("asked", **demand)), "assessments": [QUALITY]}
        if "assessmentRefs" in demand
        else flow(name, step("asked", **demand))
        for name, demand in DEMANDS.items()
    ),
    flow("two", step("first"), step("second")),
    flow("each", step("first"), {**LOOP, "loop": EACH}),
    flow("looped", step("first"), LOOP, step("last")),
    flow("gated", step("plan", requireConfirmation={"kind": "human_approval"}), step("build")),
    flow("checked", step("fix", checks=[{"id": "c", "run": "echo $$ > pid; . ./check"}])),
)


class Home(Protocol):
    """A home, and engines on it."""

    work: Path
    settings: Settings

    def engine(self) -> SessionEngine:
        """Return an engine of a new process, as far as it can tell."""

    def restart(self) -> None:
        """Let whoever serves the home die without a word, and serve it anew."""

    def close(self) -> None:
        """Serve it no more."""


def settings_of(root: Path) -> Settings:
    """Make the folders and files of a home, and return its settings."""
    prepare(root)
    for each in FLOWS:
        (root / "files" / f"{each['id']}.json").write_text(json.dumps(each))
    return read_settings(
        {
            "HEADWAY_HOME": str(root / "home"),
            "HEADWAY_WORKFLOW_PATH": str(root / "files"),
            "HOME": str(root),
            "PATH": os.defpath,
        }
    )


class Here:
    """The engine in this process."""

    def __init__(self, root: Path) -> None:
        self.settings = settings_of(root)
        self.work = root / "work"
        self._stack = ExitStack()
        self._engine: Engine = self._stack.enter_context(open_engine(self.settings))

    def engine(self) -> SessionEngine:
        processes = HostProcesses(self.settings.environment)
        return DirectEngine(self._engine, lambda: HostChecker(processes, guarding=True))

    def restart(self) -> None:
        self.close()
        self._engine = self._stack.enter_context(open_engine(self.settings))

    def close(self) -> None:
        self._stack.close()


WAITS = (0.1,) * (10 * SECONDS_MAX)  # as long as a server may take to start on this machine


class Elsewhere:
    """A server that demands a token and runs checks."""

    def __init__(self, root: Path) -> None:
        self.settings = settings_of(root)
        self.work = root / "work"  # each test has another one
        self._root = root
        self._stack = ExitStack()
        self.server: Up = self._begin(port_to_come_back_to())

    def engine(self) -> SessionEngine:
        return RemoteEngine(Server(address_of(self.server.url), TOKEN, CLIENT, waits_seconds=WAITS))

    def restart(self, sign: signal.Signals = signal.SIGKILL) -> None:
        port = str(self.server.port)
        self.server.stop(sign)
        self._stack.close()
        self.server = self._begin(port)

    def close(self) -> None:
        self._stack.close()

    def _begin(self, port: str) -> Up:
        served = up(self._root, port=port, HEADWAY_CHECKS="run", HEADWAY_TOKEN=TOKEN)
        return self._stack.enter_context(served)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    made = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    yield made
    made.close()


@pytest.fixture
def elsewhere(served: Elsewhere, tmp_path: Path) -> Elsewhere:
    served.work = prepare(tmp_path)
    return served


@pytest.fixture(params=["direct", "remote"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    if request.param == "remote":
        yield request.getfixturevalue("elsewhere")
        return
    made = Here(tmp_path)
    yield made
    made.close()


def wanted(home: Home, name: str = "two", key: str | None = None) -> SessionWanted:
    """Return the wish for a session; without a key, for the one of this test."""
    own = digest(str(home.work).encode())
    return SessionWanted(
        workflow_id=name,
        workspace=str(home.work),
        goal="Do it.",
        call_key=own if key is None else key,
        context={"a": 1},
    )


def at(where: Whereabouts | Refused) -> tuple[str, int, int]:
    assert isinstance(where, StepOpen), where
    return where.step, where.number, where.total


def written(path: Path) -> bool:
    return path.exists() and bool(path.read_text())


def rotate(home: Home) -> None:
    """Rotate the keys so that no token told before is signed by a live one."""
    with open_engine(home.settings) as engine:
        for _ in range(2):
            rotate_keys(engine)


async def test_a_session_is_driven_from_its_first_step_to_its_end(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home))
    first = await engine.current()
    assert at(first) == ("first", 1, 2)
    assert isinstance(first, StepOpen)
    assert "Do first." in first.prompt
    assert "ct_" not in msgspec.json.encode(first).decode()
    assert at(await engine.complete(NOTES)) == ("second", 2, 2)
    assert await engine.complete(NOTES) == AllDone()
    assert await engine.current() == AllDone()


async def test_steps_of_a_loop_count_as_the_loop(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home, "looped"))
    met = [at(await engine.complete(NOTES)) for _ in range(3)]
    assert met == [("inner", 2, 3), ("inner", 2, 3), ("last", 3, 3)]
    assert await engine.complete(NOTES) == AllDone()


async def test_a_start_sent_again_finds_the_session_it_began(home: Home) -> None:
    session = await home.engine().start(wanted(home))
    assert await home.engine().start(wanted(home, key=f"another {home.work}")) != session
    other = home.engine()
    assert await other.start(wanted(home)) == session
    with pytest.raises(Fault, match="call key") as refused:
        await other.start(wanted(home, key="short"))
    assert refused.value.code == Code.VALIDATION_ERROR
    assert refused.value.retry_after_ms is None


async def test_another_process_takes_a_session_up_where_it_stands(home: Home) -> None:
    engine = home.engine()
    session = await engine.start(wanted(home))
    before = await engine.current()
    assert await engine.sync(session) == before
    await engine.complete(NOTES)
    other = home.engine()
    assert at(await other.sync(session)) == at(await engine.current())
    assert await other.complete(NOTES) == AllDone()
    assert await home.engine().sync(session) == AllDone()


async def test_a_hand_in_repeated_after_a_lost_answer_is_recorded_once(home: Home) -> None:
    engine, late = home.engine(), home.engine()
    session = await engine.start(wanted(home))
    await late.sync(session)
    await engine.complete(NOTES)
    assert at(await late.complete(NOTES)) == ("second", 2, 2)
    assert await late.complete(NOTES) == AllDone()


async def test_a_refusal_says_what_is_missing_and_the_step_stays_open(home: Home) -> None:
    engine = home.engine()
    session = await engine.start(wanted(home))
    refused = await engine.complete(Work(notes=""))
    assert isinstance(refused, Refused)
    assert refused.retryable
    assert "notes" in " ".join(refused.reasons)
    assert "token" not in " ".join(refused.reasons)
    other = home.engine()
    told = await other.sync(session)
    assert at(told) == ("first", 1, 2)
    assert isinstance(told, StepOpen)
    assert refused.reasons[0] in told.prompt
    assert "token" not in told.prompt
    assert at(await engine.complete(NOTES)) == ("second", 2, 2)


async def test_a_gate_waits_for_a_person_though_nothing_else_is_set_to(home: Home) -> None:
    engine = home.engine()
    session = await engine.start(wanted(home, "gated"))
    waits = await engine.complete(NOTES)
    assert isinstance(waits, GateWaits)
    assert waits.step == "plan"
    assert waits.gate in waits.command
    assert await home.engine().sync(session) == waits
    with open_engine(home.settings) as store:
        shown = str(show_gate(store, ShowGate(gate=waits.gate))["shown"])
        decide_gate(store, DecideGate(gate=waits.gate, approve=True, decided_by="me", shown=shown))
    assert at(await engine.sync(session)) == ("build", 2, 2)


async def rejected(home: Home, engine: SessionEngine) -> SessionId:
    """Begin a session and have the work on its first step rejected."""
    session = await engine.start(wanted(home, "gated"))
    waits = await engine.complete(NOTES)
    assert isinstance(waits, GateWaits)
    with open_engine(home.settings) as store:
        shown = str(show_gate(store, ShowGate(gate=waits.gate))["shown"])
        no = DecideGate(
            gate=waits.gate, approve=False, decided_by="ann", shown=shown, rationale="Too large."
        )
        decide_gate(store, no)
    return session


@pytest.mark.parametrize("by", ["who handed in", "another process"])
async def test_a_step_that_was_rejected_is_told_again_with_what_was_said(
    home: Home, by: str
) -> None:
    engine = home.engine()
    session = await rejected(home, engine)
    taken_up = engine if by == "who handed in" else home.engine()
    again = await taken_up.sync(session)
    assert at(again) == ("plan", 1, 2)
    assert isinstance(again, StepOpen)
    assert "Do plan." in again.prompt
    assert "ann did not approve what was handed in on this step: Too large." in again.prompt
    assert "token" not in again.prompt
    waits = await taken_up.complete(NOTES)
    assert isinstance(waits, GateWaits)


@pytest.mark.parametrize("name", ["two", *DEMANDS])
async def test_steps_and_refusals_ask_for_work_by_the_names_a_run_hands_it_in_with(
    home: Home, name: str
) -> None:
    engine = home.engine()
    await engine.start(wanted(home, name))
    step = await engine.current()
    assert isinstance(step, StepOpen)
    refused = await engine.complete(Work(notes=""))
    assert isinstance(refused, Refused)
    told = "\n".join([step.prompt, *refused.reasons])
    assert ("notes" in told) == (name != "contract")
    assert ("artifacts" in told) == (name in {"contract", "assessment"})
    for of_another_tool in ("output.", "notesMarkdown", "continue_workflow", "token"):
        assert of_another_tool not in told


async def test_a_model_is_told_of_context_that_is_missing_by_its_own_tool(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home, "each"))
    with pytest.raises(ToolFailed, match="Call complete_step again with") as told:
        await complete_step(engine).run(msgspec.json.encode(NOTES).decode())
    assert '"context": {"files": ' in str(told.value)


async def test_a_model_is_told_when_nothing_more_is_taken_on_a_step(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home))
    for _ in range(BLOCKS_MAX):
        assert isinstance(await engine.complete(Work(notes="")), Refused)
    with pytest.raises(ToolFailed, match="say what is missing and end your turn") as told:
        await complete_step(engine).run(msgspec.json.encode(NOTES).decode())
    assert "continue_workflow" not in str(told.value)


async def test_a_check_that_fails_refuses_the_step_and_says_why(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home, "checked"))
    (home.work / "check").write_text("echo two is not three: no output.notesMarkdown; false")
    refused = await engine.complete(NOTES)
    assert isinstance(refused, Refused)
    assert "two is not three: no output.notesMarkdown" in " ".join(refused.reasons)
    assert "token" not in " ".join(refused.reasons)
    (home.work / "check").write_text("true")
    assert await engine.complete(NOTES) == AllDone()


async def test_a_session_outlives_whoever_serves_it(home: Home) -> None:
    engine = home.engine()
    session = await engine.start(wanted(home))
    home.restart()
    if isinstance(home, Here):  # what was in this process went with it
        engine = home.engine()
        await engine.sync(session)
    assert at(await engine.complete(NOTES)) == ("second", 2, 2)
    home.restart()
    other = home.engine()
    assert at(await other.sync(session)) == ("second", 2, 2)
    assert await other.complete(NOTES) == AllDone()


async def test_a_session_outlives_the_keys_its_tokens_were_signed_by(home: Home) -> None:
    engine = home.engine()
    session = await engine.start(wanted(home))
    rotate(home)
    refused = await engine.complete(Work(notes=""))
    assert isinstance(refused, Refused)
    rotate(home)
    assert at(await engine.complete(NOTES)) == ("second", 2, 2)
    rotate(home)
    assert at(await home.engine().sync(session)) == ("second", 2, 2)
    assert await engine.complete(NOTES) == AllDone()


async def test_work_that_was_taken_before_the_keys_were_rotated_counts_for_its_step_alone(
    home: Home,
) -> None:
    engine, late = home.engine(), home.engine()
    session = await engine.start(wanted(home))
    await late.sync(session)
    await engine.complete(NOTES)
    rotate(home)
    assert at(await late.complete(NOTES)) == ("second", 2, 2)
    assert at(await home.engine().sync(session)) == ("second", 2, 2)
    assert await late.complete(NOTES) == AllDone()


async def test_a_session_nobody_knows_is_told_as_such(home: Home) -> None:
    engine = home.engine()
    with pytest.raises(NotFound) as unknown:
        await engine.sync(SessionId("sess_unknown"))
    assert unknown.value.retry_after_ms is None


async def test_a_workflow_nobody_knows_is_told_as_such(home: Home) -> None:
    with pytest.raises(Fault, match="no workflow 'twoo'") as unknown:
        await home.engine().start(wanted(home, "twoo"))
    assert unknown.value.code == Code.NOT_FOUND
    assert "two" in unknown.value.remedy


async def test_a_hand_in_that_is_cancelled_while_it_is_checked_ends_at_once(home: Home) -> None:
    engine = home.engine()
    await engine.start(wanted(home, "checked"))
    (home.work / "check").write_text("sleep 600")
    with anyio.fail_after(SECONDS_MAX):
        async with anyio.create_task_group() as group:
            group.start_soon(engine.complete, NOTES)
            await anyio.to_thread.run_sync(eventually, lambda: written(home.work / "pid"))
            group.cancel_scope.cancel()
    if isinstance(home, Here):  # elsewhere the check goes on, for whoever asks again
        pid = int((home.work / "pid").read_text())
        eventually(lambda: not is_alive(pid))
        (home.work / "check").write_text("true")
        assert await engine.complete(NOTES) == AllDone()


async def test_a_server_that_stays_away_is_a_fault_that_may_pass(elsewhere: Elsewhere) -> None:
    server = Server(address_of(elsewhere.server.url), TOKEN, CLIENT, waits_seconds=(0.01, 0.02))
    engine = RemoteEngine(server)
    await engine.start(wanted(elsewhere))
    elsewhere.server.kill()
    with pytest.raises(Fault) as away:
        await engine.complete(NOTES)
    assert away.value.code == Code.ENGINE_UNAVAILABLE
    assert away.value.retry_after_ms
    assert elsewhere.server.url in away.value.message
    elsewhere.restart()
    assert at(await engine.complete(NOTES)) == ("second", 2, 2)


async def test_a_server_that_comes_back_in_time_is_waited_for(elsewhere: Elsewhere) -> None:
    engine = elsewhere.engine()
    await engine.start(wanted(elsewhere))
    elsewhere.server.kill()
    async with anyio.create_task_group() as group:
        met: list[Whereabouts | Refused] = []

        async def hand_in() -> None:
            met.append(await engine.complete(NOTES))

        group.start_soon(hand_in)
        await anyio.to_thread.run_sync(elsewhere.restart)
    assert at(met[0]) == ("second", 2, 2)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
async def test_a_server_that_ends_in_the_middle_of_a_hand_in_is_asked_again(
    elsewhere: Elsewhere, sign: signal.Signals
) -> None:
    engine = elsewhere.engine()
    await engine.start(wanted(elsewhere, "checked"))
    (elsewhere.work / "check").write_text("until [ -e go ]; do sleep 0.05; done")
    met: list[Whereabouts | Refused] = []

    async def hand_in() -> None:
        met.append(await engine.complete(NOTES))

    async with anyio.create_task_group() as group:
        group.start_soon(hand_in)
        await anyio.to_thread.run_sync(eventually, lambda: written(elsewhere.work / "pid"))
        await anyio.to_thread.run_sync(elsewhere.restart, sign)
        (elsewhere.work / "go").touch()
    assert met == [AllDone()]


async def test_a_request_that_did_not_arrive_in_time_is_sent_again(tmp_path: Path) -> None:
    told = b'{"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"kind": "ok"}}}'
    answers = iter((reply(b"{}", 408), reply(told)))
    with standing_in(tmp_path / "home", lambda _body: next(answers)) as server:
        address = address_of(f"http://127.0.0.1:{server.port}")
        asked = await Server(address, TOKEN, CLIENT).call("list_workflows", {})
    assert asked == {"kind": "ok"}


async def test_a_server_s_token_that_is_missing_or_wrong_is_told_and_never_shown(
    elsewhere: Elsewhere,
) -> None:
    for token in (None, "another-token-than-the-server-s"):
        engine = RemoteEngine(Server(address_of(elsewhere.server.url), token, CLIENT))
        with pytest.raises(PreconditionFailed, match="demands a token") as refused:
            await engine.start(wanted(elsewhere))
        assert "HEADWAY_ENGINE_TOKEN" in refused.value.remedy
        assert "another-token" not in f"{refused.value.message}{refused.value.remedy}"
    assert TOKEN not in elsewhere.server.log()


async def test_what_is_no_server_of_headway_is_told_with_what_it_said(
    elsewhere: Elsewhere,
) -> None:
    url = f"{elsewhere.server.url}/some/where"
    with pytest.raises(PreconditionFailed, match="answered 404"):
        await RemoteEngine(Server(address_of(url), TOKEN, CLIENT)).start(wanted(elsewhere))


@pytest.mark.parametrize(
    "url",
    ["", "localhost:7430", "ftp://x", "http://", "http://u:secret@x", "http://x?a", "http://x:y"],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(InvalidInput, match="address") as refused:
        address_of(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://h:7430", "http://h:7430/", "http://h:7430/mcp"])
def test_an_address_is_taken_as_headway_up_prints_it(url: str) -> None:
    assert address_of(url).url == "http://h:7430"
