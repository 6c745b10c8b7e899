"""Patterns in JavaScript's notation match as authors mean them, in linear time."""

import time

import pytest

from headway.domain.patterns import Pattern, PatternProblem, compile_pattern, search


def found(pattern: str, text: str, flags: str = "") -> bool:
    compiled = compile_pattern(pattern, flags)
    assert isinstance(compiled, Pattern), compiled
    return search(compiled, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 1_000_000 + "!"),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 1_000_000),
        (r"(x+x+)+y", "x" * 1_000_000),
        (r"(.*)*b", "a" * 1_000_000),
    ],
)
def test_a_catastrophic_pattern_ends_within_a_tenth_of_a_second(pattern: str, text: str) -> None:
    compiled = compile_pattern(pattern)
    assert isinstance(compiled, Pattern)
    started = time.process_time()
    assert not search(compiled, text)
    assert time.process_time() - started < 0.1


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "expected"),
    [
        (r"^ticket-\d+", "im", "x\nTicket-42 is done", True),
        (r"^ticket", "", "x\nticket", False),
        (r"done$", "", "done\n", False),
        (r"done$", "m", "done\r\nmore", True),
        (r"a.b", "", "a\nb", False),
        (r"a.b", "", "a\u2028b", False),
        (r"a.b", "s", "a\nb", True),
        (r"a[^]b", "", "a\nb", True),
        (r"a[]b", "", "ab", False),
        (r"caf\u00e9", "", "café", True),
        (r"^\u{1F600}$", "u", "😀", True),
        (r"^\ud83d\ude00$", "", "😀", True),
        (r"a\/b", "", "a/b", True),
        (r"(?<year>\d{4})", "", "in 2026", True),
        (r"a\sb", "", "a\u00a0b", True),
        (r"^[\s]+$", "", "\v\ufeff ", True),
        (r"^\S+$", "", "a\u00a0b", False),
        (r"^[^\s-]+$", "", "a-b", False),
        (r"[\b]", "", "\b", True),
        (r"\bword\b", "", "a word here", True),
        (r"[[:alpha:]]", "", "b]", False),
        (r"[a[b]", "", "[", True),
        (r"\z\e", "", "ze", True),
        (r"\cJ", "", "\n", True),
        (r"a\0b", "", "a\0b", True),
        (r"\x41\-\_", "", "A-_", True),
        (r"^b", "y", "ab", False),
        (r"\p{L}", "u", "é", True),
        (r"\p{Script=Greek}", "u", "λ", True),
        (r"\p{L}", "", "p{L}", True),
        (r"b", "g", "ab", True),
        (r"\pL", "u", "é", True),
        (r"^\u{12}\xZ\u00$", "", "\x12xZu00", True),
        (r"\k", "", "k", True),
        (r"done$", "m", "done\u2029é", True),
        (r"É", "i", "é", True),
    ],
)
def test_patterns_match_as_in_javascript(
    pattern: str, flags: str, text: str, *, expected: bool
) -> None:
    assert found(pattern, text, flags) is expected


def test_nul_bytes_in_the_text_do_not_end_it() -> None:
    assert found("b$", "a\0b")


@pytest.mark.parametrize(
    ("pattern", "flags", "what"),
    [
        (r"(?=a)b", "", "ahead or behind"),
        (r"(?<!a)b", "", "ahead or behind"),
        (r"(a)\1", "", "back to a group"),
        (r"(?<n>a)\k<n>", "", "back to a group"),
        (r"[\ud800-\udbff]", "", "U+D800"),
        (r"(", "", "not accepted"),
        (r"[a", "", "never closed"),
        ("a\\", "", "single backslash"),
        (r"a{1001}", "", "not accepted"),
        (r"\ud83d\u0041", "", "U+D83D"),
        (r"\p{Nothing}", "u", "not accepted"),
        (r"\p{L}{1000}", "u", "too large"),
        (r"(?:a{1000}){1000}", "", "not accepted"),
        ("a" * 8193, "", "more than 8192"),
        ("a", "x", "flags"),
        ("a", "ii", "flags"),
        ("a", "uv", "flags"),
    ],
)
def test_what_cannot_be_matched_is_a_problem_with_a_remedy(
    pattern: str, flags: str, what: str
) -> None:
    problem = compile_pattern(pattern, flags)
    assert isinstance(problem, PatternProblem)
    assert what in problem.what
    assert problem.remedy
