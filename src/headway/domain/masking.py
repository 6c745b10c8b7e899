"""Keeping secrets out of what people and logs are told.

Law. A secret is masked wherever it stands, in the middle of a word too. One of fewer than
`MASKED_LENGTH_MIN` characters is not: it stands in ordinary words as well, so that masking it would
spoil every message and, by the gaps, tell what it is.
"""

import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "***"
MASKED_LENGTH_MIN: Final = 6
_CREDENTIALS: Final = re.compile(r"(://)[^/@\s]*@")


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without these secrets, and without what stands before a host in an address."""
    for secret in sorted(filter(can_be_masked, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _CREDENTIALS.sub(rf"\1{MASK}@", text)


def can_be_masked(secret: str) -> bool:
    """Tell whether a secret is long enough to be told from ordinary words."""
    return len(secret) >= MASKED_LENGTH_MIN
