"""`python -m headway`, and the `headway` program.

`headway mcp` is tried as a relay first, before anything slow is imported: MCP clients wait for it.
"""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["mcp"] and _relayed():
        return
    from headway.cli.main import cli

    cli.main(prog_name="headway")


def _relayed() -> bool:
    from headway.home import process_home, process_token
    from headway.mcp.relay.entry import relay_if_served

    return relay_if_served(process_home(), process_token())


if __name__ == "__main__":
    main()
