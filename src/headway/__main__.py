"""`python -m headway`, and the `headway` program.

`headway mcp` is tried as a relay first, before anything slow is imported: MCP clients wait for it.
"""

import os
import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["mcp"] and _relayed():
        return
    from headway.cli.main import cli
    from headway.cli.stdout import Stdout

    if sys.stdout is None:  # it is closed; whatever is opened next must not take its place
        # As long as the process. By pathlib, --help would take a tenth longer for this alone.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout = Stdout(sys.stdout)
        # How wide the terminal is, is asked of the first stdout; that one has lost its file now.
        sys.__stdout__ = sys.stdout  # type: ignore[misc] # no other way to tell shutil
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")  # as stdout
    cli.main(prog_name="headway")


def _relayed() -> bool:
    from headway.home import process_claims, process_home, process_token
    from headway.mcp.relay.entry import relay_if_served
    from headway.mcp.relay.relaying import Wishes

    return relay_if_served(process_home(), Wishes(process_token(), process_claims()))


if __name__ == "__main__":
    main()
