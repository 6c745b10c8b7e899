"""The shell, with real processes: what it tells, and that nothing is left of a call."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.living import eventually, is_alive
from tests.support.patience import SECONDS_MAX
from tests.support.provided import KEY, PROVIDERS
from tests.support.tooled import Workbench

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
TELL_AND_STAY = "echo $$ > shell.pid; sleep 300 & echo $! > child.pid; touch ready; wait"
CALLER = """
import asyncio, sys
from pathlib import Path
from tests.support.tooled import Workbench
asyncio.run(Workbench(Path(sys.argv[1])).call("bash", command=sys.argv[2]))
"""


def all_gone(root: Path) -> None:
    pids = [int((root / name).read_text()) for name in ("shell.pid", "child.pid")]
    eventually(lambda: not any(map(is_alive, pids)))


async def test_a_command_tells_both_its_streams_and_how_it_ended(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    assert (
        await bench.done("bash", command="echo out; echo err >&2; pwd") == f"out\nerr\n{tmp_path}"
    )
    assert await bench.failed("bash", command="echo so far; exit 3") == "so far\n[exit code 3]"
    assert await bench.failed("bash", command="kill -9 $$") == "[killed by SIGKILL]"
    assert await bench.done("bash", command="true") == "[no output]"


async def test_a_command_reads_no_input_and_sees_no_secret(tmp_path: Path) -> None:
    bench = Workbench(
        tmp_path,
        ANTHROPIC_API_KEY="k1",
        DB_PASSWORD="k2",
        HEADWAY_HOME="/h",
        GIT_DIR="/g",
        LANG="C",
    )
    shown = await bench.done("bash", command="cat; env")
    assert "LANG=C" in shown
    assert not any(name in shown for name in ("API_KEY", "PASSWORD", "HEADWAY", "GIT_DIR", "k1"))


async def test_a_command_sees_nothing_of_what_reaches_a_model(tmp_path: Path) -> None:
    reached: dict[str, str] = {}
    for provider in PROVIDERS:
        reached |= provider.settings("http://u:p@h")
    reached |= {"AWS_SESSION_TOKEN": KEY, "AWS_BEARER_TOKEN_BEDROCK": KEY}
    shown = await Workbench(tmp_path, None, **reached).done("bash", command="env")
    assert "AWS_REGION=us-east-1" in shown, "what is no secret is seen"
    assert not any(secret in shown for secret in (KEY, "AKIANOTTOBETOLD", "OPENAI_", "ANTHROPIC_"))


async def test_bytes_that_are_no_text_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    assert await Workbench(tmp_path).done("bash", command=r"printf 'a\xffb'") == "a\ufffdb"


async def test_a_command_past_its_time_goes_with_all_that_it_started(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    said = await bench.failed("bash", command=f"echo begun; {TELL_AND_STAY}", timeout_seconds=1)
    assert said == "begun\n[ended after 1 s, with all that it had started]"
    all_gone(tmp_path)


async def test_a_command_that_will_not_end_is_killed(tmp_path: Path) -> None:
    stubborn = f"trap '' TERM; {TELL_AND_STAY}; wait"
    assert "ended after 1 s" in await Workbench(tmp_path).failed(
        "bash", command=stubborn, timeout_seconds=1
    )
    all_gone(tmp_path)


async def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    started = "echo $$ > shell.pid; sleep 300 & echo $! > child.pid; echo done"
    async with asyncio.timeout(SECONDS_MAX):
        assert await Workbench(tmp_path).done("bash", command=started) == "done"
    all_gone(tmp_path)


async def test_a_process_that_left_the_group_does_not_keep_the_call(tmp_path: Path) -> None:
    escaped = (
        "setsid sh -c 'echo $$ > pid; exec sleep 300' & until [ -s pid ]; do :; done; echo done"
    )
    async with asyncio.timeout(SECONDS_MAX):
        assert await Workbench(tmp_path).done("bash", command=escaped) == "done"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_a_cancelled_call_leaves_nothing_behind(tmp_path: Path) -> None:
    call = asyncio.create_task(Workbench(tmp_path).call("bash", command=TELL_AND_STAY))
    await asyncio.to_thread(eventually, (tmp_path / "ready").exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    all_gone(tmp_path)


def test_a_killed_worker_takes_its_command_with_it(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-c", CALLER, str(tmp_path), TELL_AND_STAY]
    with subprocess.Popen(command, env={"PYTHONPATH": path, "PATH": os.defpath}) as worker:
        eventually((tmp_path / "ready").exists)
        worker.kill()
    all_gone(tmp_path)


async def test_a_long_output_is_cut_in_the_middle_and_can_be_paged(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    result = await bench.call("bash", command="seq 1 40000")
    assert len(result.text) < 30_000
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("\n39999\n40000")
    (name,) = bench.outputs.kept
    assert name in result.text
    whole, offset = "", 0
    while True:
        page = await bench.done("read_output", output=name, offset=offset)
        text, _, note = page.partition("\n[")
        whole += text
        if not note:
            break
        offset = len(whole)
        assert f"offset {offset} " in note
    assert whole.split() == [str(n) for n in range(1, 40_001)]
    assert "offset is past" in await bench.failed("read_output", output=name, offset=10**9)
    assert "No answer" in await bench.failed("read_output", output="out_unknown")


async def test_an_endless_output_is_kept_at_both_ends_only(tmp_path: Path) -> None:
    result = await Workbench(tmp_path).call("bash", command="echo first; seq 1 3000000; echo last")
    assert result.whole is not None
    assert len(result.whole) < 9 << 20
    assert "bytes were not kept" in result.whole
    assert (result.whole[:6], result.whole[-4:]) == ("first\n", "last")
