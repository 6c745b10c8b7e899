"""Words that the commands about runs share."""

import click

from headway.cli.completing import complete_run

RUN = click.argument("run", shell_complete=complete_run)
BY = click.option("--by", metavar="NAME", help="Who speaks; by default the user's name.")
