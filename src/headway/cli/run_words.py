"""Words that the commands about runs share."""

import click

from headway.cli.completing import complete_run
from headway.cli.listed import A_RUN

RUN = click.argument("run", type=A_RUN, shell_complete=complete_run)
BY = click.option("--by", metavar="NAME", help="Who speaks; by default the user's name.")
