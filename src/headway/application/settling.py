"""Settling: load, decide, record; and again, when another caller was first (D10).

Law. Whatever is done with what was loaded holds for that version of the session alone. When the
append meets a later one, nothing of it was kept, and all of it is done anew.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from headway.application.engine import Engine
from headway.application.loading import Admitted, Loaded, load
from headway.domain.errors import SessionBusy
from headway.ports.ledger import Conflict

T = TypeVar("T")

APPEND_ATTEMPTS_MAX: Final = 100


def settle(engine: Engine, admitted: Admitted, work: Callable[[Loaded], T]) -> T:
    """Return what `work` makes of the session around an attempt.

    Raises what `load` and `work` raise, and SessionBusy when others are first time and again.
    """
    for _ in range(APPEND_ATTEMPTS_MAX):
        loaded = load(engine, admitted)
        try:
            return work(loaded)
        except Conflict:
            continue
    raise SessionBusy(
        f"Other calls changed this session {APPEND_ATTEMPTS_MAX} times while this one waited.",
        remedy="Repeat the call with the same token; it is safe.",
    )
