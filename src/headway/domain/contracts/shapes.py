"""Building stones of the built-in schemas, and the larger schemas themselves."""

from typing import Final

from headway.domain.values import Json, JsonObject

# Helmer's seven powers, and the eighth answer: none.
POWERS: Final = (
    "Counter-Positioning",
    "Switching Costs",
    "Network Economies",
    "Scale Economies",
    "Cornered Resource",
    "Process Power",
    "Branding",
    "None_Imitable",
)
_OPTIONAL: Final = "__optional"
_TIME: Final = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"
_UUID: Final = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def obj(**members: JsonObject) -> JsonObject:
    """Return a closed object; a member named `x__optional` is the key x, which may be absent."""
    properties: dict[str, Json] = {}
    for name, schema in members.items():
        properties[name.removesuffix(_OPTIONAL)] = schema
    required: list[Json] = [name for name in members if not name.endswith(_OPTIONAL)]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def opened(**members: JsonObject) -> JsonObject:
    """Return an object as `obj` does that may hold further keys, as entries of lists may."""
    return {**obj(**members), "additionalProperties": True}


def text(shortest: int = 0, longest: int | None = None) -> JsonObject:
    """Return a text of so many characters."""
    bounds = {"minLength": shortest} | ({} if longest is None else {"maxLength": longest})
    return {"type": "string", **bounds}


def one_of(*values: Json) -> JsonObject:
    """Return a choice of values, or the one value there is."""
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def listed(items: JsonObject, most: int | None = None, least: int = 0) -> JsonObject:
    """Return a list of so many items."""
    bounds = {"minItems": least} | ({} if most is None else {"maxItems": most})
    return {"type": "array", "items": items, **bounds}


def number(least: float, most: float) -> JsonObject:
    """Return a number within bounds."""
    return {"type": "number", "minimum": least, "maximum": most}


def whole(least: int, most: int | None = None) -> JsonObject:
    """Return a whole number within bounds."""
    bounds = {"minimum": least} | ({} if most is None else {"maximum": most})
    return {"type": "integer", **bounds}


_SHORT: Final = text(1, 200)
_INSTANT: Final[JsonObject] = {"type": "string", "pattern": _TIME}

DISCOVERY_HANDOFF: Final = obj(
    kind=one_of("wr.discovery_handoff"),
    version=one_of(1),
    selectedDirection=text(1),
    designDocPath=text(),
    confidenceBand=one_of("high", "medium", "low"),
    keyInvariants=listed(_SHORT, 12),
    rejectedDirections__optional=listed(opened(direction=_SHORT, reason=text(1, 300)), 5),
    implementationConstraints__optional=listed(_SHORT, 8),
    keyCodebaseLocations__optional=listed(opened(path=text(1, 300), relevance=text(1, 150)), 10),
    selectionTier__optional=one_of(
        "strong_recommendation", "provisional_recommendation", "insufficient_signal"
    ),
)

SHAPING_HANDOFF: Final = obj(
    kind=one_of("wr.shaping_handoff"),
    version=one_of(1),
    pitchPath=text(1),
    selectedShape=text(1, 200),
    appetite=text(1, 100),
    keyConstraints=listed(_SHORT, 8),
    rabbitHoles=listed(_SHORT, 6),
    outOfScope=listed(_SHORT, 6),
    validationChecklist=listed(_SHORT, 10),
)

CODING_HANDOFF: Final = obj(
    kind=one_of("wr.coding_handoff"),
    version=one_of(1),
    branchName__optional=text(1),
    keyDecisions=listed(_SHORT, 8),
    knownLimitations=listed(_SHORT, 6),
    testsAdded=listed(_SHORT, 10),
    filesChanged=listed(text(1, 300), 20),
    correctedAssumptions__optional=listed(opened(assumed=_SHORT, actual=_SHORT), 6),
)

DIFFERENTIATION_HANDOFF: Final = obj(
    kind=one_of("wr.differentiation_handoff"),
    version=one_of(1),
    schemaVersion=one_of("1.0.0"),
    generatedAt=_INSTANT,
    evidenceFreshness=obj(oldestCapturedAt=_INSTANT, newestCapturedAt=_INSTANT),
    validationChecklist=listed(text(), 10),
    shapingHandoff=obj(
        rawIdea=text(1),
        problem=text(1),
        baseline=text(1),
        appetiteHint=one_of("small_batch", "big_batch"),
        noGosHints=listed(text()),
        constraints=obj(
            teamSize=number(0, 1_000_000),
            technicalCapabilities=listed(text(), least=1),
            exclusions=listed(text()),
        ),
        evidenceTopK=listed({"type": "string", "pattern": _UUID}, 10),
        defensibilityClaim=obj(power=one_of(*POWERS), cannibalization=text()),
    ),
)
