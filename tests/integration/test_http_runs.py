"""Runs over HTTP: a real server, whatever a client may send, and the command line beside it."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from headway.cli.main import cli
from headway.domain.values import Json
from headway.web.bodies import BODY_BYTES_MAX
from tests.support.crashed_runs import git
from tests.support.patience import SECONDS_MAX
from tests.support.up import Up, environment, up

JSON = {"content-type": "application/json"}
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@localhost")
NOTES = "{notes: Nothing had to be done on this step as these notes of some length say.}"
SCRIPT = "turns:\n" + f"  - calls:\n      - complete_step: {NOTES}\n" * 3
SLOW = """\
turns:
  - calls:
      - bash: {{command: "touch '{begun}'; exec sleep 600"}}"""
NEVER = "task_aaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("http-runs")


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Up]:
    with up(root) as server:
        begin(root)
        yield server


def begin(root: Path) -> None:
    (root / "work" / "script.yaml").write_text(SCRIPT)
    git(root / "work", "add", "-A")
    git(root / "work", *IDENTITY, "commit", "-qm", "Begin")


def submission(root: Path, **more: Json) -> dict[str, Any]:
    return {
        "workflow": "three-steps",
        "goal": "Try it",
        "workspace": str(root / "work"),
        "model": f"scripted:{root / 'work' / 'script.yaml'}",
    } | more


def post(served: Up, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
    data = b"" if body is None else json.dumps(body).encode()
    return served.ask("POST", path, data, JSON if data else {})


def submitted(served: Up, root: Path, **more: Json) -> str:
    status, row = post(served, "/v1/runs", submission(root, **more))
    assert status == 202, row
    return str(row["run"])


def runs_of(served: Up, query: str = "") -> list[str]:
    status, listed = served.get(f"/v1/runs{query}")
    assert status == 200, listed
    found = listed["runs"]
    assert isinstance(found, list)
    return [str(each["run"]) for each in found if isinstance(each, dict)]


def told(answer: tuple[int, dict[str, Any]], status: int) -> dict[str, Any]:
    """Return the envelope of a refusal, which always has a code, a message and a remedy."""
    found, body = answer
    assert found == status, body
    assert body["code"]
    assert body["message"]
    assert body["details"]["suggestion"]
    return body


def here(root: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, words, env=environment(root), prog_name="headway")
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_a_submitted_run_is_driven_by_a_worker_and_told_to_its_end(served: Up, root: Path) -> None:
    status, row = post(
        served,
        "/v1/runs",
        submission(root, limits={"turns": 9, "money": None, "onLimit": "end"}, priority=2),
    )
    assert (status, row["state"], row["priority"]) == (202, "queued", 2)
    run = str(row["run"])
    assert here(root, "runs", "resume", run)
    status, shown = served.get(f"/v1/runs/{run}")
    assert (status, shown["state"], shown["commit"]) == (200, "ended", None)
    assert shown["outcome"] == {"kind": "success", "words": "succeeded without a change"}
    assert shown["limits"] == {
        "turns": 9, "tokens": None, "money": None, "seconds": 3_600, "onLimit": "end",
    }  # fmt: skip
    assert json.loads(here(root, "runs", "show", run, "--json")) == shown
    after, lines = 0, []
    while True:
        status, page = served.get(f"/v1/runs/{run}/events?after={after}&limit=7&texts=true")
        assert status == 200
        events = page["events"]
        assert isinstance(events, list)
        lines += events
        after = int(str(page["next"]))
        if not page["more"]:
            break
    assert [each["version"] for each in lines if isinstance(each, dict)] == list(
        range(1, int(str(shown["events"])) + 1)
    )
    assert any("Nothing had to be done" in str(each) for each in lines)


def test_a_dedupe_key_leads_to_the_run_that_has_it(served: Up, root: Path) -> None:
    run = submitted(served, root, dedupe="nightly", model="scripted:script.yaml")
    status, row = post(served, "/v1/runs", submission(root, dedupe="nightly", goal="Again"))
    assert (status, row["run"]) == (200, run)
    status, row = post(served, f"/v1/runs/{run}/abort")
    assert (status, row["state"]) == (200, "ended")
    assert submitted(served, root, dedupe="nightly") != run


def test_the_address_of_a_new_run_is_told(served: Up, root: Path) -> None:
    client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    client.request("POST", "/v1/runs", json.dumps(submission(root)), JSON)
    response = client.getresponse()
    row = json.loads(response.read())
    client.close()
    location = response.getheader("location")
    assert location == f"/v1/runs/{row['run']}"
    assert served.get(location)[0] == 200


def test_runs_are_listed_by_what_is_asked_for(served: Up, root: Path) -> None:
    first, second = submitted(served, root), submitted(served, root)
    assert runs_of(served, "?limit=2") == [second, first]
    assert runs_of(served, "?state=queued&limit=1") == [second]
    assert second in runs_of(served, "?unfinished=true&workflow=three-steps")
    assert runs_of(served, "?workflow=none") == []
    assert runs_of(served, "?workspace=/elsewhere") == []
    assert told(served.get("/v1/runs?state=waiting"), 422)["details"]["kind"] == "state"
    unknown = told(served.get("/v1/runs?stat=queued"), 400)
    assert "Did you mean state" in unknown["details"]["suggestion"]
    told(served.get("/v1/runs?limit=many"), 400)
    told(served.get("/v1/runs?limit=1&limit=2"), 400)


def test_a_run_is_spoken_to(served: Up, root: Path) -> None:
    run = submitted(served, root)
    status, row = post(served, f"/v1/runs/{run}/steer", {"text": "Mind the tests.", "by": "ann"})
    assert (status, row["state"]) == (202, "queued")
    status, row = post(served, f"/v1/runs/{run}/pause", {})
    assert (status, row["state"], row["outcome"]) == (200, "resting", "paused")
    limits = {"turns": 7, "seconds": 90}
    status, row = post(served, f"/v1/runs/{run}/resume", {"by": "ann", "limits": limits})
    assert (status, row["state"]) == (202, "queued")
    _, shown = served.get(f"/v1/runs/{run}")
    told_limits = shown["limits"]
    assert isinstance(told_limits, dict)
    assert (told_limits["turns"], told_limits["seconds"]) == (7, 90)
    assert told(post(served, f"/v1/runs/{run}/retry"), 409)["details"]["kind"] == "run_unfinished"
    status, row = post(served, f"/v1/runs/{run}/abort", {"reason": "enough", "by": "ann"})
    assert (status, row["outcome"]) == (200, "cancelled")
    status, anew = post(served, f"/v1/runs/{run}/retry")
    assert (status, anew["state"]) == (202, "queued")
    _, shown = served.get(f"/v1/runs/{anew['run']}")
    assert shown["retryOf"] == run
    assert "ann steers" in here(root, "runs", "log", run)


@pytest.mark.parametrize("verb", ["steer", "abort", "pause", "resume"])
def test_what_has_ended_is_gone_and_what_never_was_is_not_found(
    served: Up, root: Path, verb: str
) -> None:
    run = submitted(served, root)
    assert post(served, f"/v1/runs/{run}/abort")[0] == 200
    body = {"text": "x"} if verb == "steer" else {}
    ended = told(post(served, f"/v1/runs/{run}/{verb}", body), 410)
    assert ended["details"]["kind"] == "run_ended"
    for name in (NEVER, run[:-1], run + "a", "task_", "..%2f", "%00", "x" * 500):
        assert told(post(served, f"/v1/runs/{name}/{verb}", body), 404)["code"] == "NOT_FOUND"


def test_a_run_that_never_was_has_no_page_and_no_log(served: Up, root: Path) -> None:
    run = submitted(served, root)
    for path in (f"/v1/runs/{NEVER}", f"/v1/runs/{NEVER}/events", f"/v1/runs/{run[:20]}"):
        told(served.get(path), 404)
    near = told(served.get(f"/v1/runs/{run[:-2]}zz"), 404)
    assert run in near["details"]["didYouMean"]
    told(post(served, f"/v1/runs/{NEVER}/retry"), 404)
    told(served.ask("DELETE", f"/v1/runs/{run}", b"", {}), 405)


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"goal": " "}, 422, "goal"),
        ({"goal": "x" * 40_000}, 422, "goal"),
        ({"workspace": "work"}, 422, "not absolute"),
        ({"workspace": "/nowhere/at/all"}, 422, "does not exist"),
        ({"workspace": "ROOT"}, 422, "not in a git repository"),
        ({"workflow": "three-step"}, 422, "three-steps"),
        ({"model": "nobody:x"}, 422, "provider"),
        ({"model": "scripted:none.yaml"}, 422, "none.yaml"),
        ({"model": ""}, 422, "model"),
        ({"limits": {"turns": 0}}, 422, "limit"),
        ({"limits": {"money": -1}}, 422, "limit"),
        ({"limits": {"tokens": 10**18}}, 422, "limit"),
        ({"limits": {"tokens": 10**30}}, 422, "limit"),
        ({"limits": {"turns": 1.5}}, 400, "int"),
        ({"limits": {"turn": 5}}, 400, "Did you mean turns"),
        ({"limits": {"onLimit": "stop"}}, 400, "onLimit"),
        ({"limits": None}, 400, "limits"),
        ({"priority": 10**9}, 422, "priority"),
        ({"priority": "high"}, 400, "priority"),
        ({"stuck": "carry on"}, 400, "stuck"),
        ({"dedupe": ""}, 422, "key"),
        ({"gaol": "x"}, 400, "Did you mean goal"),
        ({"goal": 5}, 400, "goal"),
    ],
)
def test_a_submission_that_cannot_be_meant_is_refused_and_nothing_is_kept(
    served: Up, root: Path, change: dict[str, Any], status: int, said: str
) -> None:
    if change.get("workspace") == "ROOT":
        change = {"workspace": str(root)}
    before = runs_of(served, "?limit=1000")
    refused = told(post(served, "/v1/runs", submission(root) | change), status)
    assert said.lower() in json.dumps(refused).lower()
    assert runs_of(served, "?limit=1000") == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b"null", JSON, 400),
        (b"\xff", JSON, 400),
        (b'{"text": "a", "text": "b"}', JSON, 400),
        (b'{"text": "\\ud800"}', JSON, 400),
        (b'{"text": NaN}', JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"", {}, 400),
        (b'{"text": "x"}', {}, 415),
        (b'{"text": "x"}', {"content-type": "text/plain"}, 415),
        (b'{"text": "' + b"x" * BODY_BYTES_MAX + b'"}', JSON, 413),
        (b'{"text": " "}', JSON, 422),
    ],
)
def test_a_body_that_means_nothing_is_refused(
    served: Up, root: Path, body: bytes, headers: dict[str, str], status: int
) -> None:
    run = submitted(served, root)
    told(served.ask("POST", f"/v1/runs/{run}/steer", body, headers), status)
    _, page = served.get(f"/v1/runs/{run}/events")
    assert page["next"] == 1, "nothing was written"


def test_a_run_that_is_driven_is_told_and_not_taken(served: Up, root: Path) -> None:
    script, begun = root / "slow.yaml", root / "begun"
    script.write_text(SCRIPT.replace("turns:", SLOW.format(begun=begun)))
    command = ("run", "three-steps", "--goal", "x", "--model", f"scripted:{script}")
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *command],
        cwd=root / "work",
        env=environment(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + SECONDS_MAX
        while not begun.exists():  # between two turns a pause would let the run rest at once
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (run,) = runs_of(served, "?state=running")
        taken = told(post(served, f"/v1/runs/{run}/resume"), 409)
        assert taken["details"]["kind"] == "run_driven"
        status, row = post(served, f"/v1/runs/{run}/pause")
        assert (status, row["state"]) == (202, "running")
        assert post(served, f"/v1/runs/{run}/steer", {"text": "Hurry."})[0] == 202
        assert post(served, f"/v1/runs/{run}/abort")[0] == 202
        assert process.wait(SECONDS_MAX) == 7
    told(post(served, f"/v1/runs/{run}/pause"), 410)


def test_another_site_s_page_cannot_submit_a_run(served: Up, root: Path) -> None:
    before = runs_of(served, "?limit=1000")
    body = json.dumps(submission(root)).encode()
    for more in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
        status, refused = served.ask("POST", "/v1/runs", body, JSON | more)
        assert status == 403, refused
    assert runs_of(served, "?limit=1000") == before


def test_a_run_without_its_key_is_taken_with_a_warning_and_rests_until_it_is_resumed(
    tmp_path: Path,
) -> None:
    with up(tmp_path) as served:
        begin(tmp_path)
        asked = submission(tmp_path, model="anthropic:claude-opus-5-5")
        status, row = post(served, "/v1/runs", asked)
        assert status == 202
        assert "ANTHROPIC_API_KEY is not set" in row["warning"]
        worker = (sys.executable, "-m", "headway", "worker", "--until-idle")
        done = subprocess.run(worker, env=environment(tmp_path), check=False, timeout=SECONDS_MAX)
        assert done.returncode == 0
        assert runs_of(served, "?state=paused") == [row["run"]]
        _, shown = served.get(f"/v1/runs/{row['run']}")
        assert (shown["state"], shown["reason"]) == ("resting", "credential_missing")
        assert "ANTHROPIC_API_KEY is not set" in str(shown["outcome"])
        status, resumed = post(served, f"/v1/runs/{row['run']}/resume")
        assert (status, resumed["state"], resumed["reason"]) == (202, "queued", None)


def test_a_server_with_a_token_demands_it_for_runs_too(tmp_path: Path) -> None:
    with up(tmp_path, HEADWAY_TOKEN="a-token-of-some-length") as server:
        assert server.get("/v1/runs")[0] == 401
        assert server.get("/v1/runs", authorization="Bearer a-token-of-some-length")[0] == 200
