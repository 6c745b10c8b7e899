"""Many runs wait, and their provider takes the worker's key no more: what becomes of the others."""

import json
from collections import Counter
from pathlib import Path

from tests.support.fake_provider import FakeProvider, provider
from tests.support.provided import ANTHROPIC, OPENAI, Provider
from tests.support.provider_acts import Call, Fails, Says
from tests.support.worked import Place, until

REFUSED = Fails(401, "authentication_error", "invalid x-api-key")
NOTES = "check.py was looked at, and nothing had to be done about it, as these notes now say."
HANDS_IN = Says(calls=(Call("c1", "complete_step", json.dumps({"notes": NOTES})),))


def placed(folder: Path, **fakes: FakeProvider) -> Place:
    place = Place(folder)
    place.environment["AWS_EC2_METADATA_DISABLED"] = "true"
    for whose in (ANTHROPIC, OPENAI):
        if whose.name in fakes:
            place.environment |= whose.settings(fakes[whose.name].url)
    return place


def dispatched(place: Place, whose: Provider, *more: str) -> str:
    words = ("dispatch", "two-steps", "--goal", "Make check.py pass", "--model", whose.model)
    done = place.call(*words, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def states(place: Place) -> Counter[str]:
    return Counter(each["state"] for each in place.listed().values())


def test_a_key_that_is_not_taken_stops_one_run_and_those_of_other_providers_go_on(
    tmp_path: Path,
) -> None:
    with (
        provider(ANTHROPIC.wire(), REFUSED) as refuses,
        provider(OPENAI.wire(), HANDS_IN) as serves,
    ):
        place = placed(tmp_path / "place", anthropic=refuses, openai=serves)
        first, *others = [dispatched(place, ANTHROPIC) for _ in range(4)]
        behind = dispatched(place, OPENAI)
        with place.worker("--runs", "1", "--until-idle") as worker:
            said = worker.ended()
        assert worker.process.returncode == 0, said
        assert len(refuses.asked) == 1
        listed = place.listed()
        assert (listed[first]["state"], listed[first]["reason"]) == (
            "resting",
            "credential_expired",
        )
        assert [listed[run]["state"] for run in others] == ["queued"] * 3
        assert listed[behind]["outcome"] == "success"
        (told,) = [line for line in said.splitlines() if "Claims no more runs of" in line]
        assert f"anthropic for 5 minutes, or until {first} is resumed" in told
        doctor = place.call("doctor").stdout
        assert "1 run rests for credential_expired" in doctor
        refuses.does(HANDS_IN)
        with place.worker("--until-idle") as worker:  # which has another key, for all it knows
            said = worker.ended()
        assert Counter(each["outcome"] for each in place.listed().values()) == {
            "success": 4,
            "paused": 1,
        }, said


def test_a_key_that_is_not_set_ends_one_run_of_those_that_are_to_end_then(tmp_path: Path) -> None:
    place = placed(tmp_path / "place")
    first, *others = [dispatched(place, ANTHROPIC, "--on-limit", "end") for _ in range(3)]
    with place.worker("--runs", "1", "--until-idle") as worker:
        said = worker.ended()
    listed = place.listed()
    assert (listed[first]["outcome"], listed[first]["reason"]) == ("error", "credential_missing")
    assert [listed[run]["state"] for run in others] == ["queued"] * 2
    assert "Claims no more runs of anthropic for 5 minutes: what keeps" in said
    assert place.call("doctor").stdout.count("credential_missing") == 0, "nothing rests for it"


def test_runs_that_wait_for_a_key_go_on_in_the_same_worker_once_one_of_them_is_resumed(
    tmp_path: Path,
) -> None:
    with provider(ANTHROPIC.wire(), REFUSED) as fake:
        place = placed(tmp_path / "place", anthropic=fake)
        first, *_ = [dispatched(place, ANTHROPIC) for _ in range(4)]
        with place.worker("--runs", "1") as worker:
            worker.heard("Claims no more runs of anthropic")
            until(lambda: states(place) == {"resting": 1, "queued": 3})
            assert place.call("runs", "resume", first, "--queue").returncode == 0
            worker.heard(f"{first[:13]}: is paused (credential_expired)")  # it was tried in vain
            until(lambda: states(place) == {"resting": 1, "queued": 3})
            fake.does(HANDS_IN)
            assert place.call("runs", "resume", first, "--queue").returncode == 0
            worker.heard("Claims runs of anthropic again")
            until(lambda: states(place) == {"ended": 4})
        assert {each["outcome"] for each in place.listed().values()} == {"success"}
