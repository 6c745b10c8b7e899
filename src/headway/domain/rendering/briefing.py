"""The briefing: what holds for a whole session, told at its start and to whoever takes it up later.

A recommendation of preferences is shown as advice; reading it changes nothing.
"""

from headway.domain.events import ReferenceStatus
from headway.domain.workflow import Recommended, Reference, Workflow


def render_briefing(
    workflow: Workflow, references: tuple[ReferenceStatus, ...], *, resumed: bool
) -> str:
    """Return the briefing, "" when the workflow has nothing to say beyond its steps."""
    found = {status.id: status for status in references}
    sections = [_listed("These rules hold for the whole session:", workflow.meta_guidance)]
    if not resumed:
        sections += [
            _listed("Before you start, make sure that:", workflow.preconditions),
            _listed(
                "Settle these first where the goal leaves them open; ask the user, or decide and"
                " say so in your notes:",
                workflow.clarification_prompts,
            ),
        ]
    entry = _compact if resumed else _full
    sections += [
        _listed(
            "References:" if resumed else "References (read what bears on the work):",
            tuple(entry(each, found.get(each.id)) for each in workflow.references),
        ),
        _advice(workflow.recommended),
    ]
    return "\n\n".join(section for section in sections if section)


def _listed(heading: str, items: tuple[str, ...]) -> str:
    return "\n".join([heading, *(f"- {item}" for item in items)]) if items else ""


def _full(reference: Reference, status: ReferenceStatus | None) -> str:
    authority = "binding" if reference.authoritative else "advisory"
    return f"{reference.title} ({authority}): {_where(reference, status)}\n  {reference.purpose}"


def _compact(reference: Reference, status: ReferenceStatus | None) -> str:
    return f"{reference.title}: {_where(reference, status)}"


def _where(reference: Reference, status: ReferenceStatus | None) -> str:
    path = status.path if status is not None and status.path else reference.source
    return path if status is not None and status.resolved else f"{path} (not found)"


def _advice(recommended: Recommended | None) -> str:
    if recommended is None:
        return ""
    advised = []
    if recommended.autonomy:
        advised.append(f"autonomy {recommended.autonomy}")
    if recommended.risk_policy:
        advised.append(f"risk policy {recommended.risk_policy}")
    if not advised:
        return ""
    advice = " and ".join(advised)
    return f"The author recommends {advice}. This is advice: what is set stays in force."
