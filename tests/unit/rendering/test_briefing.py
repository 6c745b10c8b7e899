import msgspec

from headway.domain.events import ReferenceStatus
from headway.domain.rendering.briefing import render_briefing
from headway.domain.workflow import Recommended, Reference, Step, Workflow

FULL = Workflow(
    form=1,
    id="acme.flow",
    name="Flow",
    description="A flow.",
    version="1.0.0",
    steps=(Step(id="one", title="One"),),
    meta_guidance=("Stay calm.", "Be exact."),
    preconditions=("The tree is clean.",),
    clarification_prompts=("Which branch?",),
    references=(
        Reference(
            id="style", title="Style", source="STYLE.md", purpose="How to write", authoritative=True
        ),
        Reference(
            id="gone", title="Gone", source="docs/none.md", purpose="Nothing", authoritative=False
        ),
    ),
    recommended=Recommended(autonomy="guided", risk_policy="balanced"),
)
BARE = Workflow(
    form=1,
    id="acme.bare",
    name="Bare",
    description="Bare.",
    version="1.0.0",
    steps=(Step(id="one", title="One"),),
)
STATUSES = (
    ReferenceStatus(id="style", resolved=True, path="/w/STYLE.md"),
    ReferenceStatus(id="gone", resolved=False, path="/w/docs/none.md"),
)


def test_the_start_is_told_everything_in_order() -> None:
    text = render_briefing(FULL, STATUSES, resumed=False)
    parts = [
        "- Stay calm.\n- Be exact.",
        "- The tree is clean.",
        "- Which branch?",
        "- Style (binding): /w/STYLE.md\n  How to write",
        "- Gone (advisory): /w/docs/none.md (not found)",
        "autonomy guided and risk policy balanced. This is advice",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_resume_is_told_the_rules_and_a_compact_list_of_references() -> None:
    text = render_briefing(FULL, STATUSES, resumed=True)
    assert "- Be exact." in text
    assert "- Style: /w/STYLE.md\n- Gone: /w/docs/none.md (not found)" in text
    assert "How to write" not in text
    assert "The tree is clean." not in text
    assert "Which branch?" not in text


def test_a_reference_without_a_status_shows_its_declared_path() -> None:
    assert "- Style: STYLE.md (not found)" in render_briefing(FULL, (), resumed=True)


def test_a_workflow_with_nothing_to_say_has_no_briefing() -> None:
    assert render_briefing(BARE, (), resumed=False) == ""
    assert render_briefing(BARE, (), resumed=True) == ""


def test_only_what_is_recommended_is_shown() -> None:
    bold = Recommended(risk_policy="aggressive")
    text = render_briefing(msgspec.structs.replace(BARE, recommended=bold), (), resumed=False)
    assert text.startswith("The author recommends risk policy aggressive.")
    free = Recommended(autonomy="full_auto_never_stop")
    text = render_briefing(msgspec.structs.replace(BARE, recommended=free), (), resumed=False)
    assert text.startswith("The author recommends autonomy full_auto_never_stop.")
    unsaid = msgspec.structs.replace(BARE, recommended=Recommended())
    assert render_briefing(unsaid, (), resumed=False) == ""
