"""Sealing this process: its memory and environment are nobody's to read but root's.

The commands of a run are those of this user, who may otherwise read the environment of each of
his processes, with all keys that stand in it. What this process begins is not sealed: an `exec`
undoes it, so nothing that holds a secret may be handed on (`processes.without_secrets`).
"""

import ctypes
import sys
from typing import Final

PR_SET_DUMPABLE: Final = 4


def seal_process() -> None:
    """Have the system refuse to show this process to others of its user; on Linux alone.

    It leaves no core file either, and no debugger of its user gets hold of it. Raises OSError.
    """
    if sys.platform != "linux":
        return
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")
