"""Contracts judge the first artifact of their kind, strictly, and explain themselves shortly."""

import pytest

from headway.domain.coercions import json_text
from headway.domain.contracts import (
    BUILTIN_REFS,
    Contract,
    Invalid,
    Missing,
    Satisfied,
    contract_for,
    judge_contract,
)
from headway.domain.contracts.loop_control import Decision, decision_of, judge_decision
from headway.domain.json_schema import schema_problems
from headway.domain.values import Json
from headway.domain.workflow import OutputContract, Step, UserContract


def builtin(name: str) -> Contract:
    contract = contract_for(f"wr.contracts.{name}", ())
    assert contract is not None
    return contract


VALID: list[tuple[str, dict[str, Json]]] = [
    ("coordinator_signal", {"signalKind": "progress", "payload": {"note": "ok"}}),
    (
        "coding_handoff",
        {
            "version": 1,
            "filesChanged": ["a.py"],
            "keyDecisions": ["kept it small"],
            "knownLimitations": [],
            "testsAdded": ["test_a"],
        },
    ),
    (
        "discovery_handoff",
        {
            "version": 1,
            "selectedDirection": "Direction A",
            "designDocPath": "",
            "confidenceBand": "medium",
            "keyInvariants": ["keep it small"],
            "selectionTier": "provisional_recommendation",
        },
    ),
    (
        "review_verdict",
        {
            "verdict": "blocking",
            "confidence": "low",
            "findings": [{"severity": "nit", "summary": "s", "file": "a", "endLine": 4}],
            "summary": "one nit",
        },
    ),
    ("assessment", {"dimensions": {"x": "low", "y": {"level": "high", "rationale": "r"}}}),
]


@pytest.mark.parametrize(("name", "artifact"), VALID)
def test_a_right_artifact_satisfies(name: str, artifact: dict[str, Json]) -> None:
    contract = builtin(name)
    whole = {"kind": contract.kind, **artifact}
    other: Json = {"kind": "x"}
    assert judge_contract(contract, (7, other, whole)) == Satisfied()
    assert isinstance(judge_contract(contract, ({**whole, "foo": 1},)), Invalid)
    for key in artifact:
        if key == "selectionTier":
            continue
        less = {k: v for k, v in whole.items() if k != key}
        issue = f'The value lacks the required key "{key}".'
        assert judge_contract(contract, (less,)) == Invalid(issues=(issue,))


def with_member(name: str, member: str, value: Json) -> bool:
    contract = builtin(name)
    return judge_contract(contract, ({**contract.example, member: value},)) == Satisfied()


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("coding_handoff", "keyDecisions"),
        ("coding_handoff", "testsAdded"),
        ("shaping_handoff", "rabbitHoles"),
        ("discovery_handoff", "implementationConstraints"),
    ],
)
def test_lines_of_a_handoff_hold_1_to_200_characters(name: str, member: str) -> None:
    assert with_member(name, member, ["x", "x" * 200])
    assert not with_member(name, member, [""])
    assert not with_member(name, member, ["x" * 201])


def test_entries_of_a_handoff_may_say_more_than_they_must() -> None:
    given: Json = [{"assumed": "a", "actual": "b", "since": "yesterday"}]
    assert with_member("coding_handoff", "correctedAssumptions", given)
    assert not with_member("coding_handoff", "correctedAssumptions", [{"assumed": "a"}])
    rejected: Json = [{"direction": "d", "reason": "r", "score": 2}]
    assert with_member("discovery_handoff", "rejectedDirections", rejected)


def test_the_confidence_of_a_loop_decision_is_whole() -> None:
    assert with_member("loop_control", "metadata", {"confidence": 100})
    assert not with_member("loop_control", "metadata", {"confidence": 50.5})
    assert not with_member("loop_control", "metadata", {"confidence": 101})


@pytest.mark.parametrize("ref", sorted(BUILTIN_REFS))
def test_every_contract_shows_a_right_example_and_short_guidance(ref: str) -> None:
    contract = contract_for(ref, ())
    assert contract is not None
    assert not schema_problems(contract.schema)
    assert judge_contract(contract, (contract.example,)) == Satisfied()
    assert 0 < len(contract.guidance.encode()) <= 900
    assert contract.example["kind"] == contract.kind
    assert json_text(contract.example)


def test_there_are_nine_contracts() -> None:
    assert len(BUILTIN_REFS) == 9


def test_the_first_artifact_of_the_kind_counts() -> None:
    contract = builtin("gate_verdict")
    wrong: Json = {"kind": contract.kind}
    assert isinstance(judge_contract(contract, (wrong, contract.example)), Invalid)
    assert judge_contract(contract, (contract.example, wrong)) == Satisfied()


def test_all_problems_are_told_at_once() -> None:
    artifact: Json = {"kind": "wr.gate_verdict", "version": 2, "verdict": "zzz", "rationale": "no"}
    judged = judge_contract(builtin("gate_verdict"), (artifact,))
    assert isinstance(judged, Invalid)
    assert set(judged.issues) == {
        'The value lacks the required key "confidence".',
        "version must be 1.",
        'verdict must be one of "approved", "rejected", "uncertain".',
        "rationale must have at least 20 characters.",
    }


def test_a_missing_artifact_names_the_kinds_that_came() -> None:
    contract = builtin("gate_verdict")
    assert judge_contract(contract, ({"kind": "x"}, {"kind": "x"}, {"kind": 1}, None)) == Missing(
        submitted_kinds=("x",)
    )
    assert judge_contract(contract, (), required=False) == Satisfied()


def test_a_workflow_may_define_its_own_contracts() -> None:
    own = UserContract(
        id="acme.release",
        kind="acme.release",
        schema={"required": ["tag"], "examples": [{"kind": "acme.release", "tag": "v1"}]},
    )
    contract = contract_for("acme.release", (own,))
    assert contract is not None
    assert contract.example == {"kind": "acme.release", "tag": "v1"}
    assert judge_contract(contract, ({"kind": "acme.release", "tag": "v2"},)) == Satisfied()
    assert isinstance(judge_contract(contract, ({"kind": "acme.release"},)), Invalid)
    assert contract_for("acme.other", (own,)) is None
    plain = contract_for("p", (UserContract(id="p", kind="k", schema={}),))
    assert plain is not None
    assert plain.example == {"kind": "k"}


def decision(word: str, **more: Json) -> Json:
    return {"kind": "wr.loop_control", "decision": word, **more}


HERE = frozenset({"loop_a", "loop-a"})


def test_a_decision_is_read() -> None:
    assert judge_decision((), HERE) is None
    assert judge_decision((decision("stop"),), HERE) == Decision(decision="stop")
    assert judge_decision(
        (decision("continue"), decision("continue", loopId="loop_a")), HERE
    ) == Decision(decision="continue", loop_id="loop_a")
    assert judge_decision((decision("stop", loopId="any"),), None) == Decision(
        decision="stop", loop_id="any"
    )


@pytest.mark.parametrize(
    ("artifacts", "issue"),
    [
        ((decision("maybe"),), "decision must be one of"),
        ((decision("stop", foo=1),), '"foo"'),
        ((decision("stop", loopId="zzz"),), "names another loop"),
        ((decision("stop"), decision("continue")), "contradict"),
        ((decision("stop"), decision("stop", loopId="zzz")), "names another loop"),
        ((decision("stop", metadata={"confidence": 101}),), "metadata.confidence"),
        ((decision("stop", metadata={"issuesFound": -1}),), "metadata.issuesFound"),
    ],
)
def test_a_decision_that_cannot_count_is_refused(artifacts: tuple[Json, ...], issue: str) -> None:
    judged = judge_decision(artifacts, HERE)
    assert isinstance(judged, Invalid)
    assert any(issue in each for each in judged.issues)


def test_a_malformed_decision_after_a_sound_one_is_passed_over() -> None:
    judged = judge_decision(
        (decision("stop"), decision("maybe"), decision("stop", loopId="")), HERE
    )
    assert judged == Decision(decision="stop")


def test_where_no_name_is_allowed_the_agent_is_told_to_leave_it_out() -> None:
    judged = judge_decision((decision("stop", loopId="zzz"),), frozenset())
    assert isinstance(judged, Invalid)
    assert "leave loopId out" in judged.issues[0]


def test_a_decision_counts_only_from_a_step_that_asks_for_it() -> None:
    asking = Step(
        id="s", title="S", output_contract=OutputContract(ref="wr.contracts.loop_control")
    )
    stop = (decision("stop"),)
    assert decision_of(asking, stop) == Decision(decision="stop")
    assert decision_of(asking, (decision("maybe"),)) is None
    assert decision_of(Step(id="s", title="S"), stop) is None
    other = Step(id="s", title="S", output_contract=OutputContract(ref="wr.contracts.gate_verdict"))
    assert decision_of(other, stop) is None
