"""git itself is not there: told as such, and never as what a repository lacks."""

from headway.domain.errors import PreconditionFailed


class GitMissing(PreconditionFailed):
    """The git program was not found, or may not be run."""


def git_missing(error: OSError) -> GitMissing:
    """Return the fault that a git which could not be begun stands for."""
    if isinstance(error, FileNotFoundError):
        told = "The program git was not found: no folder on PATH holds it."
    else:
        told = f"The program git cannot be run: {error.strerror or error}."
    return GitMissing(
        told,
        remedy="Install git 2.31 or newer, and see that the PATH of whoever starts Headway "
        "holds its folder; `headway doctor` says whether it is found.",
        details={"kind": "git_missing"},
    )
