"""How many of something there are is told as people say it."""

import pytest

from headway.cli.style import counted


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 events"), (1, "1 event"), (2, "2 events"), (1200, "1,200 events")]
)
def test_one_is_told_apart_from_many(number: int, told: str) -> None:
    assert counted(number, "event") == told
