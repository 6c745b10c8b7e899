"""What the bundled workflows promise: the way fits the task; nothing unproved passes the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pytest

import headway
from headway.application.requests import Reply
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Item, Step
from tests.support.decided import compile_text, read_documents, routines_in
from tests.support.front_door import FrontDoor, open_front_door
from tests.support.satisfying import passing_artifacts, passing_notes

BUNDLED: Final = Path(headway.__file__).parent / "workflows"
DOMAINS: Final = ("software", "product", "ux", "personal", "general")
SMALL: Final[JsonObject] = {
    "taskSize": "small",
    "risk": "low",
    "howIsClear": True,
    "acceptanceCriteria": ["A fourth upload is refused."],
}
PROVED: Final[JsonObject] = {
    "criterion": "A fourth upload is refused.",
    "status": "met",
    "evidence": {
        "kind": "test",
        "where": "tests/test_uploads.py::test_a_fourth_upload_is_refused",
        "shows": "It failed before the change and passes since.",
    },
}
FIXED: Final[JsonObject] = {
    "kind": "bug_fix_report",
    "rootCause": "The remainder was dropped.",
    "filesChanged": ["split.py"],
    "test": "tests/test_split.py",
    "criteria": [{"criterion": "No cent is lost.", "evidence": "pytest says 4 passed."}],
    "deferred": [],
}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with open_front_door(tmp_path) as opened:
        yield opened


@dataclass
class Walk:
    """One session of a bundled workflow, every demand met as its contracts' examples meet it."""

    door: FrontDoor
    workflow_id: str
    context: JsonObject

    def __post_init__(self) -> None:
        documents = read_documents(BUNDLED)
        path = next(at for at, each in documents.items() if each.root["id"] == self.workflow_id)
        self.workflow = compile_text((BUNDLED / path).read_bytes(), routines_in(BUNDLED), path)
        self.steps = {step.id: step for step in _steps(self.workflow.steps)}
        self.met: list[str] = []
        self.at = self.door.start(self.workflow_id, context=self.context)

    def until(self, last: str | None = None) -> "Walk":
        """Walk on until a step is pending, or to the end."""
        while not self.at["isComplete"] and self.pending() != last:
            self.met.append(self.pending())
            self.at = self.hand_in(*self.due())
            assert self.at["kind"] == "ok", self.at
        assert last is None or self.pending() == last
        return self

    def pending(self) -> str:
        pending = self.at["pending"]
        assert isinstance(pending, dict)
        return str(pending["stepId"])

    def hand_in(self, *artifacts: Json) -> Reply:
        notes = passing_notes(self.steps[self.pending()], self.context)
        return self.door.advance(self.at["continueToken"], notes, artifacts)

    def refusal(self, artifact: JsonObject) -> str:
        """Hand in an artifact that must be refused, and return why it was."""
        self.at = self.hand_in(artifact)
        assert self.at["kind"] == "blocked", self.at
        self.at["continueToken"] = self.at["retryContinueToken"]
        return str(self.at["blockers"])

    def due(self) -> list[Json]:
        return passing_artifacts(self.workflow, self.steps[self.pending()], "stop", Random(1))  # noqa: S311  chance by rule


def _steps(items: tuple[Item, ...]) -> Iterator[Step]:
    for item in items:
        if isinstance(item, Step):
            yield item
        else:
            yield from _steps(item.body)


def test_a_small_safe_task_takes_four_steps(door: FrontDoor) -> None:
    walk = Walk(door, "hw.coding-task", SMALL).until()
    assert walk.met == ["understand", "implement", "completion-audit", "handoff"]


@pytest.mark.parametrize("turn", [{"taskSize": "large"}, {"risk": "high"}, {"howIsClear": False}])
def test_a_task_that_is_large_risky_or_unclear_is_planned_and_verified(
    door: FrontDoor, turn: JsonObject
) -> None:
    context = {**SMALL, "slices": ["one", "two"], **turn}
    met = Walk(door, "hw.coding-task", context).until().met
    assert {"gather.trace", "audit-plan", "verification.proofs", "completion-audit"} <= set(met)
    assert met.count("build-slice") == 2
    assert "implement" not in met
    assert ("design-stands" in met) is ("risk" not in turn)


def test_a_task_that_turns_out_larger_is_planned_after_all(door: FrontDoor) -> None:
    walk = Walk(door, "hw.coding-task", SMALL).until("implement")
    larger: JsonObject = {"taskSize": "medium"}
    walk.at = door.advance(walk.at["continueToken"], "It touches four places.", context=larger)
    assert walk.pending() == "gather.map"


def test_a_completion_audit_has_no_room_for_deferred_work(door: FrontDoor) -> None:
    walk = Walk(door, "hw.coding-task", SMALL).until("completion-audit")
    audit: JsonObject = {"kind": "completion_audit", "criteria": [PROVED], "deferred": []}
    assert "deferred" in walk.refusal({**audit, "deferred": ["the documentation"]})
    assert "deferred" in walk.refusal({"kind": "completion_audit", "criteria": [PROVED]})
    assert "status" in walk.refusal({**audit, "criteria": [{**PROVED, "status": "deferred"}]})
    assert walk.hand_in(audit)["kind"] == "ok"


@pytest.mark.parametrize(
    "evidence",
    [
        {"kind": "test", "where": "tests/test_uploads.py", "shows": "Written, but not yet run."},
        {"kind": "test", "where": "tests/test_uploads.py", "shows": "It should work now."},
        {"kind": "opinion", "where": "my head", "shows": "I am sure that it works."},
        {"kind": "person", "where": "the request", "shows": "Nobody asked for it any more."},
    ],
    ids=["not yet", "should", "opinion", "met by word of mouth"],
)
def test_a_criterion_is_met_by_evidence_that_was_seen(
    door: FrontDoor, evidence: JsonObject
) -> None:
    walk = Walk(door, "hw.coding-task", SMALL).until("completion-audit")
    criteria: list[Json] = [{**PROVED, "evidence": evidence}]
    audit: JsonObject = {"kind": "completion_audit", "criteria": criteria, "deferred": []}
    assert "evidence" in walk.refusal(audit)


def test_only_a_persons_words_withdraw_a_criterion(door: FrontDoor) -> None:
    walk = Walk(door, "hw.coding-task", SMALL).until("completion-audit")
    audit: JsonObject = {"kind": "completion_audit", "criteria": [], "deferred": []}
    withdrawn: JsonObject = {**PROVED, "status": "withdrawn"}
    assert "evidence" in walk.refusal({**audit, "criteria": [withdrawn]})
    words: JsonObject = {
        "kind": "person",
        "where": "chat",
        "shows": "Leave the limit out after all.",
    }
    assert walk.hand_in({**audit, "criteria": [{**withdrawn, "evidence": words}]})["kind"] == "ok"


def test_a_bug_fix_is_reported_with_evidence_for_each_criterion(door: FrontDoor) -> None:
    walk = Walk(door, "hw.bug-fix", {}).until("report")
    assert "deferred" in walk.refusal({**FIXED, "deferred": ["the second place"]})
    assert "criteria" in walk.refusal({**FIXED, "criteria": []})
    hedged: Json = [{"criterion": "No cent is lost.", "evidence": "The test will be added."}]
    assert "evidence" in walk.refusal({**FIXED, "criteria": hedged})
    assert walk.hand_in(FIXED)["isComplete"] is True


def test_a_cause_is_proven_only_by_both_switches(door: FrontDoor) -> None:
    walk = Walk(door, "hw.bug-investigation", {"bugSize": "simple"}).until("diagnosis")
    [diagnosis] = walk.due()
    assert isinstance(diagnosis, dict)
    halved = {name: value for name, value in diagnosis.items() if name != "switchedOff"}
    assert "switchedOff" in walk.refusal(halved)
    assert "missing" in walk.refusal({**halved, "status": "probable"})
    assert walk.hand_in(diagnosis)["isComplete"] is True


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_discovery_takes_the_branches_of_its_domain(door: FrontDoor, domain: str) -> None:
    met = Walk(door, "hw.discovery", {"domain": domain, "depth": "full"}).until().met
    assert met.index("ideal") < met.index("present") < met.index("choose") < met.index("migration")
    taken = {step for step in met if any(name in step.split(".")[0] for name in DOMAINS)}
    assert taken == {
        *(f"options-{domain}.{step}" for step in ("diverge", "develop")),
        *(f"challenge-{domain}.{step}" for step in ("rival", "ruling")),
        f"brief-{domain}",
    }
    assert met[-1] == "handoff"


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_discovery_looks_at_the_present_with_the_eyes_of_its_domain(
    door: FrontDoor, domain: str
) -> None:
    walk = Walk(door, "hw.discovery", {"domain": domain, "depth": "full"}).until("present")
    own = {each.id: each.text for each in walk.steps["present"].fragments}
    pending = walk.at["pending"]
    assert isinstance(pending, dict)
    assert [name for name, text in own.items() if text in str(pending["prompt"])] == [domain]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_discovery_with_little_at_stake_takes_six_steps(door: FrontDoor, domain: str) -> None:
    met = Walk(door, "hw.discovery", {"domain": domain, "depth": "quick"}).until().met
    assert met == ["frame", "ideal", "quick-options", "migration", f"brief-{domain}", "handoff"]


def test_a_plain_idea_is_shaped_in_four_steps(door: FrontDoor) -> None:
    walk = Walk(door, "hw.shaping", {"ideaSize": "trivial"}).until()
    assert walk.met == ["extract", "pick", "approve", "write"]


def test_a_question_that_one_source_settles_takes_three_steps(door: FrontDoor) -> None:
    walk = Walk(door, "hw.research", {"depth": "quick"}).until()
    assert walk.met == ["question", "look-up", "answer"]


def test_an_answer_names_a_source_for_each_claim_and_what_is_unknown(door: FrontDoor) -> None:
    walk = Walk(door, "hw.research", {"depth": "quick"}).until("answer")
    [answer] = walk.due()
    assert isinstance(answer, dict)
    claim: JsonObject = {"claim": "It is so.", "strength": "strong", "sources": []}
    assert "sources" in walk.refusal({**answer, "claims": [claim]})
    assert "unknowns" in walk.refusal({**answer, "unknowns": []})
    assert walk.hand_in({**answer, "confidence": "high", "unknowns": []})["isComplete"] is True


def test_a_tiny_change_is_reviewed_in_three_steps(door: FrontDoor) -> None:
    walk = Walk(door, "hw.code-review", {"reviewSize": "tiny", "verdict": "clean"}).until()
    assert walk.met == ["locate", "read-through", "verdict"]


@pytest.mark.parametrize(("verdict", "kind"), [("clean", "ok"), ("minor", "gate_checkpoint")])
def test_a_verdict_waits_for_a_person_unless_it_is_clean(
    tmp_path: Path, verdict: str, kind: str
) -> None:
    with open_front_door(tmp_path, HEADWAY_GATES="enforce") as door:
        context: JsonObject = {"reviewSize": "large", "helpers": "available", "verdict": verdict}
        walk = Walk(door, "hw.code-review", context).until("verdict")
        assert {"families", "families__synthesis", "findings-settled"} <= set(walk.met)
        assert walk.hand_in(*walk.due())["kind"] == kind
