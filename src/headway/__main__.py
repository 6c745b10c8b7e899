"""`python -m headway`, and the `headway` program.

`headway mcp` is tried as a relay first, before anything slow is imported: MCP clients wait for it.
"""

import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["mcp"] and _relayed():
        return
    from headway.cli.main import cli

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What a terminal cannot show is a question mark on it, never a reason to fail.
            stream.reconfigure(errors="replace")
    cli.main(prog_name="headway")


def _relayed() -> bool:
    from headway.home import process_claims, process_home, process_token
    from headway.mcp.relay.entry import relay_if_served
    from headway.mcp.relay.relaying import Wishes

    return relay_if_served(process_home(), Wishes(process_token(), process_claims()))


if __name__ == "__main__":
    main()
