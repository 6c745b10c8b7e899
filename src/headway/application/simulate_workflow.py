"""Simulate a workflow: drive it until every branch was taken, and report what was not."""

from headway.domain.simulating.branches import Branch
from headway.domain.simulating.simulate import Coverage, simulate
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Workflow


def simulate_workflow(workflow: Workflow, seed: int) -> Coverage:
    """Return what the runs of a simulation took; the same seed gives the same report."""
    return simulate(workflow, seed)


def coverage_reply(coverage: Coverage) -> JsonObject:
    """Return a report in the wire's names."""
    return {
        "workflowId": coverage.workflow,
        "seed": coverage.seed,
        "complete": coverage.is_complete,
        "reachable": coverage.reachable,
        "takenCount": len(coverage.taken),
        "runs": coverage.runs,
        "advances": coverage.advances,
        "budgetSpent": coverage.exhausted,
        "taken": [_branch(each) for each in coverage.taken],
        "untaken": [
            {
                **_branch(each.branch),
                "verdict": each.verdict,
                "reachable": each.reachable,
                "why": each.why,
                "keys": list(each.keys),
            }
            for each in coverage.untaken
        ],
        "deadEnds": [{"step": each.step, "why": each.why} for each in coverage.dead_ends],
    }


def _branch(branch: Branch) -> dict[str, Json]:
    return {"kind": branch.kind, "item": branch.item, "way": branch.way}
