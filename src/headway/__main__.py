"""`python -m headway`, and the `headway` program."""

import sys
from io import TextIOWrapper

from headway.cli.main import cli


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What a terminal cannot show is a question mark on it, never a reason to fail.
            stream.reconfigure(errors="replace")
    cli.main(prog_name="headway")


if __name__ == "__main__":
    main()
