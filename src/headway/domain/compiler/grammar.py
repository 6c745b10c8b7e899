"""The workflow language as tables: every key, its kind and its limits.

What tables cannot say (references between parts, conditions, criteria, schemas) is checked where
the compiler reads it.
"""

import re
from typing import Final, get_args

from headway.domain.compiler.kinds import (
    AnyRecord,
    Anything,
    Chosen,
    Either,
    Flag,
    Form,
    Kind,
    ListOf,
    MapOf,
    Number,
    Primitive,
    Record,
    Text,
)  # fmt: skip
from headway.domain.values import JsonObject
from headway.domain.workflow import (
    Autonomy,
    GateKind,
    LoopKind,
    MetricsProfile,
    ModelTier,
    RiskPolicy,
)  # fmt: skip

RESERVED_PREFIX: Final = "hw."  # of the ids of bundled workflows

_WORKFLOW_ID: Final = Form(
    re.compile(r"[a-z0-9_-]+|[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*"),
    "lower-case letters, digits, - and _, with at most one dot between a namespace and a name that "
    "both begin with a letter",
)
_STEP_ID: Final = Form(
    re.compile(r"[a-z0-9][a-z0-9_-]{0,63}"),
    "1 to 64 lower-case letters, digits, - and _, beginning with a letter or digit",
)
_HANDLE: Final = Form(
    re.compile(r"[a-z][a-z0-9_-]*"), "lower-case letters, digits, - and _, beginning with a letter"
)
_SLOT: Final = Form(
    re.compile(r"[a-z][a-z0-9_]*"), "lower-case letters, digits and _, beginning with a letter"
)
_IDENTIFIER: Final = Form(
    re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "letters, digits and _, not beginning with a digit"
)
_FUNCTION_REFERENCE: Final = Form(
    re.compile(r"[A-Za-z_][A-Za-z0-9_]*\(\)"), "a function's name followed by ()"
)
_TOOL: Final = Form(
    re.compile(r"[A-Za-z][A-Za-z0-9_:-]*"), "letters, digits, _, : and -, beginning with a letter"
)
_DOTTED: Final = Form(
    re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*"),
    "lower-case words of letters, digits, - and _, joined by dots",
)
_SEMVER_NUMBER = r"(?:0|[1-9][0-9]*)"
_SEMVER_WORD = rf"(?:{_SEMVER_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER: Final = Form(
    re.compile(
        rf"{_SEMVER_NUMBER}\.{_SEMVER_NUMBER}\.{_SEMVER_NUMBER}"
        rf"(?:-{_SEMVER_WORD}(?:\.{_SEMVER_WORD})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
    ),
    "a semantic version such as 1.0.0",
)


def _one_of(literal: object) -> Text:
    return Text(choices=get_args(literal))


def _lines(most: int | None = None) -> ListOf:
    return ListOf(Text(1, most), unique=True)


_MODEL_TIER: Final = _one_of(ModelTier)
_IDENTIFIER_TEXT: Final = Text(1, 128, _IDENTIFIER)
# Which findings of the linter an author allows, each with the reason. It changes nothing that runs.
LINT: Final = Record("lint settings", {"allow": MapOf(Text(1, 512))})

_CONDITION: Final = AnyRecord("condition")  # read by `conditions`

PARAMETER: Final = Record(
    "parameter",
    {
        "name": _IDENTIFIER_TEXT,
        "type": Text(choices=("string", "number", "boolean", "array", "object")),
    },
    {
        "required": Flag(),
        "description": Text(),
        "enum": ListOf(Primitive(), least=1),
        "default": Anything(),
    },
)
FUNCTION: Final = Record(
    "function definition",
    {"name": _IDENTIFIER_TEXT, "definition": Text(1)},
    {
        "parameters": ListOf(PARAMETER, id_key="name"),
        "scope": Text(choices=("workflow", "loop", "step")),
    },
)
_FUNCTIONS: Final = ListOf(FUNCTION, unique=True, id_key="name")

GATE: Final = Record("gate", {"kind": _one_of(GateKind)}, {"condition": _CONDITION})
CONFIRMATION: Final = Either(
    (Flag(), Chosen("kind", (), lambda node: GATE if "kind" in node else _CONDITION))
)
OUTPUT_CONTRACT: Final = Record(
    "output contract", {"contractRef": Text(1, 128)}, {"required": Flag()}
)
CRITERIA: Final = Either(
    (ListOf(Anything()), AnyRecord("criteria"))
)  # read by `criteria`, as are the items of the list

RULE: Final = Record(
    "validation rule",
    {"type": Text(choices=("contains", "regex", "length", "schema")), "message": Text()},
    {
        "value": Text(),
        "pattern": Text(),
        "flags": Text(),
        "min": Number(),
        "max": Number(),
        "schema": AnyRecord("schema"),
        "condition": _CONDITION,
    },
)

TEXT_PART: Final = Record("text part", {"kind": Text(), "text": Text()})
REF_PART: Final = Record("ref part", {"kind": Text(), "refId": Text(1, 128)})
_PARTS: Final = {"text": TEXT_PART, "ref": REF_PART}
PART: Final = Chosen("kind", tuple(_PARTS), lambda node: _PARTS.get(str(node.get("kind"))))
PROSE: Final = Either((Text(), ListOf(PART)))
PROMPT_BLOCKS: Final = Record(
    "prompt blocks",
    {},
    {
        "goal": PROSE,
        "constraints": ListOf(PROSE),
        "procedure": ListOf(PROSE),
        "outputRequired": MapOf(PROSE),
        "verify": ListOf(PROSE),
    },
)
FRAGMENT: Final = Record(
    "prompt fragment", {"id": Text(1, 64, _HANDLE), "text": Text(1, 4096)}, {"when": _CONDITION}
)
TEMPLATE_CALL: Final = Record(
    "template call", {"templateId": Text(1, 128)}, {"args": MapOf(Anything())}
)
CONSEQUENCE: Final = Record(
    "assessment consequence",
    {
        "when": Record("trigger", {"anyEqualsLevel": Text(1, 64)}, {"forAssessment": Text(1, 128)}),
        "effect": Record(
            "effect", {"kind": Text(choices=("require_followup",)), "guidance": Text(1, 512)}
        ),
    },
)
CHECK: Final = Record(
    "check",
    {"id": Text(1, 64, _STEP_ID), "run": Text(1, 4096)},
    {
        "timeoutSeconds": Number(1, 86_400, whole=True),
        "protect": ListOf(Text(1, 512), unique=True),
    },
)
STANDARD_STEP: Final = Record(
    "standard step",
    {"id": Text(1, 64, _STEP_ID), "title": Text(1, 128)},
    {
        "prompt": Text(1, 8192),
        "promptBlocks": PROMPT_BLOCKS,
        "templateCall": TEMPLATE_CALL,
        "promptFragments": ListOf(FRAGMENT, least=1, id_key="id"),
        "agentRole": Text(10, 1024),
        "modelTier": _MODEL_TIER,
        "guidance": ListOf(Text()),
        "askForFiles": Flag(),
        "hasValidation": Flag(),
        "requireConfirmation": CONFIRMATION,
        "runCondition": _CONDITION,
        "validationCriteria": CRITERIA,
        "outputContract": OUTPUT_CONTRACT,
        "assessmentRefs": ListOf(Text(1, 64), least=1, unique=True),
        "assessmentConsequences": ListOf(CONSEQUENCE, least=1, most=10),
        "notesOptional": Flag(),
        "functionDefinitions": _FUNCTIONS,
        "functionCalls": ListOf(
            Record("function call", {"name": _IDENTIFIER_TEXT, "args": MapOf(Anything())})
        ),
        "functionReferences": ListOf(Text(1, 130, _FUNCTION_REFERENCE)),
        "audit": Record("audit", {}, {"prompt": Text(1, 4096), "rubric": ListOf(Text(1), least=1)}),
        "verification": Record(
            "verification", {}, {"command": Text(1, 1024), "prompt": Text(1, 4096)}
        ),
        "checks": ListOf(CHECK, least=1, id_key="id"),
        "lint": LINT,
    },
    {
        "synthesis": "A synthesis follows a parallel step; give the step type parallel.",
        "parallelDelegations": 'Add "type": "parallel", and drop the prompt.',
        "loop": 'Add "type": "loop", and put the prompt into a step of the body.',
        "body": 'Add "type": "loop" and a loop.',
    },
)

CONDITION_SOURCES: Final = {
    "artifact_contract": Record(
        "artifact source",
        {"kind": Text(), "contractRef": Text(1, 128)},
        {"loopId": Text(1, 64, _STEP_ID)},
    ),
    "context_variable": Record("context source", {"kind": Text(), "condition": _CONDITION}),
}
LOOP: Final = Record(
    "loop",
    {"type": _one_of(LoopKind), "maxIterations": Number(1, 1000, whole=True)},
    {
        "condition": _CONDITION,
        "conditionSource": Chosen(
            "kind",
            tuple(CONDITION_SOURCES),
            lambda node: CONDITION_SOURCES.get(str(node.get("kind"))),
        ),
        "count": Either((Number(0, 1000), Text(1, 128))),
        "items": Text(1, 128),
        "iterationVar": _IDENTIFIER_TEXT,
        "itemVar": _IDENTIFIER_TEXT,
        "indexVar": _IDENTIFIER_TEXT,
    },
)
_IN_THE_BODY: Final = "A loop has none of its own; put it on a step of the body."


def _step(node: JsonObject) -> Kind | None:
    if "type" not in node:
        return STANDARD_STEP
    return {"loop": LOOP_STEP, "parallel": PARALLEL_STEP}.get(str(node["type"]))


STEP: Final = Chosen("type", ("loop", "parallel"), _step, code="UNKNOWN_STEP_TYPE")
LOOP_STEP: Final = Record(
    "loop step",
    {
        "id": Text(1, 64, _STEP_ID),
        "type": Text(),
        "title": Text(1, 128),
        "loop": LOOP,
        "body": Either(
            (Text(1, 64), ListOf(STEP, least=1))
        ),
    },
    {
        "functionDefinitions": _FUNCTIONS,
        "requireConfirmation": CONFIRMATION,
        "runCondition": _CONDITION,
        "notesOptional": Flag(),
        "lint": LINT,
    },
    dict.fromkeys(
        STANDARD_STEP.optional.keys()
        - {"functionDefinitions", "requireConfirmation", "runCondition", "notesOptional", "lint"},
        _IN_THE_BODY,
    ),
)  # fmt: skip
DELEGATION: Final = Record(
    "delegation",
    {"workflowId": Text(1, 128)},
    {
        "goal": Text(),
        "runCondition": _CONDITION,
        "contextMapping": MapOf(Text()),
        "args": MapOf(Text()),
        "modelTier": _MODEL_TIER,
        "allowedTools": ListOf(Text(1, 128, _TOOL), least=1),
    },
)
_SYNTHETIC: Final = "The prompt of a parallel step is made from its delegations; put it on another."
PARALLEL_STEP: Final = Record(
    "parallel step",
    {
        "id": Text(1, 64, _STEP_ID),
        "type": Text(),
        "title": Text(1, 128),
        "parallelDelegations": ListOf(DELEGATION, least=1),
    },
    {
        "requireConfirmation": CONFIRMATION,
        "runCondition": _CONDITION,
        "notesOptional": Flag(),
        "synthesis": Record(
            "synthesis", {}, {"prompt": Text(1, 4096), "outputContract": OUTPUT_CONTRACT}
        ),
        "lint": LINT,
    },
    {
        **dict.fromkeys(("prompt", "promptBlocks", "templateCall", "promptFragments"), _SYNTHETIC),
        "verification": "Put it on a standard step, or use synthesis.",
        "audit": "Put it on a standard step, or use synthesis.",
        "outputContract": "Put it into synthesis.",
    },
)


DIMENSION: Final = Record(
    "dimension",
    {
        "id": Text(1, 64),
        "purpose": Text(1, 256),
        "levels": ListOf(Text(1, 64), least=2, unique=True),
    },
    {"required": Flag()},
)
ASSESSMENT: Final = Record(
    "assessment",
    {
        "id": Text(1, 64),
        "purpose": Text(1, 256),
        "dimensions": ListOf(DIMENSION, least=1, id_key="id"),
    },
)
EXTENSION_POINT: Final = Record(
    "extension point",
    {"slotId": Text(2, 64, _SLOT), "purpose": Text(1, 256), "default": Text(1, 128)},
    {"acceptedKinds": ListOf(Text(choices=("routine", "workflow")), unique=True)},
)
REFERENCE: Final = Record(
    "reference",
    {
        "id": Text(2, 64, _HANDLE),
        "title": Text(1, 128),
        "source": Text(1, 512),
        "purpose": Text(1, 512),
        "authoritative": Flag(),
    },
    {"resolveFrom": Text(choices=("workspace", "package"))},
)
USER_CONTRACT: Final = Record(
    "contract",
    {"id": Text(1, 128, _DOTTED), "kind": Text(1, 128, _DOTTED), "schema": AnyRecord("schema")},
    {"guidance": Text(1, 4096)},
)
# What a file is a copy of, for its author and for tools; it changes nothing that runs.
COPIED_FROM: Final = Record(
    "origin of a copy",
    {"id": Text(1, 64), "version": Text(1, 256), "hash": Text(1, 128)},
)
WORKFLOW: Final = Record(
    "workflow",
    {
        "id": Text(3, 64, _WORKFLOW_ID),
        "name": Text(1, 128),
        "description": Text(1, 512),
        "version": Text(1, 256, _SEMVER),
        "steps": ListOf(STEP, least=1),
    },
    {
        "modelTier": _MODEL_TIER,
        "preconditions": _lines(256),
        "clarificationPrompts": _lines(256),
        "metaGuidance": _lines(256),
        "functionDefinitions": _FUNCTIONS,
        "recommendedPreferences": Record(
            "recommended preferences",
            {},
            {
                "recommendedAutonomy": _one_of(Autonomy),
                "recommendedRiskPolicy": _one_of(RiskPolicy),
            },
        ),
        "features": _lines(128),
        "assessments": ListOf(ASSESSMENT, unique=True, id_key="id"),
        "extensionPoints": ListOf(EXTENSION_POINT, unique=True, id_key="slotId"),
        "references": ListOf(REFERENCE, unique=True, id_key="id"),
        "contracts": ListOf(USER_CONTRACT, id_key="id"),
        "tags": _lines(64),
        "validatedAgainstSpecVersion": Number(1, whole=True),
        "about": Text(1, 4096),
        "examples": ListOf(Text(10, 120), least=1, most=6, unique=True),
        "metricsProfile": _one_of(MetricsProfile),
        "lint": LINT,
        "copiedFrom": COPIED_FROM,
        "$schema": Text(1, 1024),  # for editors
    },
)
