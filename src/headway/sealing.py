"""Sealing this process: its memory and environment are nobody's to read but root's.

The commands of runs and checks are those of this user, who may otherwise read the environment of
each of his processes, with all keys that stand in it. What this process begins is not sealed: an
`exec` undoes it, so nothing that holds a secret may be handed on (`processes.without_secrets`).
Standard library alone, so that the relay starts at once.
"""

import sys
from typing import Final

PR_SET_DUMPABLE: Final = 4


def keep_to_itself() -> None:
    """Have the system refuse to show this process to others of its user; on Linux alone.

    It leaves no core file either, and no debugger of its user gets hold of it. Where the system
    does not let it, that is told, and the process goes on.
    """
    if sys.platform != "linux":
        return
    try:
        _seal()
    except (ImportError, OSError) as error:
        import logging  # the relay starts without it

        logging.getLogger(__name__).warning(
            "Other processes of this user can read this one's environment: %s", error
        )


def _seal() -> None:
    import ctypes  # not every Python has it

    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")
