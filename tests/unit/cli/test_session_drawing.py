"""A session on a page: all that is asked of one, cut where it is long, safe on any terminal."""

import pytest
from msgspec.structs import replace

from headway.application.describe_session import SessionDescription, describe_session
from headway.application.engine import Engine
from headway.application.list_sessions import list_sessions
from headway.cli.safe_text import cells, wrapped
from headway.cli.session_drawing import STEPS_FIRST, STEPS_LAST, list_lines, show_lines
from headway.cli.style import Style
from tests.support.building import step, workflow
from tests.support.engines import engine_for
from tests.support.walked import FOLLOWED, begin, finish, go_on, walk

NOTES = "# Found\n\n" + "\n".join(f"line {number} 漢字" for number in range(40))


@pytest.fixture
def engine() -> Engine:
    return engine_for(FOLLOWED)


def page(told: SessionDescription, style: Style | None = None, *, whole: bool = False) -> str:
    return "\n".join(show_lines(told, style or Style(), whole=whole))


def test_a_page_tells_goal_standing_steps_forks_and_refusals(engine: Engine) -> None:
    walk(engine, "Mend the door", NOTES)
    told = page(describe_session(engine))
    assert "goal         Mend the door" in told
    assert "4 steps done, 1 refusal, 1 fork, 1 checkpoint, 7 events" in told
    assert "Stands at\n   Try (try) [Again 2]" in told
    assert "✔ Look (look)  branch 2" in told
    assert "Another way." in told


def test_a_branch_without_a_commit_says_so_in_whole_words(engine: Engine) -> None:
    walk(engine, "Mend", NOTES)
    told = replace(describe_session(engine), branch="main", git_head=None)
    assert "git          main at no commit yet" in page(told)
    assert "git          main at 0123456789ab\n" in page(
        replace(told, git_head="0123456789" + "ab" * 15)
    )


def test_long_notes_are_cut_with_a_mark_and_whole_on_demand(engine: Engine) -> None:
    walk(engine, "Mend", NOTES)
    cut = page(describe_session(engine))
    assert "[…] (--full shows the rest)" in cut
    assert "line 30" not in cut
    whole = page(describe_session(engine, whole=True), whole=True)
    assert all(f"line {number} 漢字" in whole for number in range(40))
    assert "--full" not in whole


def test_a_refused_attempt_is_told_with_what_to_do(engine: Engine) -> None:
    judge = go_on(engine, begin(engine)["continueToken"])
    go_on(engine, judge["continueToken"], notes=None)
    told = describe_session(engine)
    assert told.here is not None
    assert [each.code for each in told.here.blockers] == ["MISSING_REQUIRED_NOTES"]
    assert "to do: Put into output.notesMarkdown" in page(told)


def test_a_complete_session_stands_nowhere(engine: Engine) -> None:
    finish(engine, begin(engine))
    told = describe_session(engine)
    assert told.here is None
    assert told.status == "complete"
    assert "Stands at" not in page(told)


def test_a_long_session_is_shown_by_its_beginning_and_end() -> None:
    engine = engine_for(workflow(*[step(f"s{number}") for number in range(51)]))
    finish(engine, begin(engine))
    lines = page(describe_session(engine)).splitlines()
    shown = [line for line in lines if line.startswith("✔")]
    assert len(shown) == STEPS_FIRST + STEPS_LAST
    assert "... 31 steps left out (--full shows them)" in lines
    assert page(describe_session(engine), whole=True).count("✔") == 51


@pytest.mark.parametrize("width", [40, 60])
def test_no_line_is_wider_than_the_terminal(engine: Engine, width: int) -> None:
    walk(engine, "漢字 " * 60, NOTES + "\n" + "x" * 300)
    drawn = page(describe_session(engine, whole=True), Style(width=width), whole=True)
    assert max(map(cells, drawn.splitlines())) <= width
    (summary,) = list_sessions(engine, 5).rows
    assert max(map(cells, list_lines(summary, Style(width=width)))) <= width


def test_what_an_agent_wrote_cannot_act_on_the_terminal(engine: Engine) -> None:
    walk(engine, "goal \x1b[2J\u202e", "notes \x1b]0;title\x07 \r over")
    drawn = page(describe_session(engine, whole=True), whole=True)
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(drawn)


def test_an_ascii_terminal_gets_ascii_notes(engine: Engine) -> None:
    walk(engine, "Mend", NOTES)
    drawn = page(describe_session(engine), Style(unicode=False))
    assert drawn.isascii()
    assert "+ Look (look)" in drawn


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("  deep one two", ["  deep", "  one two"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
        ("漢字漢字漢字", ["漢字漢字", "漢字"]),
        ("", [""]),
        ("a\n\nb", ["a", "", "b"]),
    ],
)
def test_text_is_wrapped_between_words_and_by_cells(text: str, lines: list[str]) -> None:
    assert list(wrapped(text, 9 if " " in text else 8)) == lines
