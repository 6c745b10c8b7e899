"""Rules about what a workflow declares: that somebody uses it, and that it holds elsewhere too."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from headway.domain.compiler.nodes import items, record, records, text, texts
from headway.domain.compiler.reporting import shown
from headway.domain.diagnostics import Mend
from headway.domain.linting.rules import Finding, Rule, rule
from headway.domain.linting.subject import Subject
from headway.domain.staleness import SPEC_VERSION, STAMP_KEY, staleness_of
from headway.domain.values import Json, JsonObject

_STAMP: Final = Mend(action="put", path=(STAMP_KEY,), value=SPEC_VERSION)
_ABSOLUTE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|file:")


@rule(
    "CONTRACT_NEVER_READ", "warning", "Every declared contract is demanded somewhere",
    why="A contract that no step demands checks nothing; often a step names another by mistake.",
    remedy="Name it in the outputContract of a step, or remove it.",
)  # fmt: skip
def contract_never_read(subject: Subject) -> Iterator[Finding]:
    """Report contracts that no step's outputContract names."""
    demanded = set()
    for unit in subject.units:
        for holder in (unit.node, record(unit.node, "synthesis")):
            demanded.add(text(record(holder, "outputContract"), "contractRef"))
    for index, each in records(subject.root, "contracts"):
        if text(each, "id") not in demanded:
            yield Finding(
                ("contracts", index), f"No step demands the contract {shown(text(each, 'id'))}."
            )


@rule(
    "CONTRACT_REFUSES_ITS_KIND", "warning", "The schema of a contract allows its own kind",
    why="The whole artifact is judged, its kind included: where the schema refuses the kind, "
    "nothing that an agent sends can satisfy it, and the step cannot be left.",
    remedy='Allow it in the schema: "kind": {"const": ...} among the properties.',
)  # fmt: skip
def contract_refuses_its_kind(subject: Subject) -> Iterator[Finding]:
    """Report contracts whose schema no artifact of their kind can satisfy."""
    for index, each in records(subject.root, "contracts"):
        kind, schema = text(each, "kind"), record(each, "schema")
        properties = record(schema, "properties")
        allowed = record(properties, "kind")
        closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        if "$ref" in schema or "$ref" in allowed:
            continue
        misses = "kind" not in properties and closed
        if misses or allowed.get("const", kind) != kind or kind not in _members(allowed, kind):
            place = ("contracts", index, "schema", *(("properties", "kind") if allowed else ()))
            what = f"The schema refuses every artifact of kind {shown(kind)}."
            remedy = f"Put kind: {{const: {kind}}} among its properties."
            yield Finding(place, what, remedy)


def _members(schema: JsonObject, otherwise: str) -> Sequence[Json]:
    return items(schema, "enum") if "enum" in schema else (otherwise,)


@rule(
    "ASSESSMENT_NEVER_USED", "warning", "Every declared assessment is asked for somewhere",
    why="An assessment that no step refers to is never made.",
    remedy="Name it in the assessmentRefs of a step, or remove it.",
)  # fmt: skip
def assessment_never_used(subject: Subject) -> Iterator[Finding]:
    """Report assessments that no step refers to."""
    used = {ref for unit in subject.units for ref in texts(unit.node, "assessmentRefs")}
    for index, each in records(subject.root, "assessments"):
        if text(each, "id") not in used:
            yield Finding(
                ("assessments", index),
                f"No step asks for the assessment {shown(text(each, 'id'))}.",
            )


@rule(
    "ASSESSMENT_WITHOUT_CONSEQUENCE", "info", "An assessment has a consequence",
    why="A judgement that changes nothing is made carelessly.",
    remedy="Say in assessmentConsequences which level asks for more work, or drop the assessment.",
)  # fmt: skip
def assessment_without_consequence(subject: Subject) -> Iterator[Finding]:
    """Report steps that ask for a judgement and do nothing with it."""
    for unit in subject.units:
        if items(unit.node, "assessmentRefs") and not items(unit.node, "assessmentConsequences"):
            path = (*unit.path, "assessmentRefs")
            yield Finding(path, f"Nothing follows from the assessments of {shown(unit.id)}.")


@rule(
    "DIMENSIONS_ALIKE", "warning", "The dimensions of an assessment ask different questions",
    why="Two dimensions with one question give one answer twice, and hide what was not asked.",
    remedy="Give each dimension a question of its own, or merge them.",
)  # fmt: skip
def dimensions_alike(subject: Subject) -> Iterator[Finding]:
    """Report dimensions of one assessment with the same purpose."""
    for index, assessment in records(subject.root, "assessments"):
        seen: dict[str, str] = {}
        for inner, each in records(assessment, "dimensions"):
            purpose = " ".join(text(each, "purpose").casefold().split())
            other = seen.setdefault(purpose, text(each, "id"))
            if other != text(each, "id"):
                path = ("assessments", index, "dimensions", inner, "purpose")
                yield Finding(path, f"The dimension {shown(other)} asks the same.")


@rule(
    "DEMAND_SILENCED", "warning", "A step makes one demand on its output",
    why="Of contract, assessments and criteria the first counts alone; those behind it are neither "
    "demanded nor checked.",
    remedy="Move the other demand to a step of its own, or remove it.",
)  # fmt: skip
def demand_silenced(subject: Subject) -> Iterator[Finding]:
    """Report demands that stand behind another one."""
    for unit in subject.units:
        present = [
            key
            for key in ("outputContract", "assessmentRefs", "validationCriteria")
            if unit.node.get(key)
        ]
        for key in present[1:]:
            yield Finding(
                (*unit.path, key), f"{key} stands behind {present[0]} and is not demanded.",
                at_key=True,
            )  # fmt: skip


@rule(
    "FUNCTION_NEVER_USED", "warning", "Every function is referred to somewhere",
    why="A function reaches an agent only at the steps that refer to it.",
    remedy="Name it in functionReferences of a step, or remove it.",
)  # fmt: skip
def function_never_used(subject: Subject) -> Iterator[Finding]:
    """Report functions that no step names, in functionReferences, functionCalls or its texts."""
    if subject.is_routine:
        return
    used = {
        name.removesuffix("()")
        for unit in subject.units
        for name in texts(unit.node, "functionReferences")
    }
    used |= {
        text(call, "name")
        for unit in subject.units
        for _, call in records(unit.node, "functionCalls")
    }
    holders = [(subject.root, ()), *((unit.node, unit.path) for unit in subject.units)]
    for node, path in holders:
        for index, each in records(node, "functionDefinitions"):
            if text(each, "name") not in used:
                where = (*path, "functionDefinitions", index)
                yield Finding(where, f"No step refers to {shown(text(each, 'name'))}.")


@rule(
    "SLOT_NEVER_USED", "warning", "Every extension point stands in a prompt",
    why="Binding a slot that no prompt holds changes nothing.",
    remedy="Put {{wr.bindings.SLOT}} where the bound workflow is to be called, or remove the slot.",
)  # fmt: skip
def slot_never_used(subject: Subject) -> Iterator[Finding]:
    """Report slots without a token."""
    prose = "\n".join(each.text for unit in subject.units for each in unit.texts)
    for index, each in records(subject.root, "extensionPoints"):
        slot = text(each, "slotId")
        if not re.search(rf"\{{\{{\s*wr\.bindings\.{re.escape(slot)}\s*\}}\}}", prose):
            yield Finding(("extensionPoints", index), f"No prompt holds the slot {shown(slot)}.")


@rule(
    "FEATURE_WITHOUT_EFFECT", "warning", "A feature has prompt blocks to work on",
    why="Features add lines to the sections of promptBlocks; a plain prompt has none.",
    remedy="Write at least one step with promptBlocks, or remove the feature.",
)  # fmt: skip
def feature_without_effect(subject: Subject) -> Iterator[Finding]:
    """Report features of workflows without prompt blocks."""
    steps = subject.steps
    if items(subject.root, "features") and not any(
        "promptBlocks" in unit.node or unit.kind == "routine" for unit in steps
    ):
        yield Finding(("features",), "No step has promptBlocks.")


@rule(
    "REFERENCE_NOT_PORTABLE", "warning", "A reference is found on every machine",
    why="References are looked up below the workspace; an absolute path is that of one machine.",
    remedy="Write the path relative to the workspace.",
)  # fmt: skip
def reference_not_portable(subject: Subject) -> Iterator[Finding]:
    """Report references by absolute paths, and those that leave the workspace."""
    for index, each in records(subject.root, "references"):
        source = text(each, "source")
        if _ABSOLUTE.match(source) or ".." in re.split(r"[/\\]", source):
            yield Finding(("references", index, "source"), f"The source is {shown(source)}.")


@rule(
    "METRICS_PROFILE_MISSING", "info", "A workflow says which metrics its agent reports",
    why="Without a profile the last step asks for no metrics, and the run cannot be compared.",
    remedy="Add metricsProfile: coding, review, research, design, ticket or none.",
)  # fmt: skip
def metrics_profile_missing(subject: Subject) -> Iterator[Finding]:
    """Report workflows, not routines, without a profile."""
    if "metricsProfile" not in subject.root and not subject.is_routine:
        yield Finding(("id",), "The workflow has no metricsProfile.")


@rule(
    "SPEC_STAMP_MISSING", "info", "A workflow is stamped when it was looked over",
    why="The stamp tells, when the rules move on, which files to look at again.",
    remedy="Look the file over, then run headway workflows lint --stamp.",
)  # fmt: skip
def spec_stamp_missing(subject: Subject) -> Iterator[Finding]:
    """Report files without a stamp."""
    if STAMP_KEY not in subject.root:
        yield Finding(("id",), staleness_of(None).reason, mend=_STAMP)


@rule(
    "SPEC_STAMP_OLD", "info", "The stamp is that of the rules in force",
    why="A file that was looked over against other rules may break the new ones.",
    remedy="Look the file over, then run headway workflows lint --stamp.",
)  # fmt: skip
def spec_stamp_old(subject: Subject) -> Iterator[Finding]:
    """Report files with another stamp."""
    stamp = subject.root.get(STAMP_KEY)
    if isinstance(stamp, int | float) and stamp != SPEC_VERSION:
        yield Finding((STAMP_KEY,), staleness_of(int(stamp)).reason, mend=_STAMP)


RULES: Final[tuple[Rule, ...]] = (
    contract_never_read,
    contract_refuses_its_kind,
    assessment_never_used,
    assessment_without_consequence,
    dimensions_alike,
    demand_silenced,
    function_never_used,
    slot_never_used,
    feature_without_effect,
    reference_not_portable,
    metrics_profile_missing,
    spec_stamp_missing,
    spec_stamp_old,
)
