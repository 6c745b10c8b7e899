"""Faults as a surface sees them: what it may raise and how every fault is told to a caller.

The envelope is `{code, message, retry, details{suggestion, ...}}`. The user's home folder never
appears in it: it is shown as `~`, in the message and everywhere in the details.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from headway.domain.errors import Code, Fault, InvalidInput, NotFound
from headway.domain.values import Json

__all__ = ["Fault", "InvalidInput", "NotFound", "fault_reply", "internal_fault"]

INTERNAL_MESSAGE: Final = (
    "The engine met a condition it was not built for; the call changed nothing it had not recorded."
)
INTERNAL_REMEDY: Final = (
    "Repeat the call once: a recorded outcome is returned, never applied twice. "
    "If it fails again, pass this message and the server's log to whoever runs the server."
)


def internal_fault() -> Fault:
    """Return the fault that stands for a bug: it names no internals, the log has them."""
    fault = Fault(INTERNAL_MESSAGE, remedy=INTERNAL_REMEDY)
    fault.retry_after_ms = 0
    assert fault.code is Code.INTERNAL_ERROR
    return fault


def fault_reply(fault: Fault, home: str = "") -> dict[str, Json]:
    """Return the error envelope of a fault, with the home folder shown as `~`."""
    hide = _hider(home)
    details: dict[str, Json] = {"suggestion": fault.remedy, **fault.details}
    return {
        "code": fault.code.value,
        "message": hide(fault.message),
        "retry": _retry(fault.retry_after_ms),
        "details": {key: _walk(value, hide) for key, value in details.items()},
    }


def _retry(after_ms: int | None) -> dict[str, Json]:
    if after_ms is None:
        return {"kind": "not_retryable"}
    if after_ms == 0:
        return {"kind": "retryable_immediate"}
    return {"kind": "retryable_after_ms", "afterMs": after_ms}


def _hider(home: str) -> Callable[[str], str]:
    trimmed = home.rstrip("/\\")
    if not trimmed:
        return lambda text: text
    # A longer name that merely begins like the home folder is another folder.
    pattern = re.compile(re.escape(trimmed) + r"(?![\w.-]*\w)")
    return lambda text: pattern.sub("~", text)


def _walk(value: Json, hide: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {hide(key): _walk(item, hide) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(item, hide) for item in value]
    return value
