"""Settings: the one place that reads the environment, once, into a frozen value.

A setting that cannot be meant is refused with what to write instead; one that may be a slip (an
unknown name, a folder that is not there) is a warning and the program goes on. Below this module
only plain values travel.
"""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import unquote, urlsplit

from headway.domain.masking import MASKED_LENGTH_MIN, can_be_masked
from headway.home import CHECKS, GATES, HOME, TOKEN, WORKFLOW_PATH, expand, home_folder, user_home

GateMode: TypeAlias = Literal["advisory", "enforce"]
ChecksMode: TypeAlias = Literal["off", "run"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

PREFIX: Final = "HEADWAY_"
ELICITATION: Final = "HEADWAY_ELICITATION"
LOG_LEVEL: Final = "HEADWAY_LOG_LEVEL"
DATABASE_URL: Final = "HEADWAY_DATABASE_URL"
HOST: Final = "HEADWAY_HOST"
PORT: Final = "HEADWAY_PORT"
ENGINE_URL: Final = "HEADWAY_ENGINE_URL"
ENGINE_TOKEN: Final = "HEADWAY_ENGINE_TOKEN"
LEASE: Final = "HEADWAY_LEASE_SECONDS"
WORKER_RUNS: Final = "HEADWAY_WORKER_RUNS"
WORKSPACE_RUNS_MAX: Final = "HEADWAY_WORKSPACE_RUNS_MAX"
RUNS_MAX: Final = "HEADWAY_RUNS_MAX"
GRACE: Final = "HEADWAY_GRACE_SECONDS"
RUN_MARK: Final = "HEADWAY_RUN"  # no setting: what the tools of a run begin bears it
TEST_DATABASE_URL: Final = "HEADWAY_TEST_DATABASE_URL"
KNOWN: Final = (
    HOME,
    WORKFLOW_PATH,
    GATES,
    CHECKS,
    ELICITATION,
    LOG_LEVEL,
    DATABASE_URL,
    HOST,
    PORT,
    LEASE,
    ENGINE_URL,
    ENGINE_TOKEN,
    WORKER_RUNS,
    WORKSPACE_RUNS_MAX,
    RUNS_MAX,
    GRACE,
    TOKEN,
    TEST_DATABASE_URL,
)
SECRET: Final = (
    DATABASE_URL,
    TOKEN,
    ENGINE_TOKEN,
    TEST_DATABASE_URL,
)  # a password may stand in them

HOST_DEFAULT: Final = "127.0.0.1"
PORT_MAX: Final = 65_535
LEASE_SECONDS_DEFAULT: Final = 60
LEASE_SECONDS_MAX: Final = 3_600
WORKER_RUNS_DEFAULT: Final = 3
RUNS_AT_ONCE_MAX: Final = 10_000
GRACE_SECONDS_DEFAULT: Final = 30
GRACE_SECONDS_MAX: Final = 86_400
# What others keep a secret in; a name that ends in FILE, say, holds where one is.
SECRET_NAME: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$", re.IGNORECASE)
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
    put a gate before its user. `checks` lets the server run the commands that workflows declare;
    runs always do, since their model has a shell anyway. `database_url` names a PostgreSQL
    database; None means the file in `home`. `host`, `port` and `token` are the server's:
    None means the usual ports, and a server that demands no token. `lease_ms` is how long a run may
    go without a sign of life before another worker takes it. `worker_runs` is how many runs one
    worker drives at once, `workspace_runs_max` and `runs_max` how many all workers together drive
    in one workspace and in all, None without bound; `grace_seconds` how long a turn may still take
    when a worker is told to stop. `engine_url` is where the sessions of new runs are kept when that
    is not this store, and `engine_token` what that server demands. `environment` is what child
    processes (git) inherit: no secret of ours. `warnings` are for the log, one sentence each.
    """

    home: Path
    user_home: Path
    workflow_path: tuple[str, ...] = ()
    gates: GateMode = "advisory"
    checks: ChecksMode = "off"
    elicitation: bool = True
    log_level: LogLevel = "warning"
    database_url: str | None = field(default=None, repr=False)
    host: str = HOST_DEFAULT
    port: int | None = None
    lease_ms: int = LEASE_SECONDS_DEFAULT * 1_000
    worker_runs: int = WORKER_RUNS_DEFAULT
    workspace_runs_max: int | None = None
    runs_max: int | None = None
    grace_seconds: int = GRACE_SECONDS_DEFAULT
    token: str | None = field(default=None, repr=False)
    engine_url: str | None = None
    engine_token: str | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return all that must not stand in a message, as far as it is known here."""
        password = unquote(urlsplit(self.database_url or "").password or "")
        named = (text for name, text in self.environment.items() if SECRET_NAME.search(name))
        return tuple(filter(None, (self.token, self.engine_token, password, *named)))


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
        checks=_checks(environ.get(CHECKS) or "off"),
        elicitation=_elicitation(environ.get(ELICITATION) or "on"),
        log_level=_log_level(environ.get(LOG_LEVEL) or "warning"),
        database_url=_database_url(environ.get(DATABASE_URL) or ""),
        host=environ.get(HOST) or HOST_DEFAULT,
        port=_port(environ.get(PORT) or ""),
        lease_ms=_whole(environ, LEASE, LEASE_SECONDS_MAX, "seconds", LEASE_SECONDS_DEFAULT)
        * 1_000,
        worker_runs=_whole(environ, WORKER_RUNS, RUNS_AT_ONCE_MAX, "runs", WORKER_RUNS_DEFAULT),
        workspace_runs_max=_bound(environ, WORKSPACE_RUNS_MAX),
        runs_max=_bound(environ, RUNS_MAX),
        grace_seconds=_whole(environ, GRACE, GRACE_SECONDS_MAX, "seconds", GRACE_SECONDS_DEFAULT),
        engine_url=environ.get(ENGINE_URL) or None,
        engine_token=_token_set(environ, ENGINE_TOKEN),
        token=_token_set(environ, TOKEN),
        warnings=(*_unknown(environ), *missing, *_bare(environ)),
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


def _bound(environ: Mapping[str, str], name: str) -> int | None:
    return _whole(environ, name, RUNS_AT_ONCE_MAX, "runs", 1) if environ.get(name) else None


def _whole(environ: Mapping[str, str], name: str, most: int, unit: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise ConfigError(
            name, f"{text!r} is not a number it takes.", f"Give whole {unit}, 1 to {most}."
        )
    return int(text)


def _token_set(environ: Mapping[str, str], name: str) -> str | None:
    return checked_token(name, environ[name]) if environ.get(name) else None


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


def _checks(text: str) -> ChecksMode:
    match text.strip().lower():
        case "off":
            return "off"
        case "run":
            return "run"
        case _:
            raise _not_one_of(CHECKS, text, get_args(ChecksMode))


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


def _bare(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Warn of a password that messages cannot be kept clear of."""
    password = unquote(urlsplit(environ.get(DATABASE_URL) or "").password or "")
    if not password or can_be_masked(password):
        return ()
    few = f"fewer than {MASKED_LENGTH_MIN} characters, too few to be masked in messages"
    return (f"The password in {DATABASE_URL} has {few}.",)


def _unknown(environ: Mapping[str, str]) -> tuple[str, ...]:
    warnings = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in (*KNOWN, RUN_MARK):
            continue
        near = difflib.get_close_matches(name, KNOWN, n=1, cutoff=0.75)
        hint = f" Did you mean {near[0]}?" if near else ""
        warnings.append(f"{name} is set but means nothing to this version.{hint}")
    return tuple(warnings)
