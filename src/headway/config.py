"""Settings: the one place that reads the environment, once, into a frozen value.

A setting that cannot be meant is refused with what to write instead; one that may be a slip (an
unknown name, a folder that is not there) is a warning and the program goes on. Below this module
only plain values travel.
"""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from headway.home import GATES, HOME, TOKEN, WORKFLOW_PATH, expand, home_folder, user_home

GateMode: TypeAlias = Literal["advisory", "enforce"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

PREFIX: Final = "HEADWAY_"
ELICITATION: Final = "HEADWAY_ELICITATION"
LOG_LEVEL: Final = "HEADWAY_LOG_LEVEL"
DATABASE_URL: Final = "HEADWAY_DATABASE_URL"
HOST: Final = "HEADWAY_HOST"
PORT: Final = "HEADWAY_PORT"
LEASE: Final = "HEADWAY_LEASE_SECONDS"
TEST_DATABASE_URL: Final = "HEADWAY_TEST_DATABASE_URL"
KNOWN: Final = (
    HOME,
    WORKFLOW_PATH,
    GATES,
    ELICITATION,
    LOG_LEVEL,
    DATABASE_URL,
    HOST,
    PORT,
    LEASE,
    TOKEN,
    TEST_DATABASE_URL,
)
SECRET: Final = (DATABASE_URL, TOKEN, TEST_DATABASE_URL)  # a password may stand in them

HOST_DEFAULT: Final = "127.0.0.1"
PORT_MAX: Final = 65_535
LEASE_SECONDS_DEFAULT: Final = 60
LEASE_SECONDS_MAX: Final = 3_600
TOKEN_LENGTH_MIN: Final = 16
DATABASE_SCHEMES: Final = ("postgresql", "postgres")


class ConfigError(Exception):
    """A setting that cannot be used: which one, why, and what to write instead."""

    def __init__(self, setting: str, message: str, remedy: str) -> None:
        super().__init__(f"{setting}: {message} {remedy}")
        self.setting: Final = setting
        self.message: Final = message
        self.remedy: Final = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the environment decides.

    `user_home` is the user's own home folder, shown as `~` in messages. `elicitation` lets a client
    put a gate before its user. `database_url` names a
    PostgreSQL database; None means the file in `home`. `host`, `port` and `token` are the server's:
    None means the usual ports, and a server that demands no token. `lease_ms` is how long a run may
    go without a sign of life before another worker takes it. `environment` is what child
    processes (git) inherit: no secret of ours. `warnings` are for the log, one sentence each.
    """

    home: Path
    user_home: Path
    workflow_path: tuple[str, ...] = ()
    gates: GateMode = "advisory"
    elicitation: bool = True
    log_level: LogLevel = "warning"
    database_url: str | None = field(default=None, repr=False)
    host: str = HOST_DEFAULT
    port: int | None = None
    lease_ms: int = LEASE_SECONDS_DEFAULT * 1_000
    token: str | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)


def process_settings() -> Settings:
    """Read the settings of this process."""
    return read_settings(os.environ)


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read settings from an environment; `ConfigError` names the first one that cannot be used."""
    own = user_home(environ)
    folders = _folders(environ.get(WORKFLOW_PATH, ""), own)
    missing = tuple(
        f"{WORKFLOW_PATH} names {folder}, which is not a folder (yet)."
        for folder in folders
        if not Path(folder).is_dir()
    )
    return Settings(
        home=_home(environ),
        user_home=own,
        workflow_path=folders,
        gates=_gates(environ.get(GATES) or "advisory"),
        elicitation=_elicitation(environ.get(ELICITATION) or "on"),
        log_level=_log_level(environ.get(LOG_LEVEL) or "warning"),
        database_url=_database_url(environ.get(DATABASE_URL) or ""),
        host=environ.get(HOST) or HOST_DEFAULT,
        port=_port(environ.get(PORT) or ""),
        lease_ms=_lease_ms(environ.get(LEASE) or str(LEASE_SECONDS_DEFAULT)),
        token=checked_token(TOKEN, environ[TOKEN]) if environ.get(TOKEN) else None,
        warnings=(*_unknown(environ), *missing),
        environment={name: text for name, text in environ.items() if name not in SECRET},
    )


def _home(environ: Mapping[str, str]) -> Path:
    folder = home_folder(environ)
    if not folder.is_absolute():
        raise ConfigError(
            HOME,
            f"{environ[HOME]!r} is a relative path, which would mean a store in every folder.",
            "Give an absolute path, or one that begins with ~/.",
        )
    return folder


def _database_url(text: str) -> str | None:
    """Return the address of a database; what is wrong with one is told without repeating it."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        _ = parts.hostname, parts.port  # a port that is no number is found out here
    except ValueError:
        parts = urlsplit("")
    # An @ further on is the rest of a password that holds a character with a meaning of its own.
    if parts.scheme not in DATABASE_SCHEMES or "@" in parts.path + parts.query + parts.fragment:
        raise ConfigError(
            DATABASE_URL,
            "it is not the address of a PostgreSQL database.",
            "Write postgresql://user:password@host:5432/database, odd characters as %-codes, "
            f"or unset it to keep sessions in a file under {HOME}.",
        )
    return text


def _port(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or int(text) > PORT_MAX:
        raise ConfigError(PORT, f"{text!r} is not a port.", f"Give a number from 0 to {PORT_MAX}.")
    return int(text)


def _lease_ms(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LEASE_SECONDS_MAX:
        raise ConfigError(
            LEASE,
            f"{text!r} is not a length of time it takes.",
            f"Give whole seconds, 1 to {LEASE_SECONDS_MAX}.",
        )
    return int(text) * 1_000


def checked_token(source: str, text: str) -> str:
    """Return a server's token, which `source` holds; ConfigError when it is none.

    What is wrong with one is told without repeating it.
    """
    token = text.strip()
    printable = token.isascii() and token.isprintable() and " " not in token
    if len(token) < TOKEN_LENGTH_MIN or not printable:
        raise ConfigError(
            source,
            "it does not hold a token: a line of printable characters without spaces, "
            f"at least {TOKEN_LENGTH_MIN} of them.",
            "Make one with: openssl rand -hex 32",
        )
    return token


def _folders(text: str, own: Path) -> tuple[str, ...]:
    found: list[str] = []
    for entry in text.split(os.pathsep):
        if not entry.strip():
            continue
        folder = expand(entry.strip(), own)
        if not folder.is_absolute():
            raise ConfigError(
                WORKFLOW_PATH,
                f"{entry!r} is a relative path, which would mean other workflows in every folder.",
                f"Give absolute paths, joined by {os.pathsep!r}.",
            )
        if str(folder) not in found:
            found.append(str(folder))
    return tuple(found)


def _gates(text: str) -> GateMode:
    match text.strip().lower():
        case "advisory":
            return "advisory"
        case "enforce":
            return "enforce"
        case _:
            raise _not_one_of(GATES, text, get_args(GateMode))


def _elicitation(text: str) -> bool:
    match text.strip().lower():
        case "on":
            return True
        case "off":
            return False
        case _:
            raise _not_one_of(ELICITATION, text, ("on", "off"))


def _log_level(text: str) -> LogLevel:
    match text.strip().lower():
        case "debug":
            return "debug"
        case "info":
            return "info"
        case "warning":
            return "warning"
        case "error":
            return "error"
        case _:
            raise _not_one_of(LOG_LEVEL, text, get_args(LogLevel))


def _not_one_of(setting: str, text: str, allowed: tuple[str, ...]) -> ConfigError:
    near = difflib.get_close_matches(text.lower(), allowed, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return ConfigError(
        setting, f"{text!r} is not a value it takes.", f"Use {' or '.join(allowed)}.{hint}"
    )


def _unknown(environ: Mapping[str, str]) -> tuple[str, ...]:
    warnings = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in KNOWN:
            continue
        near = difflib.get_close_matches(name, KNOWN, n=1, cutoff=0.75)
        hint = f" Did you mean {near[0]}?" if near else ""
        warnings.append(f"{name} is set but means nothing to this version.{hint}")
    return tuple(warnings)
