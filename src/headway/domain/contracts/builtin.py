"""The nine built-in contracts, as data. All objects are closed unless one says otherwise.

Guidance reaches agents in prompts and in what a blocker asks for; it says what to send and which
values are allowed, in few words.
"""

from typing import Final

from headway.domain.contracts.contract import Contract
from headway.domain.contracts.shapes import (
    CODING_HANDOFF,
    DIFFERENTIATION_HANDOFF,
    DISCOVERY_HANDOFF,
    POWERS,
    SHAPING_HANDOFF,
    listed,
    obj,
    one_of,
    opened,
    text,
    whole,
)

LOOP_CONTROL: Final = Contract(
    ref="wr.contracts.loop_control",
    kind="wr.loop_control",
    schema=obj(
        kind=one_of("wr.loop_control"),
        decision=one_of("continue", "stop"),
        loopId__optional={**text(1, 64), "pattern": "^[a-z0-9_-]+$"},
        metadata__optional=obj(
            reason__optional=text(0, 1024),
            issuesFound__optional=whole(0),
            iterationIndex__optional=whole(0),
            confidence__optional=whole(0, 100),
        ),
    ),
    example={
        "kind": "wr.loop_control",
        "decision": "stop",
        "metadata": {"reason": "All checks pass."},
    },
    guidance=(
        "Decide whether the loop around this step goes on: decision is continue for one more pass "
        "or stop to leave. Send one decision. Leave loopId out, or name this loop. metadata may "
        "hold reason (text), issuesFound, iterationIndex and confidence (0 to 100), whole numbers."
    ),
)

ASSESSMENT: Final = Contract(
    ref="wr.contracts.assessment",
    kind="wr.assessment",
    schema=obj(
        kind=one_of("wr.assessment"),
        assessmentId__optional=text(1, 64),
        dimensions={
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [text(1), obj(level=text(1), rationale__optional=text(1, 512))]
            },
        },
        summary__optional=text(0, 1024),
    ),
    example={
        "kind": "wr.assessment",
        "assessmentId": "quality_gate",
        "dimensions": {"soundness": {"level": "high", "rationale": "Every claim cites a file."}},
    },
    guidance=(
        "Judge each dimension: dimensions maps its id to a level, or to an object of level and "
        "rationale (at most 512 characters). Name the assessment in assessmentId when the step "
        "asks for several. summary is optional (at most 1024 characters)."
    ),
)

COORDINATOR_SIGNAL: Final = Contract(
    ref="wr.contracts.coordinator_signal",
    kind="wr.coordinator_signal",
    schema=obj(
        kind=one_of("wr.coordinator_signal"),
        signalKind=one_of("progress", "finding", "data_needed", "approval_needed", "blocked"),
        payload={"type": "object"},
        sessionId__optional=text(),
    ),
    example={
        "kind": "wr.coordinator_signal",
        "signalKind": "progress",
        "payload": {"done": "The parser is written and tested."},
    },
    guidance=(
        "Tell whoever coordinates this work where it stands: signalKind is progress, finding, "
        "data_needed, approval_needed or blocked; payload is an object with the particulars."
    ),
)

REVIEW_VERDICT: Final = Contract(
    ref="wr.contracts.review_verdict",
    kind="wr.review_verdict",
    schema=obj(
        kind=one_of("wr.review_verdict"),
        verdict=one_of("clean", "minor", "blocking"),
        confidence=one_of("high", "medium", "low"),
        findings=listed(
            # Findings carry what their reviewers know: files, lines, causes, remedies.
            opened(
                severity=one_of("critical", "major", "minor", "nit"),
                summary=text(1),
                findingCategory__optional=one_of(
                    "correctness",
                    "security",
                    "architecture",
                    "ux",
                    "performance",
                    "testing",
                    "style",
                ),
            )
        ),
        summary=text(1),
    ),
    example={
        "kind": "wr.review_verdict",
        "verdict": "minor",
        "confidence": "high",
        "findings": [
            {
                "severity": "minor",
                "summary": "The retry has no upper bound.",
                "findingCategory": "correctness",
                "file": "src/retry.py",
                "startLine": 12,
            }
        ],
        "summary": "Sound; one bound is missing.",
    },
    guidance=(
        "verdict is clean, minor or blocking; confidence high, medium or low. findings is a list, "
        "empty when there are none; each has severity (critical, major, minor, nit) and summary, "
        "may have findingCategory (correctness, security, architecture, ux, performance, testing, "
        "style) and any further keys such as file, startLine, endLine, remediation. summary says "
        "the whole in a sentence or two."
    ),
)

GATE_VERDICT: Final = Contract(
    ref="wr.contracts.gate_verdict",
    kind="wr.gate_verdict",
    schema=obj(
        kind=one_of("wr.gate_verdict"),
        version=one_of(1),
        verdict=one_of("approved", "rejected", "uncertain"),
        confidence=one_of("high", "medium", "low"),
        rationale=text(20),
    ),
    example={
        "kind": "wr.gate_verdict",
        "version": 1,
        "verdict": "approved",
        "confidence": "high",
        "rationale": "Every criterion is met; the tests named in the notes exist and pass.",
    },
    guidance=(
        "version is 1; verdict is approved, rejected or uncertain; confidence high, medium or low; "
        "rationale says why in at least 20 characters."
    ),
)

DISCOVERY: Final = Contract(
    ref="wr.contracts.discovery_handoff",
    kind="wr.discovery_handoff",
    schema=DISCOVERY_HANDOFF,
    example={
        "kind": "wr.discovery_handoff",
        "version": 1,
        "selectedDirection": "Keep one writer per file",
        "designDocPath": "docs/design.md",
        "confidenceBand": "medium",
        "keyInvariants": ["An event is never rewritten."],
    },
    guidance=(
        "version is 1; selectedDirection names the way chosen; designDocPath may be empty; "
        "confidenceBand is high, medium or low; keyInvariants holds at most 12 texts of at most "
        "200 characters. Optional: rejectedDirections (at most 5 of direction and reason), "
        "implementationConstraints (at most 8), keyCodebaseLocations (at most 10 of path and "
        "relevance), selectionTier (strong_recommendation, provisional_recommendation, "
        "insufficient_signal)."
    ),
)

SHAPING: Final = Contract(
    ref="wr.contracts.shaping_handoff",
    kind="wr.shaping_handoff",
    schema=SHAPING_HANDOFF,
    example={
        "kind": "wr.shaping_handoff",
        "version": 1,
        "pitchPath": "docs/pitch.md",
        "selectedShape": "A filter above the list",
        "appetite": "two days",
        "keyConstraints": ["no new dependency"],
        "rabbitHoles": [],
        "outOfScope": ["saved filters"],
        "validationChecklist": ["the filter survives a reload"],
    },
    guidance=(
        "version is 1; pitchPath is where the pitch stands; selectedShape has at most 200 and "
        "appetite at most 100 characters. Lists of texts of at most 200 characters, empty where "
        "there is nothing to say: keyConstraints (at most 8), rabbitHoles and outOfScope (at most "
        "6 each), validationChecklist (at most 10)."
    ),
)

CODING: Final = Contract(
    ref="wr.contracts.coding_handoff",
    kind="wr.coding_handoff",
    schema=CODING_HANDOFF,
    example={
        "kind": "wr.coding_handoff",
        "version": 1,
        "branchName": "fix-retry",
        "keyDecisions": ["bounded the retries at five"],
        "knownLimitations": [],
        "testsAdded": ["test_a_retry_ends"],
        "filesChanged": ["src/retry.py"],
    },
    guidance=(
        "version is 1. Lists of texts of at most 200 characters, empty where there is nothing to "
        "say: keyDecisions (at most 8), knownLimitations (at most 6), testsAdded (at most 10), "
        "filesChanged (at most 20 of at most 300 characters). Optional: branchName, "
        "correctedAssumptions (at most 6 of assumed and actual)."
    ),
)

DIFFERENTIATION: Final = Contract(
    ref="wr.contracts.differentiation_handoff",
    kind="wr.differentiation_handoff",
    schema=DIFFERENTIATION_HANDOFF,
    example={
        "kind": "wr.differentiation_handoff",
        "version": 1,
        "schemaVersion": "1.0.0",
        "generatedAt": "2026-01-02T03:04:05.000Z",
        "evidenceFreshness": {
            "oldestCapturedAt": "2026-01-01T00:00:00.000Z",
            "newestCapturedAt": "2026-01-02T00:00:00.000Z",
        },
        "validationChecklist": ["five teams were asked"],
        "shapingHandoff": {
            "rawIdea": "plan shifts by text message",
            "problem": "shift plans change after they are printed",
            "baseline": "a spreadsheet and phone calls",
            "appetiteHint": "small_batch",
            "noGosHints": [],
            "constraints": {"teamSize": 2, "technicalCapabilities": ["python"], "exclusions": []},
            "evidenceTopK": [],
            "defensibilityClaim": {"power": "Switching Costs", "cannibalization": "none"},
        },
    },
    guidance=(
        "version is 1, schemaVersion 1.0.0; times in ISO 8601 (generatedAt; oldestCapturedAt and "
        "newestCapturedAt in evidenceFreshness); validationChecklist has at most 10 texts. "
        "shapingHandoff: rawIdea, problem, baseline; appetiteHint small_batch or big_batch; "
        "noGosHints; constraints of teamSize, technicalCapabilities (at least one), exclusions; "
        "evidenceTopK of at most 10 UUIDs; defensibilityClaim of cannibalization and power, one of "
        f"{', '.join(POWERS)}."
    ),
)

BUILTIN: Final = (
    LOOP_CONTROL,
    ASSESSMENT,
    COORDINATOR_SIGNAL,
    REVIEW_VERDICT,
    DISCOVERY,
    SHAPING,
    CODING,
    GATE_VERDICT,
    DIFFERENTIATION,
)
BUILTIN_REFS: Final = frozenset(contract.ref for contract in BUILTIN)
