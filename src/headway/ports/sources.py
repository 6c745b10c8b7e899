"""Folders of workflow files that users attached by hand."""

from typing import Protocol


class Sources(Protocol):
    """The attached folders, absolute paths in the order they were attached."""

    def attached(self) -> tuple[str, ...]:
        """Return the attached folders."""

    def attach(self, path: str) -> None:
        """Attach a folder; attaching it twice changes nothing."""

    def detach(self, path: str) -> None:
        """Detach a folder; detaching an unknown one changes nothing."""
