"""The home folder: where the store, the keys and the server's lock of one user are.

With it the token that opens a server's door, and what a client asks for that its server decides.
They are apart from the other settings because the relay needs them, and nothing else, before
anything slow is imported. Reads the environment as `config` does, by the same rule.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HOME: Final = "HEADWAY_HOME"
TOKEN: Final = "HEADWAY_TOKEN"
WORKFLOW_PATH: Final = "HEADWAY_WORKFLOW_PATH"
GATES: Final = "HEADWAY_GATES"
CHECKS: Final = "HEADWAY_CHECKS"
HOME_DEFAULT: Final = "~/.headway"


def process_home() -> Path:
    """Return the home folder of this process; see `home_folder`."""
    return home_folder(os.environ)


def process_token() -> str | None:
    """Return the token that this process may show to a server, if any."""
    return os.environ.get(TOKEN, "").strip() or None


def process_claims() -> dict[str, str]:
    """Return what this process asks for; see `claims`."""
    return claims(os.environ)


def claims(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of an environment that count only where a home is served.

    Just those that are set, by name, each as one text that is equal where the meaning is.
    """
    asked = {
        WORKFLOW_PATH: os.pathsep.join(
            dict.fromkeys(
                str(expand(entry.strip(), user_home(environ)))
                for entry in environ.get(WORKFLOW_PATH, "").split(os.pathsep)
                if entry.strip()
            )
        ),
        GATES: environ.get(GATES, "").strip().lower(),
        CHECKS: environ.get(CHECKS, "").strip().lower(),
    }
    return {name: text for name, text in asked.items() if text}


def home_folder(environ: Mapping[str, str]) -> Path:
    """Return the home folder that an environment names; relative where that was written so."""
    return expand(environ.get(HOME) or HOME_DEFAULT, user_home(environ))


def user_home(environ: Mapping[str, str]) -> Path:
    """Return the user's own home folder."""
    return Path(environ.get("HOME") or Path.home())


def expand(text: str, home: Path) -> Path:
    """Return a path with a leading `~` put in full."""
    if text == "~" or text.startswith(("~/", "~\\")):
        return home / text[2:]
    return Path(text)
