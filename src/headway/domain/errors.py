"""Faults: what a caller did, or met, that cannot be answered. Closed codes, each with a remedy.

A refusal of the engine's rules (a blocked attempt) is a value, not a fault; a bug is an `assert`.
A fault changes nothing: whoever raises it has not written yet.
"""

from enum import StrEnum
from typing import Final

from headway.domain.values import JsonObject


class Code(StrEnum):
    """The codes a caller may meet, with the recorded names that existing agents know."""

    VALIDATION_ERROR = "VALIDATION_ERROR"
    NOT_FOUND = "NOT_FOUND"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    TIMEOUT = "TIMEOUT"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    TOKEN_INVALID_FORMAT = "TOKEN_INVALID_FORMAT"
    TOKEN_BAD_SIGNATURE = "TOKEN_BAD_SIGNATURE"
    TOKEN_SCOPE_MISMATCH = "TOKEN_SCOPE_MISMATCH"
    TOKEN_UNKNOWN_NODE = "TOKEN_UNKNOWN_NODE"
    SESSION_BUSY = "SESSION_BUSY"
    SESSION_NOT_HEALTHY = "SESSION_NOT_HEALTHY"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    ENGINE_UNAVAILABLE = "ENGINE_UNAVAILABLE"


class Fault(Exception):
    """The root of every fault: a code, what happened, what to do next, and whether to try again.

    `retry_after_ms` is None when the same call will fail again, 0 when it may be repeated at once,
    else the wait in milliseconds. `session` is the session it was met in, where that is known: for
    the log, never for the caller.
    """

    code: Code = Code.INTERNAL_ERROR
    retry_after_ms: int | None = None
    session: str | None = None

    def __init__(self, message: str, *, remedy: str, details: JsonObject | None = None) -> None:
        super().__init__(message)
        self.message: Final = message
        self.remedy: Final = remedy
        self.details: Final = dict(details or {})


class InvalidInput(Fault):
    """The call itself is malformed, too large or carries a value that cannot be kept."""

    code = Code.VALIDATION_ERROR


class NotFound(Fault):
    """A named thing does not exist."""

    code = Code.NOT_FOUND


class PreconditionFailed(Fault):
    """The call is well formed but the workflow or its context does not allow it yet."""

    code = Code.PRECONDITION_FAILED


class TokenFault(Fault):
    """A token that cannot be accepted; the code says why."""

    def __init__(self, code: Code, message: str, *, remedy: str) -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


class SessionBusy(Fault):
    """Too many concurrent writers on one session; repeating the call is safe."""

    code = Code.SESSION_BUSY
    retry_after_ms = 250


class SessionNotHealthy(Fault):
    """A stored record of this session cannot be read or does not match its proof."""

    code = Code.SESSION_NOT_HEALTHY


class StoreUnavailable(Fault):
    """The store could not be read or written; nothing of the call was kept."""

    code = Code.STORE_UNAVAILABLE
    retry_after_ms = 1000


class EngineUnavailable(Fault):
    """An engine elsewhere could not be reached; a call that had arrived is not done twice."""

    code = Code.ENGINE_UNAVAILABLE
    retry_after_ms = 1000
