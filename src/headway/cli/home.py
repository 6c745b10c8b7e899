"""The store of this home, opened for one command of a person."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from headway.application.engine import Engine
from headway.application.faults import Fault
from headway.bootstrap import open_engine
from headway.config import ConfigError, Settings, process_settings


@contextmanager
def opened_home() -> Iterator[tuple[Settings, Engine]]:
    """Open the store of this home; what goes wrong is told in words and ends the command."""
    try:
        settings = process_settings()
        with open_engine(settings) as engine:
            yield settings, engine
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    except Fault as fault:
        raise click.ClickException(f"{fault.message}\n{fault.remedy}") from fault
