"""Assessments: an agent's judgement of its own work, level by level, and what follows from it.

Laws.
1. One asked for: the first `wr.assessment` artifact is meant, and if it names an assessment that
   must be the one. Several asked for: each is matched by name; of several of one name the first
   well-formed one counts.
2. A level counts as written, or by trimmed text without regard to case when that fits one only.
3. Everything or nothing: with any issue there are no results.
4. Each consequence fires by itself, on the first dimension that matches, in the order assessments
   are asked for and dimensions are defined.
"""

from typing import Final

from headway.domain.coercions import trim
from headway.domain.contracts.builtin import ASSESSMENT
from headway.domain.contracts.judging import artifacts_of
from headway.domain.events import AssessmentResult, DimensionResult
from headway.domain.json_schema import schema_issues
from headway.domain.values import Json, JsonObject, Value
from headway.domain.workflow import Assessment, Consequence, Dimension

ASSESSMENT_REF: Final = ASSESSMENT.ref


class AssessmentJudgement(Value):
    """The accepted assessments, or what is wrong with what was sent."""

    results: tuple[AssessmentResult, ...] = ()
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


class Followup(Value):
    """A consequence that fired, and on what."""

    assessment: str
    dimension: str
    level: str
    guidance: str


class NormalLevel(Value):
    """The level a text means; `exact` when it is written just so."""

    level: str
    exact: bool


class NoLevel(Value):
    """A text that means no level, or several."""

    candidates: tuple[str, ...] = ()


def judge_assessments(
    refs: tuple[str, ...], definitions: tuple[Assessment, ...], artifacts: tuple[Json, ...]
) -> AssessmentJudgement:
    """Judge the assessments a step asks for. The definitions must hold every ref."""
    defined = {definition.id: definition for definition in definitions}
    candidates = artifacts_of(ASSESSMENT.kind, artifacts)
    results: list[AssessmentResult] = []
    issues: list[str] = []
    wanting: list[Assessment] = []
    for ref in refs:
        definition = defined[ref]
        artifact = _meant(ref, refs, candidates)
        if artifact is None:
            found: tuple[str, ...] = (f"Assessment {ref} was not handed in.",)
        else:
            result, found = _judge(definition, artifact)
            results.append(result)
        issues += found
        if found:
            wanting.append(definition)
    if not issues:
        return AssessmentJudgement(results=tuple(results))
    suggestions = tuple(_suggestion(definition) for definition in wanting)
    return AssessmentJudgement(issues=tuple(issues), suggestions=suggestions)


def normal_level(text: str, levels: tuple[str, ...]) -> NormalLevel | NoLevel:
    """Return the level a text means under law 2."""
    if text in levels:
        return NormalLevel(level=text, exact=True)
    plain = trim(text).lower()
    candidates = tuple(level for level in levels if trim(level).lower() == plain)
    if len(candidates) == 1:
        return NormalLevel(level=candidates[0], exact=False)
    return NoLevel(candidates=candidates)


def triggered(
    consequences: tuple[Consequence, ...], results: tuple[AssessmentResult, ...]
) -> tuple[Followup, ...]:
    """Return the consequences that fire on these results."""
    fired = (_first_match(consequence, results) for consequence in consequences)
    return tuple(followup for followup in fired if followup is not None)


def _meant(
    ref: str, refs: tuple[str, ...], candidates: tuple[JsonObject, ...]
) -> JsonObject | None:
    if len(refs) == 1:
        return candidates[0] if candidates else None
    named = [each for each in candidates if each.get("assessmentId") == ref]
    sound = (each for each in named if not schema_issues(ASSESSMENT.schema, each))
    return next(sound, named[0] if named else None)


def _judge(
    definition: Assessment, artifact: JsonObject
) -> tuple[AssessmentResult, tuple[str, ...]]:
    """Return the result as far as it goes, and every issue."""
    empty = AssessmentResult(assessment=definition.id, dimensions=())
    shape = schema_issues(ASSESSMENT.schema, artifact)
    if shape:
        return empty, tuple(f"Assessment {definition.id}: {issue}" for issue in shape)
    named = artifact.get("assessmentId")
    if named is not None and named != definition.id:
        return empty, (f'The assessment names "{named}"; this step asks for {definition.id}.',)
    given = artifact.get("dimensions")
    summary = artifact.get("summary")
    assert isinstance(given, dict)
    known = {dimension.id for dimension in definition.dimensions}
    issues = [
        f'Assessment {definition.id} has no dimension "{name}".'
        for name in given
        if name not in known
    ]
    dimensions, notes = [], []
    for dimension in definition.dimensions:
        if dimension.id in given:
            judged = _judge_dimension(dimension, given[dimension.id])
            if isinstance(judged, str):
                issues.append(f"Assessment {definition.id}: {judged}")
                continue
            dimensions.append(judged)
            if not judged.exact:
                notes.append(f"{dimension.id} was read as {judged.level}.")
        elif dimension.required:
            issues.append(f"Assessment {definition.id} lacks the dimension {dimension.id}.")
    result = AssessmentResult(
        assessment=definition.id,
        dimensions=tuple(dimensions),
        summary=summary if isinstance(summary, str) else None,
        notes=tuple(notes),
    )
    return result, tuple(issues)


def _judge_dimension(dimension: Dimension, given: Json) -> DimensionResult | str:
    level, rationale = (
        (given.get("level"), given.get("rationale")) if isinstance(given, dict) else (given, None)
    )
    assert isinstance(level, str)
    found = normal_level(level, dimension.levels)
    if isinstance(found, NoLevel):
        if found.candidates:
            return f'level "{level}" of {dimension.id} could be {" or ".join(found.candidates)}.'
        return f'level "{level}" of {dimension.id} is none of {", ".join(dimension.levels)}.'
    return DimensionResult(
        dimension=dimension.id,
        level=found.level,
        rationale=rationale if isinstance(rationale, str) else None,
        exact=found.exact,
    )


def _suggestion(definition: Assessment) -> str:
    dimensions = "; ".join(
        f"{each.id}: {' | '.join(each.levels)}{'' if each.required else ' (optional)'}"
        for each in definition.dimensions
    )
    return (
        f"Send an artifact of kind {ASSESSMENT.kind} with assessmentId {definition.id} and "
        f"dimensions {dimensions}."
    )


def _first_match(
    consequence: Consequence, results: tuple[AssessmentResult, ...]
) -> Followup | None:
    for result in results:
        if consequence.assessment not in (None, result.assessment):
            continue
        for dimension in result.dimensions:
            if dimension.level == consequence.level:
                return Followup(
                    assessment=result.assessment,
                    dimension=dimension.dimension,
                    level=dimension.level,
                    guidance=consequence.guidance,
                )
    return None
