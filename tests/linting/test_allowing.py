"""A finding is allowed in the file, with a reason, for the whole of it or for one part."""

from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.setting import Sources
from headway.domain.diagnostics import Diagnostic
from tests.linting.linted import codes, linted, read

HEAD = """\
id: acme.case
name: A case
description: As small as can be.
version: 1.0.0
validatedAgainstSpecVersion: 4
metricsProfile: none
"""
STEPS = """\
steps:
  - {id: one, title: One, prompt: Add tests if appropriate.}
  - {id: two, title: Two, prompt: Add docs if appropriate.}
"""
ALLOW = "{lint: {allow: {WEASEL_WORDING: The reader knows., }}, "


def unused(code: str) -> Diagnostic:
    """Return what is said of an allowance that hides nothing."""
    found = linted(read(HEAD + f"lint: {{allow: {{{code}: Really.}}}}\n" + STEPS))
    (told,) = [each for each in found if each.code == "ALLOWANCE_UNUSED"]
    return told


def test_at_the_root_it_is_allowed_everywhere() -> None:
    assert codes(HEAD + STEPS) == ["WEASEL_WORDING", "WEASEL_WORDING"]
    allowed = "lint: {allow: {WEASEL_WORDING: The reader knows.}}\n"
    assert codes(HEAD + allowed + STEPS) == []


def test_on_a_step_it_is_allowed_there_alone() -> None:
    found = linted(read(HEAD + STEPS.replace("{id: two, ", ALLOW + "id: two, ")))
    assert [each.path for each in found] == ["steps[0].prompt"]


def test_it_works_in_json() -> None:
    text = (
        '{"id": "acme.case", "name": "A", "description": "A.", "version": "1.0.0",'
        ' "validatedAgainstSpecVersion": 4, "lint":'
        ' {"allow": {"METRICS_PROFILE_MISSING": "Draft."}},'
        ' "steps": [{"id": "one", "title": "One", "prompt": "Do it."}]}'
    )
    assert codes(text, "case.json") == []


def test_a_warning_of_the_compiler_can_be_allowed_and_an_error_cannot() -> None:
    ignored = STEPS + (
        "  - {id: three, type: loop, title: Three, body: [{id: four, title: Four, prompt: Do it.}],"
        " loop: {type: for, count: 2, items: names, maxIterations: 2}}\n"
    )
    everything = "lint: {allow: {WEASEL_WORDING: Known., FIELD_WITHOUT_EFFECT: Kept for later.}}\n"
    assert codes(HEAD + everything + ignored) == []
    wrong = "lint: {allow: {UNKNOWN_KEY: Really.}}\nbogus: 1\n"
    assert codes(HEAD + wrong + STEPS) == ["UNKNOWN_KEY"]


def test_an_allowance_of_an_error_or_of_no_code_says_so() -> None:
    assert unused("UNKNOWN_KEY").what == "UNKNOWN_KEY is an error, and errors cannot be allowed."
    assert unused("WEASEL_WORDS").what == 'There is no code "WEASEL_WORDS".'
    assert unused("WEASEL_WORDS").remedy == 'Did you mean "WEASEL_WORDING"?'


def test_an_allowance_needs_a_reason() -> None:
    assert codes(HEAD + "lint: {allow: {WEASEL_WORDING: ''}}\n" + STEPS) == ["TOO_SHORT"]
    assert codes(HEAD + "lint: {allow: [WEASEL_WORDING]}\n" + STEPS) == ["WRONG_TYPE"]


def test_what_is_allowed_is_no_part_of_the_workflow_that_runs() -> None:
    plain = compile_workflow(read(HEAD + STEPS), Sources())
    allowed = "lint: {allow: {WEASEL_WORDING: The reader knows.}}\n$schema: ./s.json\n"
    assert compile_workflow(read(HEAD + allowed + STEPS), Sources()).hash == plain.hash
