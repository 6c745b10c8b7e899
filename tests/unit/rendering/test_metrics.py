import pytest

from headway.domain.rendering.metrics import is_last_step, metrics_footer
from headway.domain.workflow import (
    ByDecision,
    Item,
    Loop,
    MetricsProfile,
    OutputContract,
    Step,
    Workflow,
)

WORK = Step(id="work", title="Work")
DECIDE = Step(
    id="decide", title="Decide", output_contract=OutputContract(ref="wr.contracts.loop_control")
)


def loop(*body: Item) -> Loop:
    return Loop(
        id="around",
        title="Around",
        kind="while",
        source=ByDecision(loop_id="around"),
        max_iterations=3,
        body=body,
    )


def workflow(*steps: Item) -> Workflow:
    return Workflow(form=1, id="acme.x", name="X", description="X.", version="1.0.0", steps=steps)


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ((WORK, WORK), (1,)),
        ((WORK, DECIDE), (1,)),
        ((loop(WORK), WORK), (1,)),
        ((WORK, loop(WORK, WORK, DECIDE)), (1, 1)),
        ((WORK, loop(DECIDE)), (1, 0)),
        ((loop(WORK, loop(WORK, DECIDE), DECIDE),), (0, 1, 0)),
    ],
)
def test_the_last_step_is_the_last_that_does_work(
    steps: tuple[Item, ...], last: tuple[int, ...]
) -> None:
    flow = workflow(*steps)
    places = [(0,), (1,), (0, 0), (0, 1), (0, 1, 0), (0, 1, 1), (1, 0), (1, 1), (1, 2)]
    assert [place for place in places if is_last_step(flow, place)] == [last]


@pytest.mark.parametrize("profile", ["review", "research", "design", "ticket", "none"])
def test_most_profiles_say_nothing_before_the_last_step(profile: MetricsProfile) -> None:
    assert metrics_footer(profile, last=False) == ""


@pytest.mark.parametrize(
    ("profile", "keys"),
    [
        ("none", []),
        ("design", ["metrics_outcome"]),
        ("review", ["metrics_pr_numbers", "metrics_outcome"]),
        (
            "coding",
            [
                "metrics_commit_shas",
                "metrics_outcome",
                "metrics_pr_numbers",
                "metrics_files_changed",
                "metrics_lines_added",
                "metrics_lines_removed",
            ],
        ),
    ],
)
def test_the_last_step_asks_for_what_the_profile_needs(
    profile: MetricsProfile, keys: list[str]
) -> None:
    footer = metrics_footer(profile, last=True)
    assert all(key in footer for key in keys)
    assert footer.count("`metrics_") == len(keys)


def test_coding_asks_for_commits_on_every_step() -> None:
    assert "metrics_commit_shas" in metrics_footer("coding", last=False)
    assert "metrics_outcome" not in metrics_footer("coding", last=False)
