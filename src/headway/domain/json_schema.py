"""JSON Schema over artifacts and notes, asked for where a schema is met for the first time.

What judges (`schema_judging.py`) stands on a library that takes longer to import than the rest of
the domain, and the first answers of a server need no schema.
"""

from headway.domain.values import Json, JsonObject


def schema_issues(schema: JsonObject, value: Json) -> tuple[str, ...]:
    """Return what is wrong with a value under a schema, one sentence each.

    The schema must be free of `schema_problems`.
    """
    from headway.domain import schema_judging

    return schema_judging.schema_issues(schema, value)


def schema_problems(schema: Json) -> tuple[str, ...]:
    """Return why an author's schema cannot be used, one sentence each; nothing when it can."""
    from headway.domain import schema_judging

    return schema_judging.schema_problems(schema)
