"""Opening the store of this home for a command; what goes wrong is told in words and ends it."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from headway.application.engine import Engine
from headway.application.faults import Fault
from headway.bootstrap import open_engine
from headway.config import ConfigError, Settings, process_settings


class CannotTell(click.ClickException):
    """A command that found out nothing, where 1 means that it found something."""

    exit_code = 2


@contextmanager
def opened(
    refusal: type[click.ClickException] = click.ClickException,
) -> Iterator[tuple[Settings, Engine]]:
    """Yield settings and engine; a fault ends the command as `refusal`."""
    try:
        settings = process_settings()
        with open_engine(settings) as engine:
            yield settings, engine
    except ConfigError as error:
        raise refusal(str(error)) from error
    except Fault as fault:
        raise refusal(f"{fault.message}\n{fault.remedy}") from fault
