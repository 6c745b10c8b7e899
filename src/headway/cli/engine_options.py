"""Where the sessions of runs are kept when that is a server elsewhere: `--engine-url`."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import click

from headway.bootstrap import remote_engine
from headway.config import ENGINE_TOKEN, ConfigError, Settings, checked_token
from headway.domain.errors import InvalidInput


class Asked(NamedTuple):
    """What the options say: an address, and the file with that server's token."""

    url: str | None
    token_file: Path | None


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command is given them as `engine`, which `with_engine` reads."""

    @wraps(command)
    def called(
        *args: object, engine_url: str | None, engine_token_file: Path | None, **more: object
    ) -> None:
        command(*args, engine=Asked(engine_url, engine_token_file), **more)

    for option in (
        click.option(
            "--engine-token-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help=f"File with that server's token; or set {ENGINE_TOKEN}.",
        ),
        click.option(
            "--engine-url",
            metavar="URL",
            help="Keep sessions on the headway up at this address; or set HEADWAY_ENGINE_URL.",
        ),
    ):
        called = option(called)
    return called


def with_engine(settings: Settings, asked: Asked) -> Settings:
    """Return the settings with what the options say instead.

    Raises InvalidInput for an address or a file that cannot be used.
    """
    settings = replace(
        settings,
        engine_url=asked.url or settings.engine_url,
        engine_token=_token_in(asked.token_file) if asked.token_file else settings.engine_token,
    )
    if settings.engine_url:
        remote_engine(settings, settings.engine_url)  # an address that is none is told at once
    return settings


def _token_in(path: Path) -> str:
    try:
        return checked_token(str(path), path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise InvalidInput(
            f"{path} does not hold a token that can be used.",
            remedy="Name the file whose one line is the token that headway up was started with.",
            details={"kind": "engine_token_file"},
        ) from error
