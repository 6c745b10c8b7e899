"""`python -m bench.readme RUN.json`: put the figures of a run into the README, between its marks.

RUN.json is what `python -m bench --json` printed. Shown are the figures that have a limit; the
rest of a run stands in its table.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.figures import Figure, number

README: Final = Path(__file__).parents[1] / "README.md"
MARK: Final = "bench"


class Run(msgspec.Struct, frozen=True):
    """A run as `--json` prints it."""

    machine: dict[str, str]
    figures: list[Figure]


def main(arguments: Sequence[str]) -> int:
    """Rewrite the block in the README."""
    (path,) = arguments
    run = msgspec.json.decode(Path(path).read_bytes(), type=Run)
    README.write_text(replaced(README.read_text("utf-8"), MARK, markdown(run)), "utf-8")
    return 0


def markdown(run: Run) -> str:
    """Return what a run says, as Markdown: the machine, then each figure beside its limit."""
    machine = "; ".join(f"{name}: {text}" for name, text in run.machine.items())
    rows = [
        f"| {figure.group}: {figure.name} | {number(figure.value)} {figure.unit} "
        f"| {number(figure.target)} |"
        for figure in run.figures
        if figure.target is not None
    ]
    return "\n".join([machine, "", "| figure | measured | limit |", "|---|---|---|", *rows])


def block(text: str, name: str) -> str:
    """Return what stands between the marks of a name. Raises ValueError unless they are there."""
    return _found(text, name)[2]


def replaced(text: str, name: str, body: str) -> str:
    """Return the text with another body between the marks of a name."""
    begin, end, _ = _found(text, name)
    return f"{text[:begin]}\n{body.strip()}\n{text[end:]}"


def _found(text: str, name: str) -> tuple[int, int, str]:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", text, re.DOTALL)
    if found is None:
        raise ValueError(f"There are no marks <!-- {name} --> and <!-- /{name} -->.")
    return found.start(1), found.end(1), found[1].strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
