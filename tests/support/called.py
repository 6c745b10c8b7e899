"""The command line called in this process: all of it but the start of another process."""

import os
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess

from click.testing import CliRunner

from headway.cli.main import cli


def called(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: str = ""
) -> CompletedProcess[str]:
    """Call `headway` from a folder, with this environment and no more of the tests' own.

    Returns what a process would leave; a bug is raised.
    """
    nothing: dict[str, str | None] = dict.fromkeys(os.environ)  # noqa: TID251
    with chdir(folder):
        done = CliRunner().invoke(
            cli,
            words,
            input=stdin,
            env=nothing | dict(environment),
            catch_exceptions=False,
            prog_name="headway",
        )
    return CompletedProcess(words, done.exit_code, done.stdout, done.stderr)
