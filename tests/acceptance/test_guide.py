"""What the guide tells a reader to do can be done, and what it shows is what he sees."""

import re
from pathlib import Path

import pytest

from tests.support.guide import Reader, blocks

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = DOCS / "tutorial" / "README.md"
RECIPES = sorted((DOCS / "howto").glob("*.md"))
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")


def test_the_tutorial_can_be_followed_from_nothing_to_the_end(tmp_path: Path) -> None:
    assert Reader(tmp_path).follow(TUTORIAL) == 6


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_a_recipe_can_be_followed(tmp_path: Path, page: Path) -> None:
    assert blocks(page), "a recipe shows how"
    Reader(tmp_path).follow(page)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    leads = [found[1] for found in LINK.finditer(text)]
    assert [lead for lead in leads if not (page.parent / lead).exists()] == []


def test_the_index_leads_to_every_page_but_the_decisions_own() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    linked = {(DOCS / found[1]).resolve() for found in LINK.finditer(index)}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "adr"}
    assert pages - linked == {DOCS / "README.md"}
