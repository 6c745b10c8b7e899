"""The addresses of git repositories: which ones may be fetched, before git sees any of them.

git takes much for an address that is none: options, and `helper::` forms that run programs. So what
is allowed is listed here, and all else refused. Nothing here repeats an address that may hold a
secret.
"""

import re
from typing import Final

from headway.domain.errors import InvalidInput

URL_LENGTH_MAX: Final = 2_048
NAME_LENGTH_MAX: Final = 250
PATH_LENGTH_MAX: Final = 1_000
ID_LENGTH_MAX: Final = 40
_HOST: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9._+-]*"
_PATH: Final = r"[^\s?#@\\:]+"
_HTTPS: Final = re.compile(rf"https://{_HOST}(?::\d{{1,5}})?/{_PATH}")
_SSH: Final = re.compile(rf"ssh://(?:{_USER}@)?{_HOST}(?::\d{{1,5}})?/{_PATH}")
_SCP: Final = re.compile(rf"(?:{_USER}@)?{_HOST}:(?![/\\]{{2}}|:)(?!-){_PATH}")
_REF: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_UNFIT_IN_ID: Final = re.compile(r"[^a-z0-9_-]+")
_TAKEN: Final = (
    "Give https://host/path, ssh://user@host/path, user@host:path, or the absolute path of a "
    "repository on this machine."
)


def checked_address(text: str) -> str:
    """Return an address that may be fetched from. Raises InvalidInput for any other."""
    if len(text) > URL_LENGTH_MAX:
        raise _refused("is too long", _TAKEN)
    if not text.isprintable():
        raise _refused("holds control characters", _TAKEN)
    if text.startswith("/"):
        return text
    if text.startswith("-"):
        raise _refused("begins with a dash, as options do", _TAKEN)
    if "::" in text:
        raise _refused("names a helper program, as ext:: does", _TAKEN)
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if scheme == "file":
        raise _refused("is a file: address", "Give the plain path of the repository instead.")
    if scheme in ("http", "git"):
        raise _refused(
            f"uses {scheme}, which anybody on the way could change", "Use https or ssh instead."
        )
    if scheme == "https" and "@" in text:
        raise _refused(
            "holds a user's name or a password",
            "Leave it out: git asks its credential helper, or use an ssh address.",
        )
    if not any(form.fullmatch(text) for form in (_HTTPS, _SSH, _SCP)):
        raise _refused("is not one that can be fetched from", _TAKEN)
    return text


def protocol_of(address: str) -> str:
    """Return the one protocol, in git's words, that a checked address needs."""
    if address.startswith("/"):
        return "file"
    return "https" if address.startswith("https:") else "ssh"


def checked_ref(text: str) -> str:
    """Return a branch, tag or commit; empty for the default branch. Raises InvalidInput."""
    fit = not text or (_REF.fullmatch(text) and ".." not in text and len(text) <= NAME_LENGTH_MAX)
    if not fit:
        raise InvalidInput(
            f"{text[:NAME_LENGTH_MAX]!a} is not the name of a branch, a tag or a commit.",
            remedy="Give a name of letters, digits and _ . / - that begins with none of the last.",
            details={"kind": "git_ref"},
        )
    return text


def checked_path(text: str) -> str:
    """Return a folder inside a repository, without slashes around it; empty for all of it.

    Raises InvalidInput.
    """
    path = text.strip("/") if not text.startswith("/") else text
    if path and not is_inside(path):
        raise InvalidInput(
            f"{text[:NAME_LENGTH_MAX]!a} is not the path of a folder inside a repository.",
            remedy="Give it relative to the repository's root, such as tools/workflows.",
            details={"kind": "git_path"},
        )
    return path


def is_inside(path: str) -> bool:
    """Tell whether a relative path, parted by slashes, stays where it is put and can be written."""
    if not path.isprintable() or "\\" in path or len(path) > PATH_LENGTH_MAX:
        return False
    parts = path.split("/")
    plain = all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts)
    return plain and all(len(part.encode()) <= NAME_LENGTH_MAX for part in parts)


def id_for(address: str, taken: frozenset[str]) -> str:
    """Return a short id for a repository, after its name, that is not taken."""
    name = re.split(r"[/:]", address.rstrip("/"))[-1].lower().removesuffix(".git")
    stem = _UNFIT_IN_ID.sub("-", name).strip("-")[:ID_LENGTH_MAX] or "source"
    number, found = 1, stem
    while found in taken:
        number += 1
        found = f"{stem}-{number}"
    return found


def _refused(why: str, remedy: str) -> InvalidInput:
    return InvalidInput(
        f"The address of the repository {why}.", remedy=remedy, details={"kind": "git_address"}
    )
