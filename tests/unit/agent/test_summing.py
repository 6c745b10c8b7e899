"""What a model is shown of the turns it sums up."""

from headway.agent.summing import SHOWN_CHARS_MAX, summing
from headway.domain.runs.messages import Reply, Results, Told, ToolCall, ToolResult

TURNS = (
    Told(text="What came before: " + "s" * 2 * SHOWN_CHARS_MAX, origin="summary"),
    Told(text="Find the fault.", origin="step"),
    Reply(
        text="I look.",
        stop="tools",
        model="m",
        calls=(ToolCall(id="1", name="bash", arguments='{"command": "make test"}'),),
    ),
    Results(
        results=(
            ToolResult(
                call="1", text="begin" + "x" * 2 * SHOWN_CHARS_MAX + "FAILED test_a", failed=True
            ),
        )
    ),
)


def shown() -> str:
    request = summing("Mend add.", TURNS, 700)
    assert (request.tools, request.answer_schema, request.output_tokens_max) == ((), None, 700)
    (turns,) = request.messages
    assert isinstance(turns, Told)
    return turns.text


def test_the_goal_and_every_part_of_a_turn_are_shown_in_order() -> None:
    text = shown()
    parts = (
        "[the goal]\nMend add.",
        "[told: summary]\nWhat came before",
        "[told: step]\nFind the fault.",
        "[said]\nI look.",
        '[called bash]\n{"command": "make test"}',
        "[failed]\nbegin",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_long_result_is_shown_by_its_ends_and_an_earlier_summary_whole() -> None:
    text = shown()
    assert "characters ...]" in text
    assert text.endswith("FAILED test_a")
    assert text.count("x") < SHOWN_CHARS_MAX
    assert "s" * 2 * SHOWN_CHARS_MAX in text
