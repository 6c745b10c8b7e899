"""`python -m headway`, and the `headway` program."""

from headway.cli.main import cli


def main() -> None:
    """Run the command line."""
    cli.main(prog_name="headway")


if __name__ == "__main__":
    main()
