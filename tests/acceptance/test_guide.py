"""What the guide tells a reader to do can be done, and what it shows is what he sees."""

import re
from pathlib import Path

import pytest

from tests.support.guide import Reader, blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
TUTORIAL = DOCS / "tutorial" / "README.md"
RECIPES = sorted((DOCS / "howto").glob("*.md"))
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")
PLACE = re.compile(r"\]\((?!https?://)([^)#]*)#([^)]*)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def test_the_tutorial_can_be_followed_from_nothing_to_the_end(tmp_path: Path) -> None:
    assert Reader(tmp_path).follow(TUTORIAL) == 6


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_a_recipe_can_be_followed(tmp_path: Path, page: Path) -> None:
    assert blocks(page), "a recipe shows how"
    Reader(tmp_path).follow(page)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text("utf-8"))
    leads = [found[1] for found in LINK.finditer(text)]
    assert [lead for lead in leads if not (page.parent / lead).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_place_in_a_page_leads_to_a_heading(page: Path) -> None:
    text = FENCED.sub("", page.read_text("utf-8"))
    leads = [(page.parent / name if name else page, place) for name, place in PLACE.findall(text)]
    assert [f"{lead}#{place}" for lead, place in leads if place not in places(lead)] == []


def places(page: Path) -> set[str]:
    """Return what code hosts call the headings of a page in a link."""
    text = FENCED.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_index_leads_to_every_page_but_the_decisions_own() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    linked = {(DOCS / found[1]).resolve() for found in LINK.finditer(index)}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "adr"}
    assert pages - linked == {DOCS / "README.md"}
