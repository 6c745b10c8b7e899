"""Opening the store for a command: what goes wrong is told in words and ends the command."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

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
    workflow_path: tuple[str, ...] | None = None,
    refusal: type[click.ClickException] = click.ClickException,
) -> Iterator[tuple[Settings, Engine]]:
    """Yield the settings and the engine of this home, perhaps on other workflow folders.

    Raises `refusal` for settings that cannot be used and for every fault.
    """
    try:
        settings = process_settings()
        if workflow_path is not None:
            settings = replace(settings, workflow_path=workflow_path)
        with open_engine(settings) as engine:
            yield settings, engine
    except ConfigError as error:
        raise refusal(str(error)) from error
    except Fault as fault:
        raise refusal(f"{fault.message}\n{fault.remedy}") from fault
