"""How a run stands, on one line of any width; what it took, in a table."""

import pytest
from msgspec.structs import replace

from headway.cli.run_drawing import duration, table_lines
from headway.cli.run_progress import status_line
from headway.cli.safe_text import cells
from headway.cli.style import Style
from headway.domain.ids import digest
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import CallAsked, StepReached
from headway.domain.runs.limits import Spent
from headway.domain.runs.parts import CallStanding

STEP = StepReached(step="mend", title="Mend \x1b[31mit", number=2, total=5)
CALL = CallStanding(asked=CallAsked(id="1", name="bash", arguments=digest(b"{}")), state="running")
NOW = Conversation(
    step=STEP,
    calls=(CALL,),
    spent=Spent(turns=3, input_tokens=1_200, output_tokens=50, money=4_200, unpriced=1),
)


def test_a_wide_line_says_all() -> None:
    assert status_line(NOW, 65, Style()) == (
        "step 2 of 5: Mend [31mit \u00b7 turn 3 \u00b7 bash \u00b7 1,250 tokens \u00b7 $0.0042+ "
        "\u00b7 1:05"
    )


@pytest.mark.parametrize("width", range(1, 90))
def test_no_line_is_wider_than_the_terminal_and_the_step_is_left_out_last(width: int) -> None:
    line = status_line(NOW, 65, Style(width=width))
    assert cells(line) <= width
    step = "step 2 of 5"
    assert line.startswith(step) if width > len(step) else step.startswith(line[:-1])


@pytest.mark.parametrize(
    ("money", "unpriced", "told"),
    [(4_200, 0, "$0.0042"), (4_200, 2, "$0.0042+"), (0, 0, "$0.0000"), (0, 2, "unpriced")],
)
def test_money_says_what_has_no_price_and_never_that_it_cost_nothing(
    money: int, unpriced: int, told: str
) -> None:
    now = replace(NOW, spent=Spent(turns=3, money=money, unpriced=unpriced))
    assert f" {told} " in status_line(now, 65, Style())


def test_a_line_says_what_the_call_that_runs_is_about_where_there_is_room() -> None:
    told = "python3 -m unittest -v " + "tests." * 20
    line = status_line(NOW, 65, Style(width=120), told)
    assert "\u00b7 bash: python3 -m unittest -v tests.tests" in line
    assert "\u2026 \u00b7 1,250 tokens" in line
    assert status_line(NOW, 65, Style(width=80), told) == status_line(NOW, 65, Style(width=80))
    ended = replace(NOW, calls=(replace(CALL, state="ended"),))
    assert status_line(ended, 65, Style(width=120), told) == status_line(ended, 65, Style())


def test_what_goes_on_is_told_where_no_tool_runs() -> None:
    calm = replace(NOW, calls=())
    assert "thinking" in status_line(replace(calm, asked=True), 0, Style())
    assert "turn 4" in status_line(replace(calm, asked=True), 0, Style())
    assert "preparing" in status_line(Conversation(), 0, Style())
    assert status_line(calm, 0, Style(unicode=False)).isascii()


@pytest.mark.parametrize(
    ("ms", "told"),
    [(0, "0.0 s"), (8_420, "8.4 s"), (185_000, "3 min 05 s"), (7_800_000, "2 h 10 min")],
)
def test_a_span_of_time_is_told_as_people_read_it(ms: int, told: str) -> None:
    assert duration(ms) == told


def test_a_table_stays_within_its_width_and_its_numbers_stand_below_each_other() -> None:
    rows = [("step", "turns"), ("a very long name of a step " * 3, "7"), ("b", "1,000")]
    lines = list(table_lines(rows, Style(width=50)))
    assert {cells(line) for line in lines} == {50}
    assert [line[-5:] for line in lines] == ["turns", "    7", "1,000"]
