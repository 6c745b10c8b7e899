"""The sample: a small package that splits bills, its bug, and a test that fails because of it."""

from pathlib import Path
from typing import Final

from headway.cli.demo.shell import DemoFailedError, Shell

GOAL: Final = "Three people who split 10.00 pay 9.99: find the lost cent and mend it."
MODULE: Final = "splitbill/shares.py"
TESTS: Final = "tests/test_shares.py"

BUGGY: Final = "    return [total_cents // people] * people\n"
FIXED: Final = """\
    share, left_over = divmod(total_cents, people)
    # The cents that cannot be divided go to the first ones, one each.
    return [share + 1] * left_over + [share] * (people - left_over)
"""
TEST_NAME: Final = "test_no_cent_is_lost"
NEW_TEST: Final = f"""
    def {TEST_NAME}(self) -> None:
        for total_cents in range(1000, 1010):
            for people in range(1, 8):
                self.assertEqual(sum(shares(total_cents, people)), total_cents)
"""

FILES: Final = {
    "README.md": "# splitbill\n\nSplits a bill between people, in whole cents.\n",
    ".gitignore": "__pycache__/\n",
    "splitbill/__init__.py": (
        '"""Splits bills."""\n\nfrom splitbill.shares import shares\n\n__all__ = ["shares"]\n'
    ),
    MODULE: (
        '"""Who pays how much."""\n\n\n'
        "def shares(total_cents: int, people: int) -> list[int]:\n"
        '    """Return one share a person, in cents."""\n'
        "    if people < 1:\n"
        '        raise ValueError("nobody is there to pay")\n' + BUGGY
    ),
    "tests/__init__.py": "",
    TESTS: '''\
"""What splitting a bill promises."""

import unittest

from splitbill import shares


class SharesTest(unittest.TestCase):
    def test_an_even_bill_is_split_evenly(self) -> None:
        self.assertEqual(shares(900, 3), [300, 300, 300])

    def test_one_person_pays_it_all(self) -> None:
        self.assertEqual(shares(999, 1), [999])

    def test_nobody_cannot_pay(self) -> None:
        with self.assertRaises(ValueError):
            shares(100, 0)

    def test_a_bill_for_three_is_paid_in_full(self) -> None:
        self.assertEqual(sum(shares(1000, 3)), 1000)
''',
    "tests/every_bill.py": '''\
"""Every bill up to 3,000.00, for one person to twelve: takes a few seconds."""

from splitbill import shares

bills = 0
for total_cents in range(300_001):
    for people in range(1, 13):
        paid = sum(shares(total_cents, people))
        if paid != total_cents:
            raise SystemExit(f"{total_cents} cents for {people} people: {paid} were paid")
        bills += 1
print(f"{bills:,} bills add up")
''',
}


def make_repository(shell: Shell) -> None:
    """Write the sample into the shell's folder and commit it."""
    for name, text in FILES.items():
        path = shell.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    person = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        (*person, "commit", "--quiet", "--message", "Split bills"),
    ):
        ran = shell.git(*arguments)
        if ran.code != 0:
            raise DemoFailedError(f"`{ran.command}` failed: {' '.join(ran.last_lines(3))}")


def mend(folder: Path) -> None:
    """Replace the buggy line."""
    _replace(folder / MODULE, BUGGY, FIXED)


def add_test(folder: Path) -> None:
    """Add the test that fails because of the bug."""
    path = folder / TESTS
    path.write_text(path.read_text("utf-8") + NEW_TEST, "utf-8")


def line_of_bug(folder: Path) -> int:
    """Return the number of the buggy line, as the file has it."""
    lines = (folder / MODULE).read_text("utf-8").splitlines(keepends=True)
    return lines.index(BUGGY) + 1


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise DemoFailedError(f"{path.name} is not as the demo wrote it.")
    path.write_text(text.replace(old, new), "utf-8")
