"""Who is at the command line: the name under which what they say is recorded."""

import os
import pwd

import click

from headway.config import Settings


def user_name(settings: Settings) -> str:
    """Return the user's name. Raises UsageError where the system has none."""
    named = (settings.environment.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
    known = next((name for name in named if name), None)
    try:
        return known or pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        told = "This process has no user's name: say who speaks with --by NAME."
        raise click.UsageError(told) from None
