"""The metrics footer: what a run reports of itself in context, and when it is asked for.

Context is merged key by key, so a list sent again replaces the one before: the agent is told to
send the whole list each time.
"""

from typing import Final, assert_never

from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.workflow import Item, MetricsProfile, Step, Workflow

_OUTCOME: Final = "`metrics_outcome`: success, partial, abandoned or error"
_PULL_REQUESTS: Final = "`metrics_pr_numbers`: the pull requests, as numbers"
_COMMITS: Final = (
    "Metrics: with each step send in context `metrics_commit_shas`, the SHAs of all commits of this"
    " session so far (the list replaces the one sent before)."
)


def is_last_step(workflow: Workflow, at: tuple[int, ...]) -> bool:
    """Tell whether the step at this address is where a run is expected to end.

    That is the last step at the top or, when a loop stands last, the last step of its body that
    does not merely decide about the loop.
    """
    return at == _last(workflow.steps)


def is_loop_control(item: Item) -> bool:
    """Tell whether an item is a step that decides whether its loop goes on."""
    contract = item.output_contract if isinstance(item, Step) else None
    return contract is not None and contract.ref == LOOP_CONTROL_REF


def metrics_footer(profile: MetricsProfile, *, last: bool) -> str:
    """Return what the workflow's profile asks for at this step, "" when nothing."""
    match profile:
        case "none":
            return ""
        case "coding":
            wanted = (
                _OUTCOME,
                _PULL_REQUESTS,
                "`metrics_files_changed`, `metrics_lines_added`, `metrics_lines_removed`: counts",
            )
            return f"{_COMMITS}\n{_on_last_step(wanted)}" if last else _COMMITS
        case "review":
            return _on_last_step((_PULL_REQUESTS, _OUTCOME)) if last else ""
        case "research" | "design" | "ticket":
            return _on_last_step((_OUTCOME,)) if last else ""
        case _:
            assert_never(profile)


def _on_last_step(wanted: tuple[str, ...]) -> str:
    lines = "\n".join(f"- {line}" for line in wanted)
    return f"Metrics: this is the last step; send in context, too:\n{lines}"


def _last(items: tuple[Item, ...]) -> tuple[int, ...]:
    index = len(items) - 1
    item = items[index]
    if isinstance(item, Step):
        return (index,)
    return (index, *_last_of_body(item.body))


def _last_of_body(body: tuple[Item, ...]) -> tuple[int, ...]:
    working = [index for index, item in enumerate(body) if not is_loop_control(item)]
    index = working[-1] if working else len(body) - 1
    item = body[index]
    return (index,) if isinstance(item, Step) else (index, *_last_of_body(item.body))
