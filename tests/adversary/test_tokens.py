"""Cheats with tokens: a token leads to what it was given out for, or nowhere."""

import string

import pytest

from headway.application.purge_session import purge_session
from headway.domain.errors import Code
from tests.support.cheating import Cheat, step_of
from tests.support.connected import structured

CALLS_AT_ONCE = 24


def test_an_old_token_does_not_skip_ahead(cheat: Cheat) -> None:
    """Wants the third step by handing in the first one twice."""
    first = cheat.start()["continueToken"]
    second = cheat.advance(first)
    cheat.was_told_again(cheat.advance(first, "Take me further."), second)
    assert step_of(second) == "s2"
    assert len(cheat.advances()) == 1


def test_another_branchs_token_moves_that_branch_alone(cheat: Cheat) -> None:
    """Wants the main branch advanced by work done on a fork of it."""
    first = cheat.start()["continueToken"]
    main = cheat.advance(first, "The main way.")
    fork = cheat.advance(cheat.rehydrate(first)["continueToken"], "Another way.")
    assert step_of(cheat.advance(fork["continueToken"], "Further on the fork.")) == "s3"
    assert step_of(cheat.rehydrate(main["continueToken"])) == "s2"
    assert step_of(cheat.advance(main["continueToken"])) == "s3"
    assert "Further on the fork." in cheat.tree()
    assert "fork" in cheat.tree()


def test_another_sessions_token_moves_that_session_alone(cheat: Cheat) -> None:
    """Wants a session finished by the work of another, or a token made of the halves of two."""
    mine, other = cheat.start(), cheat.start()
    at = other
    while not at["isComplete"]:
        at = cheat.advance(at["continueToken"])
    assert step_of(cheat.rehydrate(mine["continueToken"])) == "s1"
    halves = str(mine["continueToken"])[:15] + str(other["continueToken"])[15:]
    cheat.was_refused(cheat.advance(halves), Code.TOKEN_BAD_SIGNATURE, token=halves)
    assert {event.step for event in cheat.advances()} == {"s1", "s2", "s3"}
    assert len(cheat.advances()) == 3


def test_a_checkpoint_token_hands_no_step_in(cheat: Cheat) -> None:
    """Wants saved progress to count as a finished step."""
    begun = cheat.start()
    token = begun["checkpointToken"]
    cheat.was_refused(cheat.advance(token), Code.TOKEN_SCOPE_MISMATCH, token=token)
    posing = f"ct_{str(token)[3:]}"
    cheat.was_refused(cheat.advance(posing), Code.TOKEN_BAD_SIGNATURE, token=posing)
    assert step_of(cheat.advance(begun["continueToken"])) == "s2"


def test_a_resume_token_hands_no_step_in(cheat: Cheat) -> None:
    """Wants a token for reading a step to finish it, and a continue token to save progress."""
    begun = cheat.start()
    saved = cheat.call("checkpoint_workflow", checkpointToken=begun["checkpointToken"])
    token = saved["resumeToken"]
    cheat.was_refused(cheat.advance(token), Code.TOKEN_SCOPE_MISMATCH, token=token)
    for wrong in (begun["continueToken"], token):
        answer = cheat.call("checkpoint_workflow", checkpointToken=wrong)
        cheat.was_refused(answer, Code.TOKEN_SCOPE_MISMATCH, token=wrong)
    assert step_of(cheat.rehydrate(token)) == "s1"


@pytest.mark.parametrize("place", [3, 10, 18, 19, 22, 26])
def test_a_token_with_a_changed_character_opens_nothing(cheat: Cheat, place: int) -> None:
    """Wants to reach an attempt by guessing its name, or to pass with a signature made up."""
    real = str(cheat.start()["continueToken"])
    for character in string.ascii_letters + string.digits + "-_":
        if character != real[place]:
            bent = real[:place] + character + real[place + 1 :]
            cheat.was_refused(cheat.advance(bent), Code.TOKEN_BAD_SIGNATURE, token=bent)
    assert cheat.advances() == []


@pytest.mark.parametrize("bend", ["{} ", " {}", "{}A", "CT_{0[3]}", "", "ct_", "{}\u200b", "null"])
def test_a_token_of_another_form_opens_nothing(cheat: Cheat, bend: str) -> None:
    """Wants a token taken that was not copied as it was given out."""
    real = str(cheat.start()["continueToken"])
    cheat.was_refused(cheat.advance(bend.format(real)), Code.TOKEN_INVALID_FORMAT)


def test_a_token_of_a_purged_session_says_so_and_revives_nothing(cheat: Cheat) -> None:
    """Wants to go on with a session that its owner has removed."""
    token = cheat.start()["continueToken"]
    cheat.advance(token)
    (summary,) = {record.stream for record in cheat.door.events()}
    purge_session(cheat.door.engine, summary.removeprefix("session:"))
    for answer in (cheat.advance(token), cheat.rehydrate(token)):
        cheat.was_refused(answer, Code.TOKEN_UNKNOWN_NODE, token=token)
        assert "purged" in str(answer["message"])
    assert cheat.door.events() == []


def test_one_token_used_many_times_at_once_advances_once(cheat: Cheat) -> None:
    """Wants two steps for one by calling again before the first call has ended."""
    token = cheat.start()["continueToken"]
    posted = [
        cheat.agent.post(
            "continue_workflow",
            continueToken=token,
            intent="advance",
            output={"notesMarkdown": f"Caller {number}."},
        )
        for number in range(CALLS_AT_ONCE)
    ]
    replies = [structured(each.result()) for each in posted]
    assert all(reply == replies[0] for reply in replies)
    assert step_of(replies[0]) == "s2"
    assert len(cheat.advances()) == 1


def test_a_better_payload_after_a_block_needs_the_token_the_block_gave(cheat: Cheat) -> None:
    """Wants a block undone by sending the blocked token again with what was missing."""
    token = cheat.start()["continueToken"]
    blocked = cheat.advance(token, None)
    cheat.was_blocked(blocked, "MISSING_REQUIRED_NOTES")
    cheat.was_told_again(cheat.advance(token, "Notes, now that they are asked for."), blocked)
    assert step_of(cheat.advance(blocked["retryContinueToken"], "Notes.")) == "s2"


def test_a_worse_or_better_payload_after_success_rewrites_nothing(cheat: Cheat) -> None:
    """Wants the record of a step to say something else afterwards."""
    token = cheat.start()["continueToken"]
    second = cheat.advance(token, "What was really done.")
    again = cheat.advance(token, "A prettier story.", {"passed": True}, artifacts=[{"kind": "x"}])
    cheat.was_told_again(again, second)
    assert "What was really done." in cheat.tree()
    assert "A prettier story." not in cheat.tree()


def test_an_honest_repetition_is_not_called_a_cheat(cheat: Cheat) -> None:
    """Wants nothing: the answer was lost on the way, and the same call is made again."""
    token = cheat.start()["continueToken"]
    answers = [cheat.advance(token, "Done.", {"n": 1}, artifacts=[{"kind": "x"}]) for _ in range(2)]
    assert answers[0] == answers[1]
    assert not cheat.log.records
