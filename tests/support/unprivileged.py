"""Processes that see of others only what any user sees of his own, whoever runs the tests."""

import sys
from typing import Final

# Root reads everything by its capabilities, which are given up for good before the program begins.
LAUNCH: Final = """
import ctypes, os, sys
from pathlib import Path
PR_CAPBSET_DROP = 24
if os.geteuid() == 0:
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1):
        if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            sys.exit(f"the capability {capability} cannot be given up")
os.execvp(sys.argv[1], sys.argv[1:])
"""


def unprivileged(*words: str) -> list[str]:
    """Return the command that runs this one so."""
    return [sys.executable, "-c", LAUNCH, *words]
