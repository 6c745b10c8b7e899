"""Settling: load, decide, record; and again, when another caller was first (D10).

Laws.
1. Whatever is done with what was loaded holds for that version of the session alone. When the
   append meets a later one, nothing of it was kept, and all of it is done anew.
2. What was remembered (`lately`) is good for an append alone, which finds out whether it still
   holds. A fault met before that is told only when it is met again with what the store holds now.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from headway.application.engine import Engine
from headway.application.loading import Admitted, Loaded, load, refuse_purged
from headway.domain.errors import Fault, SessionBusy, SessionNotHealthy, StoreUnavailable
from headway.ports.ledger import Conflict

T = TypeVar("T")

APPEND_ATTEMPTS_MAX: Final = 100


def settle(
    engine: Engine, admitted: Admitted, work: Callable[[Loaded], T], *, lately: bool = False
) -> T:
    """Return what `work` makes of the session around an attempt.

    `lately` is for work on an open attempt that returns only after an append, or raises. Raises
    what `load` and `work` raise, and SessionBusy when others are first time and again.
    """
    for tries in range(APPEND_ATTEMPTS_MAX):
        try:
            return _worked(load(engine, admitted, lately=lately and not tries), work)
        except Conflict:
            continue
        except SessionNotHealthy:
            refuse_purged(engine, admitted.nonce)
            raise
    raise SessionBusy(
        f"Other calls changed this session {APPEND_ATTEMPTS_MAX} times while this one waited.",
        remedy="Repeat the call with the same token; it is safe.",
    )


def _worked(loaded: Loaded, work: Callable[[Loaded], T]) -> T:
    try:
        return work(loaded)
    except Fault as fault:
        if loaded.remembered and not isinstance(fault, StoreUnavailable):
            raise Conflict from fault
        fault.session = loaded.row.session
        raise
