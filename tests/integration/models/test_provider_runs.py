"""`headway run` with a provider's model: a real repository, a real process, a real wire."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.called import called
from tests.support.crashed_runs import ROOT, git, prepare
from tests.support.fake_provider import FakeProvider, provider
from tests.support.patience import SECONDS_MAX
from tests.support.provided import ANTHROPIC, KEY, PROVIDERS, Provider
from tests.support.provider_acts import Act, Call, Fails, Says

LOOKED = "check.py fails with an assertion error, since add subtracts its second argument."
MENDED = "add adds now, and check.py passes; one line of calc.py changed, nothing besides."
ACTS: tuple[Act, ...] = (
    Says(
        text="I look first.",
        thinking="where could it be",
        calls=(
            Call("c1", "bash", json.dumps({"command": "python3 -B check.py; env | sort"})),
            Call("c2", "read_file", '{"path": "calc.py"}'),
        ),
    ),
    Fails(529, "overloaded_error", "Overloaded", (("retry-after-ms", "10"),)),
    Says(calls=(Call("c3", "bash", '{"command": "sed -i'),), stop="length"),
    Says(calls=(Call("c4", "complete_step", json.dumps({"notes": LOOKED})),)),
    Says(calls=(Call("c5", "bash", json.dumps({"command": "sed -i 's/a - b/a + b/' calc.py"})),)),
    Says(calls=(Call("c6", "complete_step", json.dumps({"notes": MENDED})),)),
)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "HEADWAY_HOME": str(folder / "home"),
        "HEADWAY_WORKFLOW_PATH": str(folder / "workflows"),
        "HOME": str(folder),
        "USER": "tester",
        "AWS_EC2_METADATA_DISABLED": "true",
        **settings,
    }


def headway(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return called(words, folder / "repo", environment(folder, **settings))


def run(folder: Path, whose: Provider, fake: FakeProvider) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own, as a person does."""
    words = ("run", "two-steps", "--goal", "Make check.py pass", "--model", whose.model)
    return subprocess.run(
        [sys.executable, "-m", "headway", *words],
        cwd=folder / "repo",
        env=environment(folder, **whose.settings(fake.url)),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@pytest.mark.parametrize("whose", PROVIDERS, ids=lambda each: each.name)
def test_a_model_of_a_provider_does_a_workflow_to_its_commit(
    tmp_path: Path, whose: Provider
) -> None:
    prepare(tmp_path / "place")
    folder = tmp_path / "place"
    with provider(whose.wire(), *ACTS) as fake:
        done = run(folder, whose, fake)
    assert done.returncode == 0, done.stderr
    (listed,) = json.loads(headway(folder, "runs", "list", "--json").stdout)["runs"]
    assert listed["outcome"] == "success"
    branch = f"headway/two-steps/{listed['run']}"
    assert "a + b" in git(folder / "repo", "show", f"{branch}:calc.py")
    assert len(fake.asked) == len(ACTS), "each request was made once"
    bodies = [json.dumps(asked.body) for asked in fake.asked]
    assert "AssertionError" in bodies[1]
    assert bodies[1] == bodies[2], "a request that failed is made again as it was"
    assert "return a - b" in bodies[1]
    assert not any(
        secret in body for body in bodies for secret in (KEY, "ct_", "OPENAI_", "ANTHROPIC_")
    )
    assert headway(folder, "verify").returncode == 0


def test_a_key_that_is_not_taken_ends_the_run_at_once(tmp_path: Path) -> None:
    prepare(tmp_path / "place")
    folder = tmp_path / "place"
    fails = Fails(401, "authentication_error", f"invalid {KEY}")
    with provider(ANTHROPIC.wire(), fails) as fake:
        done = run(folder, ANTHROPIC, fake)
    assert done.returncode == 1
    assert "Set ANTHROPIC_API_KEY to a key that is good" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert len(fake.asked) == 1, "the same key is not taken a second time either"


@pytest.mark.parametrize(
    ("model", "settings", "told"),
    [
        ("anthropic:claude-opus-5-5", {}, "ANTHROPIC_API_KEY is not set"),
        ("openai:gpt-5.6-sol", {}, "OPENAI_API_KEY is not set"),
        ("bedrock:anthropic.claude-opus-5-5", {}, "AWS_REGION is not set"),
        ("bedrock:anthropic.claude-opus-5-5", {"AWS_REGION": "eu-west-1"}, "AWS has no"),
        ("antropic:claude-opus-5-5", {}, "Did you mean anthropic?"),
        ("anthropic:claude-opus-5-5?ouput=9", {}, "Did you mean output?"),
    ],
    ids=["anthropic", "openai", "aws-region", "aws", "provider", "option"],
)
def test_a_model_that_cannot_be_had_is_told_before_anything_is_made(
    tmp_path: Path, model: str, settings: dict[str, str], told: str
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    for verb in ("run", "dispatch"):
        words = (verb, "two-steps", "--goal", "Make check.py pass", "--model", model)
        refused = headway(folder, *words, **settings)
        assert refused.returncode == 1
        assert told in refused.stderr
        assert refused.stdout == ""
    assert not list((folder / "home").iterdir()), "no store, no worktree"
    assert git(folder / "repo", "branch", "--list", "headway/*") == ""


def test_a_worker_without_the_key_ends_the_run_and_says_what_it_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    words = ("dispatch", "two-steps", "--goal", "Make check.py pass", "--model", ANTHROPIC.model)
    run_id = headway(folder, *words, ANTHROPIC_API_KEY=KEY).stdout.strip()
    worked = headway(folder, "worker", "--until-idle")
    assert worked.returncode == 0, worked.stderr
    shown = json.loads(headway(folder, "runs", "show", run_id, "--json").stdout)
    assert shown["outcome"]["kind"] == "error"
    assert "ANTHROPIC_API_KEY is not set" in shown["outcome"]["words"]
    assert shown["worktree"] is None
