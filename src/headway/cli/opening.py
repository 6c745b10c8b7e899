"""Opening the store for a command: what goes wrong is told in words and ends the command."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from headway.application.faults import Fault, fault_reply
from headway.bootstrap import look_at_home, open_engine
from headway.cli.refusing import Refusal, envelope
from headway.config import ConfigError, Settings, process_settings

if TYPE_CHECKING:
    from headway.application.engine import Engine
    from headway.application.home import Home


@contextmanager
def opened(
    workflow_path: tuple[str, ...] | None = None, refusal: type[Refusal] = Refusal
) -> Iterator[tuple[Settings, "Engine"]]:
    """Yield the settings and the engine of this home, perhaps on other workflow folders.

    Raises `refusal` for settings that cannot be used and for every fault.
    """
    with told(refusal):
        settings = process_settings()
        if workflow_path is not None:
            settings = replace(settings, workflow_path=workflow_path)
        with open_engine(settings) as engine:
            yield settings, engine


@contextmanager
def looked_at() -> Iterator[tuple[Settings, "Home"]]:
    """Yield the settings and this home, with nothing opened or made. Raises Refusal."""
    with told(Refusal):
        settings = process_settings()
        yield settings, look_at_home(settings)


@contextmanager
def told(refusal: type[Refusal]) -> Iterator[None]:
    """Turn settings that cannot be used, and every fault, into refusals."""
    try:
        yield
    except ConfigError as error:
        what = f"{error.setting}: {error.message}"
        raise refusal(envelope(what, error.remedy, "VALIDATION_ERROR")) from error
    except Fault as fault:
        raise refusal(fault_reply(fault)) from fault
