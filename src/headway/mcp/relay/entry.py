"""Where the relay begins: is this home served? Then relay; else whoever asked serves by himself."""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Final

from headway.mcp.lines import LINE_BYTES_MAX, read_lines, tell_a_person
from headway.mcp.relay.relaying import Relay, Wishes
from headway.sealing import keep_to_itself
from headway.server_lock import Running, read_lock

EXIT_INTERRUPTED: Final = 130


def relay_if_served(home: Path, wishes: Wishes) -> bool:
    """Relay between stdin, stdout and the server of a home until the client leaves.

    Returns False, at once and with nothing read, when there is no server.
    """
    look = partial(_look, home)
    if look() is None:
        return False
    keep_to_itself()
    out = os.dup(1)
    tell_a_person()
    os.dup2(2, 1)  # stdout carries the protocol alone: whatever else prints goes to stderr
    try:
        _relay(Relay(look, out, wishes))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    return True


def _look(home: Path) -> Running | None:
    """Return the server of a home; what cannot be read is left to whoever opens the home."""
    try:
        return read_lock(home)
    except OSError:
        return None


def _relay(relay: Relay) -> None:
    for line in read_lines(partial(os.read, 0), LINE_BYTES_MAX):
        if not line.whole:
            from headway.mcp.frames import over_long

            relay.tell(json.dumps(over_long(line.data).reply()).encode())
        elif line.data.strip():
            relay.receive(line.data)
    relay.drain()
