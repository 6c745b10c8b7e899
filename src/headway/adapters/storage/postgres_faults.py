"""What PostgreSQL may answer instead of serving, in words and with a way out.

No message repeats the address as it was given: there may be a password in it.
"""

from typing import Final

import psycopg

from headway.adapters.storage.store_faults import (
    REPEAT,
    damaged,
    final,
    no_room,
    unavailable,
)
from headway.domain.errors import Fault
from headway.domain.masking import masked

SETTING: Final = "HEADWAY_DATABASE_URL"

# What will not change by itself: the beginning of the server's code, what to say, what to do.
_LASTING: Final = (
    ("28", "refuses this user", f"Check user and password in {SETTING}, and the server's access."),
    ("3D000", "does not have this database", f"Create the database, or name another in {SETTING}."),
    ("3F000", "does not have this schema", f"Create the schema, or name another in {SETTING}."),
    ("42501", "does not permit this to its user", "Grant the user all rights on its schema."),
    ("25006", "only reads", f"Name the primary server, which writes, in {SETTING}."),
    ("42", "has other tables than expected", "Give Headway a schema of its own."),
)

_PASSING: Final = (
    ("53300", "has no connection free", "Raise max_connections, or stop a client; then repeat."),
    ("53", "is short of means", "Look at its memory and disk, then repeat the call."),
    ("55P03", "has this locked for another client", "Repeat the call."),
    ("57P", "is stopping or starting", "Wait until it is back, then repeat the call."),
    ("40", "had too many writers at one place", "Repeat the call; nothing of it was kept."),
)


def server_fault(error: BaseException, place: str, secret: str = "") -> Fault:
    """Return the fault that a driver's error stands for; the secret is masked."""
    code = getattr(error, "sqlstate", None) or ""
    if code == "53100":
        return no_room(place)
    if code.startswith(("XX", "22", "23")):
        return damaged(_first_line(error), place)
    for start, problem, remedy in _LASTING:
        if code.startswith(start):
            return final(f"The store {place} {problem} ({code}).", remedy)
    for start, problem, remedy in _PASSING:
        if code.startswith(start):
            return unavailable(f"The store {place} {problem} ({code}).", remedy)
    if not code and isinstance(error, psycopg.OperationalError):
        reason = str(error).strip().splitlines()[-1:] or [type(error).__name__]
        told = masked(reason[0].strip(), (secret,))
        return unavailable(
            f"The store {place} cannot be reached: {told}.",
            f"See that the server runs, and that {SETTING} has the right address, user, password "
            "and database, then repeat the call.",
        )
    return unavailable(
        f"The store {place} could not serve ({code or type(error).__name__}).",
        "Repeat the call; if it goes on, look into the server's log.",
    )


def outcome_unknown(place: str) -> Fault:
    """Return the fault of a write whose connection was lost, with no server to ask about it."""
    return unavailable(
        f"The store {place} was lost while it committed this call, and could not be asked since.",
        f"See that the server runs. {REPEAT}",
    )


def other_tables(place: str) -> Fault:
    """Return the fault of a schema that holds something else."""
    return final(
        f"The schema of {place} holds tables that are not Headway's, or only a part of them.",
        f"Name a database or a schema of its own: {SETTING}=postgresql://.../name"
        "?options=-csearch_path%3Dheadway",
    )


def not_unicode(place: str, encoding: str) -> Fault:
    """Return the fault of a database that cannot keep every text."""
    return final(
        f"The store {place} has the encoding {encoding}.",
        "Create a database with ENCODING 'UTF8' for Headway.",
    )


def not_an_address() -> Fault:
    """Return the fault of an address that the driver cannot read."""
    return final(
        f"{SETTING} is not an address of a PostgreSQL database.",
        "Write postgresql://user:password@host:5432/database, odd characters as %-codes.",
    )


def _first_line(error: BaseException) -> str:
    diagnosis = getattr(error, "diag", None)
    return str(getattr(diagnosis, "message_primary", None) or type(error).__name__)
