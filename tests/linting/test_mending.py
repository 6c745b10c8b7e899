"""`--fix` and `--stamp`: the smallest change of a file's text, or none."""

import json

import pytest

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document
from headway.domain.compiler.setting import Sources
from headway.domain.diagnostics import Mend
from headway.domain.linting.mending import mended
from tests.linting.linted import linted, read

YAML = """\
# Ours; keep it short.
id: acme.case
name: A case   # the name people see
description: As small as can be.
version: 1.0.0
metricsProfile: none
tags: [one, two, one]
steps:
  # the only one
  - id: look
    title: Look
    prompt: |
      Look around.

      Then stop.
"""
JSON = """\
{
  "id": "acme.case", "name": "A case",
  "description": "As small as can be.",
  "version": "1.0.0",
  "metricsProfile": "none",
  "tags": ["one", "two", "one"],
  "steps": [
    {"id": "look", "title": "Look", "prompt": "Look around."}
  ]
}
"""


def mends_of(document: Document) -> list[Mend]:
    return [each.mend for each in linted(document) if each.mend]


def fixed(text: str, name: str = "case.yaml") -> str:
    """Make every change that is offered, one after the other."""
    document = read(text, name)
    for _ in range(10):
        offered = mends_of(document)
        if not offered:
            return document.source
        after = mended(document, offered[0])
        assert after is not None
        document = after
    raise AssertionError("the changes do not come to an end")


def test_a_yaml_file_keeps_its_comments_and_layout() -> None:
    stamped = YAML.replace("version: 1.0.0\n", "version: 1.0.0\nvalidatedAgainstSpecVersion: 4\n")
    assert fixed(YAML) == stamped.replace("[one, two, one]", "[one, two]")


def test_a_json_file_keeps_its_layout() -> None:
    stamped = JSON.replace(
        '"version": "1.0.0",\n', '"version": "1.0.0",\n  "validatedAgainstSpecVersion": 4,\n'
    )
    assert fixed(JSON, "case.json") == stamped.replace(', "one"]', "]")


def test_line_ends_of_another_system_stay() -> None:
    for text, name in ((YAML, "case.yaml"), (JSON, "case.json")):
        there = text.replace("\n", "\r\n")
        assert fixed(there, name) == fixed(text, name).replace("\n", "\r\n")


def test_an_old_stamp_is_replaced_where_it_stands() -> None:
    old = YAML.replace("name: A", "validatedAgainstSpecVersion: 2 # then\nname: A")
    assert "validatedAgainstSpecVersion: 4 # then\nname: A" in fixed(old)


def test_a_file_on_one_line_is_stamped_on_that_line() -> None:
    flat = json.dumps(json.loads(JSON.replace(', "one"]', "]")))
    after = fixed(flat, "case.json")
    assert '"version": "1.0.0", "validatedAgainstSpecVersion": 4, ' in after
    assert "\n" not in after


def test_a_number_where_a_text_belongs_is_quoted_as_it_is_written() -> None:
    text = YAML.replace("one, two, one", "one, 1.10, true")
    assert 'tags: [one, "1.10", "true"]' in fixed(text)


def test_a_text_where_a_list_belongs_becomes_one() -> None:
    assert "tags: [review]\n" in fixed(YAML.replace("[one, two, one]", "review"))
    assert '"tags": ["review"]' in fixed(
        JSON.replace('["one", "two", "one"]', '"review"'), "a.json"
    )


def test_a_text_that_would_become_two_items_is_left_to_its_author() -> None:
    document = read(YAML.replace("[one, two, one]", "one, two"))
    (mend,) = [each for each in mends_of(document) if each.action == "enlist"]
    assert mended(document, mend) is None


def test_an_item_of_a_block_list_goes_with_its_line() -> None:
    text = YAML.replace("[one, two, one]", "\n  - one # first\n  - two\n  - one # again")
    assert "tags: \n  - one # first\n  - two\nsteps:" in fixed(text)


LOOP = """\
  - id: again
    type: loop
    title: Again
    loop:
      {settings}
    body:
      - {{id: do, title: Do, prompt: Do it.}}
"""


FOR = "type: for\n      count: 2\n"
LIMIT = "      maxIterations: 3"


@pytest.mark.parametrize(
    ("settings", "after"),
    [
        (f"{FOR}      items: names # why?\n{LIMIT}", f"{FOR}{LIMIT}"),
        (f"items: names\n      {FOR}{LIMIT}", f"{FOR}{LIMIT}"),
        (f"{FOR}{LIMIT}\n      items: names", f"{FOR}{LIMIT}"),
        (
            "{type: for, items: names, count: 2, maxIterations: 3}",
            "{type: for, count: 2, maxIterations: 3}",
        ),
        (
            "{type: for, count: 2, maxIterations: 3, items: names}",
            "{type: for, count: 2, maxIterations: 3}",
        ),
    ],
)
def test_a_setting_without_effect_is_removed_and_the_workflow_stays_the_same(
    settings: str, after: str
) -> None:
    before = YAML + LOOP.format(settings=settings)
    mending = read(before)
    removal = next(
        each for each in mends_of(mending) if each.action == "remove" and "items" in each.path
    )
    found = mended(mending, removal)
    assert found is not None
    assert found.source == YAML + LOOP.format(settings=after)
    shorter = read(before.replace("[one, two, one]", "[one]"))
    removed = mended(shorter, removal)
    assert removed is not None
    hashes = {compile_workflow(each, Sources()).hash for each in (shorter, removed)}
    assert len(hashes) == 1
    assert hashes != {""}


def test_an_allowance_that_hides_nothing_goes_and_takes_empty_settings_along() -> None:
    sound = fixed(YAML)
    one = "lint:\n  allow:\n    PROMPT_LONG: It is short now.\n"
    two = one + "    MODEL_NAMED: Nobody is.\n"
    for extra in (one, two):
        assert fixed(sound + extra) == sound


def test_what_only_the_author_can_decide_is_not_offered() -> None:
    text = YAML.replace("prompt: |", "promt: |").replace("[one, two, one]", "[one]")
    assert mends_of(read(text)) == []
