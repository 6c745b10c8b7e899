"""The hash chain of a stream: each event's hash covers its own bytes and the hash before it.

What is hashed is the concatenation, in this order, of
  - the hash of the event before it: 32 bytes, all zero for the first event of a stream;
  - its version: 8 bytes, unsigned, big-endian;
  - the time it was recorded, in milliseconds since 1970 UTC: 8 bytes, signed, big-endian;
  - its stored bytes, exactly as `event_codec` wrote them (they name the kind of the event).
The first three have fixed lengths, so no two events share these bytes. SHA-256 of them is the hash;
an auditor needs nothing else. The stream's own id is left out: an import as a new session keeps its
proofs, since event 1 names the session the events were born in.
"""

import hashlib
import struct
from typing import Final

HASH_BYTES: Final = 32
GENESIS: Final = bytes(HASH_BYTES)  # stands before the first event

_FIXED: Final = struct.Struct(">Qq")


def event_hash(prev_hash: bytes, version: int, recorded_at: int, data: bytes) -> bytes:
    """Return the 32 bytes that prove an event and everything before it."""
    assert len(prev_hash) == HASH_BYTES
    assert version >= 1
    return hashlib.sha256(prev_hash + _FIXED.pack(version, recorded_at) + data).digest()
