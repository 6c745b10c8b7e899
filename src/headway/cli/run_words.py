"""Words that the commands about runs share."""

import click

from headway.application.submit_run import Submitted
from headway.cli.completing import complete_run
from headway.cli.listed import A_RUN
from headway.cli.terminal import remark

RUN = click.argument("run", type=A_RUN, shell_complete=complete_run)
BY = click.option("--by", metavar="NAME", help="Who speaks; by default the user's name.")


def warn_of(submitted: Submitted) -> None:
    """Say on stderr what the model of a run lacks here."""
    if submitted.warning is not None:
        remark(f"Warning: {submitted.warning}")
