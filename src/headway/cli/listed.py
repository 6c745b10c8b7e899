"""Names that must be given: whoever leaves one out is told where to find it."""

from typing import Final

import click


class Listed(click.types.StringParamType):
    """A text that names one thing of many; `where` says how they are found."""

    def __init__(self, where: str) -> None:
        self._where = where

    def get_missing_message(
        self,
        param: click.Parameter,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002 - click's signature
    ) -> str:
        """Return what is added to the message that there is none."""
        return self._where


A_WORKFLOW: Final = Listed("`headway workflows list` shows what there is.")
A_SESSION: Final = Listed("`headway sessions list` shows the ids.")
A_RUN: Final = Listed("`headway runs list` shows the ids.")
A_GATE: Final = Listed("`headway gates list` shows what waits.")
A_MODEL: Final = Listed("Write PROVIDER:NAME, such as anthropic:claude-sonnet-4-5.")
