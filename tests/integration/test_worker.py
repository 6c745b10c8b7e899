"""`headway worker` as a process: several runs at once, signals, a store that goes away."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.living import heeds
from tests.support.patience import SECONDS_MAX
from tests.support.postgres import require_server, require_url, schema
from tests.support.worked import Place, until


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        yield Place(tmp_path / "place")
        return
    with schema(require_url()) as url:
        yield Place(tmp_path / "place", url)


@pytest.fixture
def filed(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def test_a_worker_drives_as_many_at_once_as_it_has_room_for(place: Place) -> None:
    place.held_up()
    runs = [place.dispatch() for _ in range(3)]
    with place.worker("--runs", "2", "--until-idle") as worker:
        until(lambda: len(place.begun()) == 2)
        states = [place.listed()[run]["state"] for run in runs]
        assert states == ["running", "running", "queued"]
        place.go.touch()
        said = worker.ended()
    assert worker.process.returncode == 0, said
    listed = place.listed()
    assert [listed[run]["outcome"] for run in runs] == ["success"] * 3
    assert [listed[run]["claims"] for run in runs] == [1] * 3
    for run in runs:
        lines = [line for line in said.splitlines() if line.startswith(f"{run[:13]}: ")]
        assert "step 1 of 2: Look" in lines[2], said
        assert lines[-1].endswith(": succeeded without a change"), said


def test_told_to_stop_it_lets_the_turn_end_and_hands_the_run_back(place: Place) -> None:
    place.held_up()
    place.environment["HEADWAY_LEASE_SECONDS"] = "3600"
    run = place.dispatch()
    waits = place.dispatch()
    with place.worker("--runs", "1") as worker:
        until(place.begun)
        worker.tell(signal.SIGTERM)
        worker.heard("told again")  # only now the turn may end: it would go on with the next
        place.go.touch()
        said = worker.ended()
    assert worker.process.returncode == 0, said
    assert "is handed back" in said
    assert [place.listed()[each]["state"] for each in (run, waits)] == ["queued", "queued"]
    with place.worker("--until-idle") as other:
        told = other.ended()  # which did not wait for the lease of an hour to run out
    assert "recovered by another worker (claim 2)" in told
    assert place.listed()[run]["outcome"] == "success"
    assert place.shown(run)["turns"] == 3, "no call was interrupted"


@pytest.mark.parametrize("how", ["told again", "its grace is over"])
def test_in_the_end_it_hands_back_in_the_middle_of_a_turn(filed: Place, how: str) -> None:
    filed.held_up()
    filed.environment["HEADWAY_GRACE_SECONDS"] = "1" if how == "its grace is over" else "600"
    run = filed.dispatch()
    with filed.worker() as worker:
        until(filed.begun)
        worker.tell(signal.SIGTERM)
        if how == "told again":
            worker.heard("told again")
            worker.tell(signal.SIGINT)
        said = worker.ended()
    assert worker.process.returncode == 0, said
    assert "is handed back" in said
    with filed.worker("--until-idle") as other:
        other.ended()
    listed = filed.listed()[run]
    assert (listed["outcome"], listed["claims"]) == ("success", 2)
    assert not filed.go.exists(), "the call was cut off"


def test_a_worker_that_nobody_listens_to_goes_on(filed: Place) -> None:
    filed.held_up()
    run = filed.dispatch()
    with filed.worker("--until-idle") as worker:
        until(filed.begun)
        heard = worker.process.stderr
        assert heard is not None
        heard.close()
        filed.go.touch()
        assert worker.process.wait(SECONDS_MAX) == 0
    assert filed.listed()[run]["outcome"] == "success"


def test_an_idle_worker_stops_when_it_is_told_to(filed: Place) -> None:
    with filed.worker() as worker:
        until(lambda: heeds(worker.process.pid, signal.SIGTERM))
        worker.tell(signal.SIGTERM)
        said = worker.ended()
    assert worker.process.returncode == 0, said


def test_bounds_hold_for_all_workers_together(place: Place) -> None:
    place.held_up()
    place.environment["HEADWAY_RUNS_MAX"] = "2"
    runs = [place.dispatch() for _ in range(4)]
    with place.worker("--until-idle") as one, place.worker() as two:
        until(lambda: len(place.begun()) == 2)
        states = sorted(each["state"] for each in place.listed().values())
        assert states == ["queued", "queued", "running", "running"]
        place.go.touch()
        until(lambda: all(each["outcome"] for each in place.listed().values()))
        two.tell(signal.SIGTERM)
        two.ended()
        one.ended()
    assert {place.listed()[run]["outcome"] for run in runs} == {"success"}


def test_a_worker_whose_store_goes_away_waits_and_goes_on(tmp_path: Path) -> None:
    server = require_server()
    with schema(server.url) as url:
        place = Place(tmp_path / "place", url)
        with place.worker() as worker:
            assert worker.process.stderr is not None
            first = place.dispatch()
            until(lambda: place.listed()[first]["outcome"])
            server.control("-m", "fast", "stop")
            said = iter(worker.process.stderr.readline, "")
            assert next(line for line in said if line.startswith("worker: Waits: The store"))
            server.control("-o", f"-c listen_addresses= -k {server.folder}", "start")
            assert next(line for line in said if line.startswith("worker: Goes on"))
            second = place.dispatch()
            until(lambda: place.listed()[second]["outcome"] == "success")
            worker.tell(signal.SIGTERM)
            worker.ended()
        assert worker.process.returncode == 0


def test_what_an_outdated_worker_began_does_not_work_beside_its_successor(filed: Place) -> None:
    filed.environment["HEADWAY_LEASE_SECONDS"] = "1"
    filed.held_up()
    run = filed.dispatch()
    with filed.worker() as zombie:
        until(filed.begun)
        writers = _marked(run)
        assert writers
        zombie.tell(signal.SIGSTOP)
        until(lambda: filed.listed()[run]["state"] == "stalled")
        with filed.worker("--until-idle") as successor:
            said = successor.ended()
        assert "had left running were ended" in said
        assert _marked(run) == []
        shown = filed.shown(run)
        zombie.tell(signal.SIGCONT)
        zombie.tell(signal.SIGTERM)
        told = zombie.ended()
    assert "was taken by another worker; nothing more was written here" in told
    assert filed.shown(run) == shown
    assert shown["outcome"]["kind"] == "success"


def _marked(run: str) -> list[int]:
    """Return the processes alive that the first claim of a run began."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"HEADWAY_RUN={run}:1".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
