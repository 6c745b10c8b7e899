"""The log of faults: one line for each call that could not be answered, for whoever watches.

A blocked attempt is an event of its session. A call that ends in a fault (a forged token, a
reserved key, a tool that does not exist) changes nothing, so the line is its one trace. It says
which tool, which code and, where that is known, which session and attempt. It repeats nothing a
caller sent but the tool's name and the part of a token that opens nothing.
"""

import logging
import re
from typing import Final

from headway.application.faults import Fault
from headway.application.requests import JsonObject

TOOL_SHOWN_MAX: Final = 80
# The kind and the nonce of a token. What makes it good, the signature behind them, is not kept.
UNSIGNED: Final = re.compile(r"(?:ct|ck|st)_[A-Za-z0-9_-]{16}")
TOKEN_FIELDS: Final = ("continueToken", "checkpointToken")

logger = logging.getLogger(__name__)


def log_fault(tool: str, arguments: JsonObject, fault: Fault) -> None:
    """Write the line for a call that ended in a fault."""
    kind = fault.details.get("kind")
    facts = {
        "tool": ascii(tool[:TOOL_SHOWN_MAX]),
        "code": fault.code.value,
        "kind": kind if isinstance(kind, str) else None,
        "session": fault.session,
        "attempt": _attempt(arguments),
    }
    told = " ".join(f"{name}={value}" for name, value in facts.items() if value)
    logger.warning("fault %s", told, extra={"action": "call_faulted", "facts": facts})


def _attempt(arguments: JsonObject) -> str | None:
    for field in TOKEN_FIELDS:
        token = arguments.get(field)
        found = UNSIGNED.match(token) if isinstance(token, str) else None
        if found:
            return found[0]
    return None
