"""What any store may answer instead of serving; `place` is how messages name the store."""

from typing import Final

from headway.domain.errors import Fault, SessionNotHealthy, StoreUnavailable

DAMAGED_ROW: Final = "damaged_row"  # the kind of a fault of one row alone
REPEAT: Final = "Repeat the call: what was recorded is answered again, never applied twice."
NO_SPACE: Final = "Free some space on that disk, then repeat the call; nothing recorded was lost."


def no_room(place: object) -> Fault:
    """Return the fault of a disk that is full."""
    return unavailable(f"There is no room left for the store {place}.", NO_SPACE)


def newer_store(place: object, found: str, known: int) -> Fault:
    """Return the fault of a store that a later version of Headway has written."""
    return final(
        f"The store {place} has schema version {found}; this Headway knows up to {known}.",
        "Update Headway to the version that wrote it, or a later one.",
    )


def half_migrated(place: object, version: int, problem: str) -> Fault:
    """Return the fault of a store whose tables are not what its version says."""
    return final(
        f"The store {place} cannot be brought to schema version {version}: {problem}. "
        "Its tables are not those its own version has; nothing was changed.",
        "Restore it from a backup made before it was changed by hand, or by another program.",
    )


def half_made(place: object, missing: str) -> Fault:
    """Return the fault of a store that lacks a table."""
    return final(
        f"The store {place} lacks the table {missing}.",
        "Restore it from a backup.",
    )


def closed(place: object) -> Fault:
    """Return the fault of a call after the store was closed."""
    return final(f"The store {place} is closed.", "Restart Headway; it was stopping.")


def too_busy(place: object, seconds: int) -> Fault:
    """Return the fault of a call that waited too long for its turn."""
    return unavailable(
        f"The store {place} is serving too many other calls; this one waited up to {seconds} "
        "seconds for its turn.",
        "Repeat the call; nothing of it was kept.",
    )


def cut_off(place: object) -> Fault:
    """Return the fault of a write whose commit, made by another call, was interrupted."""
    return unavailable(
        f"Another call that was writing to the store {place} for this one was interrupted.", REPEAT
    )


def damaged(problem: str, place: object) -> Fault:
    """Return the fault of a call that met a damaged part of the store."""
    return SessionNotHealthy(
        f"The store {place} is damaged where this call read or wrote it: {problem}.",
        remedy="Nothing was changed. Restore it from a backup; sessions kept in sound parts "
        "of it go on working.",
        details={"kind": "damaged_store"},
    )


def damaged_text(place: object) -> Fault:
    """Return the fault of a row with a text that is none."""
    return SessionNotHealthy(
        f"A row of the store {place} is damaged: a text in it is not UTF-8.",
        remedy="Restore the store from a backup; what has sound rows is not affected.",
        details={"kind": DAMAGED_ROW},
    )


def unavailable(
    message: str, remedy: str, retry_after_ms: int | None = StoreUnavailable.retry_after_ms
) -> Fault:
    """Return the fault of a store that cannot serve now."""
    fault: Fault = StoreUnavailable(message, remedy=remedy)
    fault.retry_after_ms = retry_after_ms
    return fault


def final(message: str, remedy: str) -> Fault:
    """Return a fault that repeating the call will not cure."""
    return unavailable(message, remedy, retry_after_ms=None)
