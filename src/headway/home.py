"""The home folder: where the store, the keys and the server's lock of one user are.

With it the token that opens a server's door. Both apart from the other settings because the relay
needs them, and nothing else, before anything slow is imported. Reads the environment as `config`
does, by the same rule.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HOME: Final = "HEADWAY_HOME"
TOKEN: Final = "HEADWAY_TOKEN"
HOME_DEFAULT: Final = "~/.headway"


def process_home() -> Path:
    """Return the home folder of this process; see `home_folder`."""
    return home_folder(os.environ)


def process_token() -> str | None:
    """Return the token that this process may show to a server, if any."""
    return os.environ.get(TOKEN, "").strip() or None


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
