"""The tree as text: box lines, a bounded width, plain ASCII where nothing else can be shown."""

from headway.cli.style import Style, fitted
from headway.cli.tree_drawing import ROWS_FIRST, ROWS_MAX, draw_tree
from headway.domain.projections.telling import Kind, Told
from headway.domain.projections.tree import Row, Tree


def row(depth: int, kind: Kind, text: str, *, here: bool = False) -> Row:
    return Row(depth=depth, told=Told(kind=kind, text=text), here=here)


def tree(*rows: Row) -> Tree:
    return Tree(workflow_id="w", workflow_name="Work", goal="a\ngoal", rows=rows)


FORKED = tree(
    row(0, "step_done", "One (one)"),
    row(1, "blocked", "CODE: why"),
    row(1, "fork", "again"),
    row(2, "step_open", "Two (two)", here=True),
    row(0, "step_done", "Two (two)"),
    row(1, "notes", "first line"),
    row(0, "complete", "complete"),
)


def test_a_tree_is_drawn_with_box_lines() -> None:
    assert list(draw_tree(FORKED, Style())) == [
        "Work (w)",
        "a goal",
        "├─ ✔ One (one)",
        "│  ├─ ✖ blocked, CODE: why",
        "│  └─ ⑂ fork: again",
        "│     └─ ○ Two (two)  <- here",
        "├─ ✔ Two (two)",
        "│  └─ “ first line",
        "└─ ■ complete",
    ]


def test_plain_ascii_stands_in_for_what_cannot_be_shown() -> None:
    shown = "\n".join(draw_tree(FORKED, Style(unicode=False)))
    assert shown.isascii()
    assert "|  |- x blocked, CODE: why\n|  `- Y fork: again\n|     `- o Two" in shown


def test_no_line_is_wider_than_asked_for_even_in_wide_script() -> None:
    wide = tree(row(0, "step_done", "漢字" * 200), row(1, "notes", "x" * 900, here=True))
    lines = list(draw_tree(wide, Style(width=60)))
    assert len(lines[2]) < 40
    assert len(lines[3]) <= 60
    assert lines[3].endswith("…  <- here")


def test_colour_is_there_only_when_asked_for() -> None:
    assert not any("\x1b" in line for line in draw_tree(FORKED, Style()))
    assert any("\x1b[32m" in line for line in draw_tree(FORKED, Style(colour=True)))


def test_a_long_session_shows_its_beginning_and_its_end_unless_all_is_asked_for() -> None:
    long = tree(*(row(0, "step_done", f"s{number}") for number in range(1000)))
    lines = list(draw_tree(long, Style()))
    assert len(lines) == 2 + ROWS_MAX + 1
    assert lines[2 + ROWS_FIRST] == "│  ... 800 lines left out (--all shows them)"
    assert lines[-1] == "└─ ✔ s999"
    assert len(list(draw_tree(long, Style(), whole=True))) == 1002


def test_a_deep_fork_leaves_room_for_its_text() -> None:
    deep = tree(*(row(depth, "fork", "again") for depth in range(100)))
    assert all(
        len(line) <= 60 and "again" in line for line in list(draw_tree(deep, Style(width=60)))[2:]
    )


def test_a_cut_text_says_that_it_was_cut() -> None:
    assert fitted("abcdef", 4, Style()) == "abc…"
    assert fitted("abcdef", 4, Style(unicode=False)) == "abc~"
    assert fitted("abcd", 4, Style()) == "abcd"
