"""Leases: the claim that a write is made under."""

from headway.domain.ids import RunId
from headway.domain.values import Value


class Lease(Value):
    """One claim of a run: good while the run's row is claimed with this fence."""

    run: RunId
    fence: int
