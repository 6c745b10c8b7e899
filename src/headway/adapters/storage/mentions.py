"""Which blobs do stored bytes speak of? Every digest spelled in them, whatever it stands for."""

import re
from typing import Final

_DIGEST: Final = re.compile(rb"sha256:([0-9a-f]{64})")


def mentions(data: object) -> set[bytes]:
    """Return the raw digests that are spelled in an event's bytes."""
    if not isinstance(data, bytes):
        return set()
    return {bytes.fromhex(found.decode("ascii")) for found in _DIGEST.findall(data)}
