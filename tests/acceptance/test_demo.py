"""`headway demo`, as a person runs it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from bench.readme import README
from bench.readme import block as marked
from headway.adapters.models.transcript import read_transcript
from headway.cli.demo import job
from tests.support.fake_provider import provider
from tests.support.patience import SECONDS_MAX
from tests.support.provider_acts import Call, Says
from tests.support.provider_wires import OpenAIWire
from tests.support.readme_demo import MARK, masked, picture


def place(folder: Path, **more: str) -> dict[str, str]:
    own = {"TMPDIR": str(folder), "PYTHONIOENCODING": "utf-8"}
    return {**os.environ, **own, **more}  # noqa: TID251


def demo(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headway", "demo", *options],
        env=place(folder, **environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )


STEPS = ("reproduce", "diagnose", "fix", "verify", "report")


def assert_gone(*pids: str) -> None:
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@dataclass(frozen=True)
class Shown:
    """A demo that was run for several tests to look at."""

    folder: Path
    ran: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run the demo as most do, on a terminal as wide as the README's picture."""
    folder = tmp_path_factory.mktemp("shown")
    return Shown(folder, demo(folder, COLUMNS="100"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run the demo of an agent beside settings of this process, and keep what it made."""
    folder = tmp_path_factory.mktemp("kept")
    settings = {"HEADWAY_GATES": "enforce", "HEADWAY_TOKEN": "a-token-of-another-server"}
    return Shown(folder, demo(folder, "--mcp", "--keep", **settings))


def test_the_picture_of_the_demo_is_what_the_demo_says(shown: Shown) -> None:
    assert masked(marked(README.read_text("utf-8"), MARK)) == masked(picture(shown.ran.stdout)), (
        "run: make reference"
    )


def test_the_job_is_killed_in_a_tool_call_recovered_and_ends_as_a_checked_commit(
    shown: Shown,
) -> None:
    assert shown.ran.returncode == 0, shown.ran.stdout + shown.ran.stderr
    told = shown.ran.stdout
    places = [told.index(f"({step})") for step in STEPS]
    assert places == sorted(places)

    (first,) = re.findall(r"process (\d+) has the run", told)
    (killed,) = re.findall(r"kill -9 (\d+): gone, in the middle of bash", told)
    (second,) = re.findall(
        rf"recovered by another worker: process (\d+) goes on where {first}", told
    )
    assert killed == first != second
    assert_gone(first, second)
    assert places[2] < told.index("kill -9") < told.index("recovered") < places[3]
    assert "The patch is in; only the look at every bill was cut off." in told
    assert told.count("git apply") == 1, "what was done before the kill is not done again"
    assert told.count("The step is not taken") == 1

    commit = told[told.index("$ git -C splitbill show") :]
    assert re.search(r"^Headway-Run: task_\w+$", commit, re.MULTILINE)
    assert "\n+    share, left_over = divmod(total_cents, people)\n" in commit
    tree = told[told.index("$ headway sessions tree") :]
    assert all(re.search(rf"[├└]─ ✔ .*\({step}\)", tree) for step in STEPS)
    assert re.search(r"└─ ■ complete", tree)
    table = told[told.index("What it took") : told.index("$ headway verify")]
    rows = re.findall(r"^(\d|in all)\D*? +(\d+) .* \$(\d\.\d+) ", table, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["1", "2", "3", "4", "5", "in all"]
    turns, money = [int(row[1]) for row in rows], [Decimal(row[2]) for row in rows]
    assert (sum(turns[:-1]), sum(money[:-1])) == (turns[-1], money[-1])
    assert re.search(r"\$ headway verify\nAll is as recorded: ", told)
    assert "headway demo --mcp" in told
    assert "\x1b" not in told
    assert not list(shown.folder.iterdir())


def test_a_store_that_only_one_process_may_open_is_told_of_when_it_is_free(tmp_path: Path) -> None:
    """Without the newer SQLite each process has the store alone, here and in the worker."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['pysqlite3'] = None\n"
    )
    (tmp_path / "work").mkdir()
    paths = [str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]  # noqa: TID251
    ran = demo(tmp_path / "work", PYTHONPATH=os.pathsep.join(filter(None, paths)))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.index("kill -9") < ran.stdout.index("recovered by another worker")
    assert not list((tmp_path / "work").iterdir())


def test_a_model_of_ones_own_is_not_killed_and_its_work_is_kept(tmp_path: Path) -> None:
    script = Path(job.__file__).with_name("splitbill.yaml")
    ran = demo(tmp_path, "--model", f"scripted:{script}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "kill" not in ran.stdout
    (folder,) = tmp_path.iterdir()
    assert f"All of it is in {folder}." in ran.stdout
    assert f"export HEADWAY_HOME={folder / 'home'}\n" in ran.stdout, "never cut"
    kept = subprocess.run(
        ["git", "-C", str(folder / "splitbill"), "log", "--all", "--format=%an"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert kept.stdout.split() == ["Headway", "Demo"]


def acts_of_the_script() -> list[Says]:
    """Return the script's turns as they follow one another when nothing is killed."""
    turns = read_transcript(job.TRANSCRIPT).turns
    acts, position = [], 0
    while position < len(turns):
        turn = turns[position]
        if "Interrupted" in turn.expect:
            assert turn.otherwise is not None
            position = turn.otherwise
            continue
        calls = tuple(
            Call(id=f"call_{position}_{number}", name=name, arguments=arguments)
            for number, (name, arguments) in enumerate(turn.calls)
        )
        acts.append(Says(text=turn.text, calls=calls))
        position = turn.then
    return acts


def test_a_model_of_a_provider_does_the_same_job_even_when_it_is_killed(tmp_path: Path) -> None:
    """The provider is a server here that speaks its wire format; all else is as it would be."""
    acts = acts_of_the_script()
    again = next(i for i, act in enumerate(acts) if "git apply" in str(act.calls))
    check = Call(id="call_again", name="bash", arguments='{"command": "git diff --stat"}')
    acts.insert(again + 1, Says(text="What is there?", calls=(check,)))
    with provider(OpenAIWire(), *acts) as fake:
        ran = demo(
            tmp_path, "--model", "openai:a-model", "--kill", OPENAI_BASE_URL=f"{fake.url}/v1"
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"kill -9 \d+: gone, in the middle of bash", ran.stdout)
    assert "recovered by another worker" in ran.stdout
    assert "+    share, left_over = divmod(total_cents, people)" in ran.stdout
    told = json.dumps([each.body for each in fake.asked])
    assert "Interrupted: the process that ran this call ended" in told


def test_a_model_that_comes_to_no_good_end_fails_the_demo_and_is_told(tmp_path: Path) -> None:
    script = tmp_path / "lost.yaml"
    script.write_text("turns:\n  - {text: I cannot.}\n  - {text: No., stop: refused}\n")
    (tmp_path / "work").mkdir()
    ran = demo(tmp_path / "work", "--model", f"scripted:{script}", "--kill")
    assert ran.returncode == 1
    assert "The run did not come to a good end" in ran.stderr
    assert "had nothing to kill" in ran.stdout
    assert "All of it is in" in ran.stdout


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--model", "nobody:x"), 1, "No provider of models is called 'nobody'"),
        (("--model", "anthropic:a-model"), 1, "ANTHROPIC_API_KEY"),
        (("--mcp", "--kill"), 2, "leave --model and --kill out"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_is_made(
    tmp_path: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    ran = demo(tmp_path, *options)
    assert (ran.returncode, said in ran.stderr) == (code, True), ran.stderr
    assert not list(tmp_path.iterdir())


def test_an_agent_over_mcp_is_refused_once_survives_a_kill_and_finishes(tmp_path: Path) -> None:
    ran = demo(tmp_path, "--mcp")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = ran.stdout
    places = [told.index(f"({step})") for step in STEPS]
    assert places == sorted(places)

    first = re.findall(r"headway up serves MCP at \S+, process (\d+)", told)
    second = re.findall(r"headway up again, process (\d+)", told)
    assert re.findall(r"kill -9 (\d+): gone", told) == first
    assert len(second) == 1
    assert second != first
    assert places[2] < told.index("kill -9") < told.index("headway up again") < places[3]
    assert_gone(*first, *second)

    assert told.count("BLOCKED: MISSING_REQUIRED_OUTPUT") == 1
    assert "To do: " in told

    tree = told[told.index("$ headway sessions tree") :]
    for step in STEPS:
        assert re.search(rf"[├└]─ ✔ .*\({step}\)", tree)
    assert re.search(r"│  ├─ ✖ blocked, MISSING_REQUIRED_OUTPUT: ", tree)
    assert re.search(r"└─ ■ complete", tree)
    assert re.search(r"\$ headway verify\nAll is as recorded: 1 session, \d+ events, ", tree)
    assert all(client in tree for client in ("Claude Code", "Codex", "VS Code", "Cursor"))
    assert "\x1b" not in told
    assert not list(tmp_path.iterdir())


def test_settings_of_this_process_do_not_reach_the_demo(kept: Shown) -> None:
    assert kept.ran.returncode == 0, kept.ran.stdout + kept.ran.stderr
    assert "the workflow is complete" in kept.ran.stdout


def test_what_is_kept_is_really_there(kept: Shown) -> None:
    ran = kept.ran
    (folder,) = kept.folder.iterdir()
    assert str(folder) in ran.stdout
    assert f"export HEADWAY_HOME={folder / 'home'}\n" in ran.stdout, "never cut"
    assert re.search(r"\S*headway sessions tree\n", ran.stdout)
    assert "divmod" in (folder / "splitbill" / "splitbill" / "shares.py").read_text("utf-8")
    tree = subprocess.run(
        [sys.executable, "-m", "headway", "sessions", "tree"],
        env={**os.environ, "HEADWAY_HOME": str(folder / "home"), "PYTHONIOENCODING": "ascii"},  # noqa: TID251
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert tree.returncode == 0, tree.stderr
    assert "`- = complete" in tree.stdout


@pytest.mark.parametrize("options", [(), ("--mcp",)])
def test_a_reader_that_leaves_early_ends_the_demo_quietly(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "headway", "demo", *options],
        env=place(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(SECONDS_MAX)
    assert not list(tmp_path.glob("headway-demo-*"))


def test_without_git_the_demo_fails_and_says_so(tmp_path: Path) -> None:
    ran = demo(tmp_path, PATH=str(tmp_path))
    assert ran.returncode == 1
    assert "git is not installed" in ran.stderr
    assert not list(tmp_path.iterdir())
