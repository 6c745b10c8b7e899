"""What stops a file from being read at all. Raised and caught inside the reader only."""

from headway.domain.diagnostics import Path, Position


class Trouble(Exception):
    """One problem that ends the reading, with its place in the text."""

    def __init__(  # the fields of a diagnostic, no more
        self, code: str, position: Position, what: str, remedy: str, path: Path = ()
    ) -> None:
        super().__init__(what)
        self.code = code
        self.position = position
        self.what = what
        self.remedy = remedy
        self.path = path
