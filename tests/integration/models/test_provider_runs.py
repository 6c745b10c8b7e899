"""`headway run` with a provider's model: a real repository, a real process, a real wire."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def run(
    folder: Path, whose: Provider, fake: FakeProvider, *more: str
) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own, as a person does."""
    words = ("run", "two-steps", "--goal", "Make check.py pass", "--model", whose.model)
    return subprocess.run(
        [sys.executable, "-m", "headway", *words, *more],
        cwd=folder / "repo",
        env=environment(folder, **whose.settings(fake.url)),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def dispatched(folder: Path, whose: Provider, **settings: str) -> str:
    words = ("dispatch", "two-steps", "--goal", "Make check.py pass", "--model", whose.model)
    done = headway(folder, *words, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def listed(folder: Path) -> dict[str, Any]:
    (row,) = json.loads(headway(folder, "runs", "list", "--json").stdout)["runs"]
    found: dict[str, Any] = row
    return found


@pytest.mark.parametrize("whose", PROVIDERS, ids=lambda each: each.name)
def test_a_model_of_a_provider_does_a_workflow_to_its_commit(
    tmp_path: Path, whose: Provider
) -> None:
    prepare(tmp_path / "place")
    folder = tmp_path / "place"
    with provider(whose.wire(), *ACTS) as fake:
        done = run(folder, whose, fake)
    assert done.returncode == 0, done.stderr
    row = listed(folder)
    assert (row["outcome"], row["reason"]) == ("success", None)
    branch = f"headway/two-steps/{row['run']}"
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


STANDS_IN_THE_WAY = [
    ("credential_expired", Fails(401, "authentication_error", f"invalid {KEY}"), "to a key that"),
    ("credit_spent", Fails(400, "invalid_request_error", "credit balance is too low"), "no credit"),
]


@pytest.mark.parametrize(
    ("reason", "fails", "said"), STANDS_IN_THE_WAY, ids=[each[0] for each in STANDS_IN_THE_WAY]
)
def test_a_run_whose_key_is_of_no_use_any_more_rests_and_goes_on_once_it_is(
    tmp_path: Path, reason: str, fails: Fails, said: str
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    with provider(ANTHROPIC.wire(), ACTS[0], fails) as fake:
        paused = run(folder, ANTHROPIC, fake)
        assert paused.returncode == 5, paused.stderr
        assert f"is paused ({reason}): anthropic:claude-opus-5-5 does not" in paused.stdout
        assert said in paused.stdout
        row = listed(folder)
        assert f"headway runs resume {row['run']}" in paused.stdout
        assert (row["state"], row["outcome"], row["reason"]) == ("resting", "paused", reason)
        assert f"paused ({reason})" in headway(folder, "runs", "list").stdout
        stats = json.loads(headway(folder, "stats", "--json").stdout)["total"]
        assert (stats["outcomes"], stats["reasons"]) == ({"paused": 1}, {reason: 1})
        assert len(fake.asked) == 2, "the same key is not taken a second time either"
        fake.does(*ACTS[2:])
        words = ("runs", "resume", row["run"])
        resumed = headway(folder, *words, **ANTHROPIC.settings(fake.url))
    assert resumed.returncode == 0, resumed.stderr
    assert json.dumps(fake.asked[1].body) == json.dumps(fake.asked[2].body), "nothing is lost"
    assert (listed(folder)["outcome"], listed(folder)["reason"]) == ("success", None)
    assert headway(folder, "verify").returncode == 0
    assert KEY not in paused.stdout + paused.stderr


def test_a_run_that_is_to_end_at_limits_ends_where_its_key_is_not_taken(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    with provider(ANTHROPIC.wire(), ACTS[0], STANDS_IN_THE_WAY[0][1]) as fake:
        ended = run(folder, ANTHROPIC, fake, "--on-limit", "end")
    assert ended.returncode == 1
    assert "failed (credential_expired): " in ended.stdout
    assert "Set ANTHROPIC_API_KEY to a key that is good" in ended.stdout
    row = listed(folder)
    assert (row["state"], row["reason"]) == ("ended", "credential_expired")


@pytest.mark.parametrize(
    ("verbs", "model", "settings", "told"),
    [
        (("run",), "anthropic:claude-opus-5-5", {}, "ANTHROPIC_API_KEY is not set"),
        (("run",), "openai:gpt-5.6-sol", {}, "OPENAI_API_KEY is not set"),
        (("run",), "bedrock:anthropic.claude-opus-5-5", {}, "AWS_REGION is not set"),
        (("run",), "bedrock:anthropic.claude-opus-5-5", {"AWS_REGION": "eu-west-1"}, "AWS has no"),
        (("run", "dispatch"), "antropic:claude-opus-5-5", {}, "Did you mean anthropic?"),
        (("run", "dispatch"), "anthropic:claude-opus-5-5?ouput=9", {}, "Did you mean output?"),
    ],
    ids=["anthropic", "openai", "aws-region", "aws", "provider", "option"],
)
def test_a_model_that_cannot_be_had_is_told_before_anything_is_made(
    tmp_path: Path, verbs: tuple[str, ...], model: str, settings: dict[str, str], told: str
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    for verb in verbs:
        words = (verb, "two-steps", "--goal", "Make check.py pass", "--model", model)
        refused = headway(folder, *words, **settings)
        assert refused.returncode == 1
        assert told in refused.stderr
        assert refused.stdout == ""
    assert not list((folder / "home").iterdir()), "no store, no worktree"
    assert git(folder / "repo", "branch", "--list", "headway/*") == ""


def test_a_run_waits_for_a_worker_with_the_key_which_is_not_needed_where_it_is_submitted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    words = ("dispatch", "two-steps", "--goal", "Make check.py pass", "--model", ANTHROPIC.model)
    done = headway(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "ANTHROPIC_API_KEY is not set" in told["warning"]
    assert done.stderr == f"Warning: {told['warning']}\n"
    with provider(ANTHROPIC.wire(), *ACTS) as fake:
        settings = ANTHROPIC.settings(fake.url)
        worked = headway(folder, "worker", "--until-idle", **settings)
        assert worked.returncode == 0, worked.stderr
        assert listed(folder)["outcome"] == "success"
        known = json.loads(headway(folder, *words, "--json", **settings).stdout)
    assert known["warning"] is None


def test_a_worker_without_the_key_lets_the_run_rest_before_a_worktree_is_made(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    name = dispatched(folder, ANTHROPIC)
    worked = headway(folder, "worker", "--until-idle")
    assert worked.returncode == 0, worked.stderr
    shown = json.loads(headway(folder, "runs", "show", name, "--json").stdout)
    assert (shown["state"], shown["outcome"]["kind"]) == ("resting", "paused")
    assert shown["reason"] == "credential_missing"
    assert "ANTHROPIC_API_KEY is not set" in shown["outcome"]["words"]
    assert shown["worktree"] is None
    assert not (folder / "home" / "worktrees").exists()
    refused = headway(folder, "runs", "resume", name)
    assert refused.returncode == 1, "it is not taken up without the key either"
    assert listed(folder)["state"] == "resting"
    with provider(ANTHROPIC.wire(), *ACTS) as fake:
        resumed = headway(folder, "runs", "resume", name, **ANTHROPIC.settings(fake.url))
    assert resumed.returncode == 0, resumed.stderr


def test_a_run_that_a_worker_without_the_key_takes_over_keeps_what_was_done(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "place"
    prepare(folder)
    with provider(ANTHROPIC.wire(), ACTS[0], STANDS_IN_THE_WAY[0][1]) as fake:
        assert run(folder, ANTHROPIC, fake).returncode == 5
        name = listed(folder)["run"]
        assert headway(folder, "runs", "resume", name, "--queue").returncode == 0
        assert listed(folder)["reason"] is None
        assert headway(folder, "worker", "--until-idle").returncode == 0
        assert listed(folder)["reason"] == "credential_missing"
        fake.does(*ACTS[2:])
        resumed = headway(folder, "runs", "resume", name, **ANTHROPIC.settings(fake.url))
    assert resumed.returncode == 0, resumed.stderr
    assert headway(folder, "verify").returncode == 0
