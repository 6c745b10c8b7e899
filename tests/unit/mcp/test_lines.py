"""Lines are cut where they end, whatever the chunks, and kept up to the limit."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from headway.mcp.lines import Line, read_lines


def reader(chunks: list[bytes]) -> Callable[[int], bytes]:
    rest = [chunk for chunk in chunks if chunk]
    return lambda _size: rest.pop(0) if rest else b""


@given(st.lists(st.binary(max_size=9).map(lambda data: data.replace(b"x", b"\n"))))
def test_chunks_do_not_matter(chunks: list[bytes]) -> None:
    text = b"".join(chunks)
    expected = text.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert [line.data for line in read_lines(reader(chunks), 1000)] == expected


def test_a_line_beyond_the_limit_keeps_its_beginning_and_spares_the_next() -> None:
    found = list(read_lines(reader([b"abc", b"defg\nhi\nabcd\n", b"abcde"]), 4))
    assert found == [
        Line(b"abcd", whole=False),
        Line(b"hi"),
        Line(b"abcd"),
        Line(b"abcd", whole=False),
    ]
