"""What is told of a run line by line, besides its turns."""

from headway.cli.run_lines import line_of
from headway.domain.ids import digest
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import (
    CompactionAsked,
    ConversationCompacted,
    LimitNeared,
    PauseAsked,
    RunEvent,
    StuckNoticed,
)
from headway.domain.runs.messages import Usage

NOW = Conversation()


def test_what_is_only_told_has_a_line_of_its_own() -> None:
    compacted = ConversationCompacted(
        first=1,
        last=4,
        summary=digest(b"s"),
        model="m",
        usage=Usage(input_tokens=1_200, output_tokens=80),
    )
    lines: list[tuple[RunEvent, str | None]] = [
        (PauseAsked(by="ann"), "ann asks for a rest after this turn"),
        (CompactionAsked(first=1, last=4), None),
        (compacted, "turns 1 to 4 are summed up (1,200 in, 80 out)"),
        (
            StuckNoticed(sign="repetition", message="the same call 3 times in a row: bash"),
            "does not get on (repetition): the same call 3 times in a row: bash",
        ),
        (LimitNeared(limit="money"), "four fifths of its money are spent"),
    ]
    assert [line_of(NOW, event) for event, _ in lines] == [line for _, line in lines]
