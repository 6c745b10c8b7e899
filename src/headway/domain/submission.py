"""What an agent hands in, checked against its limits and turned into stored content."""

from typing import Final

from headway.domain.errors import InvalidInput
from headway.domain.events import Content, Output
from headway.domain.ids import Digest, digest
from headway.domain.json_limits import check_artifact, check_notes
from headway.domain.values import Json, Value

INLINE_BYTES_MAX: Final = 65_536
ARTIFACTS_MAX: Final = 256


class Stored(Value):
    """An output as an event keeps it, with the bytes of what became a blob."""

    output: Output
    blobs: tuple[tuple[Digest, bytes], ...] = ()


def store_output(notes: str | None, artifacts: tuple[Json, ...]) -> Stored:
    """Return the content to record. Raises InvalidInput when something is beyond its limit."""
    if len(artifacts) > ARTIFACTS_MAX:
        raise InvalidInput(
            f"{len(artifacts)} artifacts in one call; at most {ARTIFACTS_MAX} are taken.",
            remedy="Send fewer artifacts, or one that lists the others.",
            details={
                "kind": "too_many_artifacts",
                "measured": len(artifacts),
                "max": ARTIFACTS_MAX,
            },
        )
    blobs: list[tuple[Digest, bytes]] = []
    kept_notes = None if notes is None else _kept(notes, check_notes(notes), blobs)
    kept = tuple(_kept(artifact, check_artifact(artifact), blobs) for artifact in artifacts)
    return Stored(output=Output(notes=kept_notes, artifacts=kept), blobs=tuple(blobs))


def _kept(value: Json, data: bytes, blobs: list[tuple[Digest, bytes]]) -> Content:
    name = digest(data)
    if len(data) <= INLINE_BYTES_MAX:
        return Content(digest=name, size=len(data), inline=value)
    blobs.append((name, data))
    return Content(digest=name, size=len(data), blob=True)
