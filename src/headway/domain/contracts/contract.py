"""What a contract is, and what judging one may come to."""

from headway.domain.values import JsonObject, Value


class Contract(Value):
    """A demand for an artifact of `kind` under a JSON Schema, with an example and guidance."""

    ref: str
    kind: str
    schema: JsonObject
    example: JsonObject
    guidance: str


class Satisfied(Value, tag="satisfied", tag_field="is"):
    """The artifact is there and right, or was not required and is not there."""


class Missing(Value, tag="missing", tag_field="is"):
    """No artifact of the kind was handed in; these kinds were."""

    submitted_kinds: tuple[str, ...] = ()


class Invalid(Value, tag="invalid", tag_field="is"):
    """The artifact is there and wrong, for these reasons."""

    issues: tuple[str, ...]
