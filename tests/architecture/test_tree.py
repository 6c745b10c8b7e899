"""What is committed works on any machine: no package registry, no folder of one machine."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = "uv.lock"  # carries the addresses its tool writes

# Spelt in pieces, so that this file passes its own test.
HOSTS = ["pypi" + ".org", "pypi." + "python.org", "files.python" + "hosted.org", "npm" + "js"]
HOST = re.compile("|".join(map(re.escape, HOSTS)), re.IGNORECASE)
FOLDER = re.compile(r"(?<![\w.~%})/-])/(work|root)/")


def tree() -> Iterator[tuple[str, str]]:
    """Yield the name and text of every file that is committed or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if name != LOCK and path.is_file():
            yield name, path.read_text("utf-8", errors="replace")


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in tree()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_package_registry() -> None:
    assert not found(HOST)


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert not found(FOLDER)
