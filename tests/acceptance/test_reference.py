"""The reference of the language says what the tables of the compiler say today."""

import pytest

from tests.support.language_reference import FOLDER, pages


@pytest.mark.parametrize("name", pages())
def test_a_page_of_the_reference_is_what_the_tables_say(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "run: make reference"
