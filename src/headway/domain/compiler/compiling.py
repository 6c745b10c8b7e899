"""Compiling a document: the workflow that runs, its bytes and its hash, or every reason why not.

Law: the bytes are the RFC 8785 form of the workflow, and the workflow is what those bytes decode
to, so a compiled workflow and one loaded from its bytes are the same in everything, the order of
keys included.
"""

import contextlib
from typing import Final, get_args

import msgspec
import rfc8785

from headway.domain.compiler.bodies import compile_body
from headway.domain.compiler.checking import check
from headway.domain.compiler.declarations import (
    BUILT_IN_CONTRACTS,
    assessments_of,
    bindings_of,
    contracts_of,
    features_of,
    references_of,
)  # fmt: skip
from headway.domain.compiler.functions import functions_at
from headway.domain.compiler.grammar import WORKFLOW
from headway.domain.compiler.nodes import choice, items, record, text, texts
from headway.domain.compiler.reading import Document
from headway.domain.compiler.reporting import Abandoned, Report
from headway.domain.compiler.setting import Scope, Setting, Sources
from headway.domain.compiler.steps import MODEL_TIERS
from headway.domain.diagnostics import Diagnostic
from headway.domain.ids import WorkflowHash, digest
from headway.domain.values import JsonObject, Value
from headway.domain.workflow import (
    WORKFLOW_FORM,
    Autonomy,
    MetricsProfile,
    Recommended,
    RiskPolicy,
    Workflow,
)  # fmt: skip

_DECODER: Final = msgspec.json.Decoder(Workflow)
_PROFILES: Final[tuple[MetricsProfile, ...]] = get_args(MetricsProfile)
_AUTONOMIES: Final[tuple[Autonomy, ...]] = get_args(Autonomy)
_RISK_POLICIES: Final[tuple[RiskPolicy, ...]] = get_args(RiskPolicy)


class Compilation(Value):
    """What became of a document. `workflow` is None exactly when a diagnostic is an error."""

    workflow: Workflow | None
    data: bytes = b""
    hash: WorkflowHash = WorkflowHash("")
    diagnostics: tuple[Diagnostic, ...] = ()


def compile_workflow(document: Document, sources: Sources) -> Compilation:
    """Compile a document with the routines and bindings it may draw on."""
    report = Report(document.name, document.position)
    with contextlib.suppress(Abandoned):
        check(WORKFLOW, document.root, (), report)
        workflow = _compiled(document.root, sources, report)
        if not report.has_errors:
            data = rfc8785.dumps(msgspec.to_builtins(workflow))
            return Compilation(
                workflow=_DECODER.decode(data),
                data=data,
                hash=WorkflowHash(digest(data)),
                diagnostics=report.diagnostics(),
            )
    return Compilation(workflow=None, diagnostics=report.diagnostics())


def _compiled(root: JsonObject, sources: Sources, report: Report) -> Workflow:
    assessments = assessments_of(root)
    contracts = contracts_of(root, report)
    functions = functions_at(root, "workflow")
    bindings = bindings_of(root, sources)
    setting = Setting(
        report=report,
        sources=sources,
        slots={binding.slot: binding.value for binding in bindings},
        features=features_of(root, report),
        assessments={assessment.id: assessment for assessment in assessments},
        contracts=(*BUILT_IN_CONTRACTS, *(contract.id for contract in contracts)),
    )
    preferences = record(root, "recommendedPreferences")
    return Workflow(
        form=WORKFLOW_FORM,
        id=text(root, "id"),
        name=text(root, "name"),
        description=text(root, "description"),
        version=text(root, "version"),
        steps=compile_body(items(root, "steps"), ("steps",), setting, Scope(functions=functions)),
        about=text(root, "about"),
        examples=texts(root, "examples"),
        tags=texts(root, "tags"),
        model_tier=choice(root, "modelTier", MODEL_TIERS),
        preconditions=texts(root, "preconditions"),
        clarification_prompts=texts(root, "clarificationPrompts"),
        meta_guidance=texts(root, "metaGuidance"),
        functions=functions,
        recommended=_recommended(preferences) if preferences else None,
        assessments=assessments,
        contracts=contracts,
        references=references_of(root),
        bindings=bindings,
        metrics_profile=choice(root, "metricsProfile", _PROFILES) or "none",
        validated_against=_stamp(root),
    )


def _recommended(preferences: JsonObject) -> Recommended:
    return Recommended(
        autonomy=choice(preferences, "recommendedAutonomy", _AUTONOMIES),
        risk_policy=choice(preferences, "recommendedRiskPolicy", _RISK_POLICIES),
    )


def _stamp(root: JsonObject) -> int | None:
    stamp = root.get("validatedAgainstSpecVersion")
    return int(stamp) if isinstance(stamp, int | float) else None
