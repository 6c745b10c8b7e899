"""The scripted agent: for each step of `hw.bug-fix` the work that a model would do, done for real.

Nothing in its notes is made up: every output quoted there was printed by a command it ran.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headway.application.requests import JsonObject
from headway.cli.demo.sample import MODULE, TEST_NAME, TESTS, add_test, line_of_bug, mend
from headway.cli.demo.shell import DemoFailedError, Ran, Shell

REPRODUCTION: Final = ("-c", "from splitbill import shares; print(sum(shares(1000, 3)))")
LOSSES: Final = """\
from splitbill import shares
for n in (1, 3, 4, 6, 7): print(n, 'people:', 1000 - sum(shares(1000, n)), 'lost of', 1000)"""
OBSERVATION: Final = ("-c", LOSSES)
SUITE: Final = ("-m", "unittest", "-v")


@dataclass(frozen=True, slots=True)
class Work:
    """What the agent hands in for a step, and the lines that tell a person what it did."""

    notes: str
    told: tuple[str, ...]
    artifacts: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """Works in one repository. Raises DemoFailedError when its work does not come out as told."""

    shell: Shell

    def work(self, step: str) -> Work:
        """Do a step."""
        known: dict[str, Callable[[], Work]] = {
            "reproduce": self._reproduce,
            "diagnose": self._diagnose,
            "fix": self._fix,
            "verify": self._verify,
            "report": self._report,
        }
        if step not in known:
            raise DemoFailedError(f"The workflow asked for step {step!r}, unknown to the script.")
        return known[step]()

    def _reproduce(self) -> Work:
        ran = _expect(self.shell.python(*REPRODUCTION), ends="999")
        notes = f"A bill of 1000 cents for three adds up to 999, not 1000.\n\n{ran.quoted()}"
        return Work(notes, (f"$ {ran.command}", "999, but 1000 cents were to be paid"))

    def _diagnose(self) -> Work:
        ran = _expect(self.shell.python(*OBSERVATION), ends="7 people: 6 lost of 1000")
        line = line_of_bug(self.shell.folder)
        notes = (
            f"The remainder of the division is dropped: {MODULE}, line {line}.\n\n"
            "Two explanations fit: a fixed loss a bill, or the remainder of `//`. The loss changes "
            f"with the number of people and is 1000 % people each time:\n\n{ran.quoted()}"
        )
        told = tuple(ran.last_lines(5)[i] for i in (1, 2, 4))
        return Work(notes, (*told, f"so `//` drops the remainder: {MODULE}, line {line}"))

    def _fix(self) -> Work:
        one = ("-m", "unittest", f"tests.test_shares.SharesTest.{TEST_NAME}")
        add_test(self.shell.folder)
        before = _expect(self.shell.python(*one), code=1, ends="FAILED (failures=1)")
        mend(self.shell.folder)
        after = _expect(self.shell.python(*one), ends="OK")
        notes = (
            f"The remainder is handed out, a cent each, in {MODULE}.\n\n"
            f"{TEST_NAME} before the change:\n\n{before.quoted()}\n\nand after:\n\n{after.quoted()}"
        )
        told = (
            f"wrote {TEST_NAME}: {before.last_lines(1)[0]}",
            f"edited {MODULE}: {after.last_lines(1)[0]}",
        )
        return Work(notes, told)

    def _verify(self) -> Work:
        again = _expect(self.shell.python(*REPRODUCTION), ends="1000")
        suite = _expect(self.shell.python(*SUITE), ends="OK")
        diff = _expect(self.shell.git("diff", "--stat", "HEAD"), ends=None)
        clean = _expect(self.shell.git("diff", "--check", "HEAD"), ends=None)
        notes = "\n\n".join(
            [
                "The bug is gone and every test passes.",
                *(ran.quoted() for ran in (again, suite, diff, clean)),
            ]
        )
        ran_line = next((line for line in suite.last_lines(3) if line.startswith("Ran ")), "")
        told = (
            f"$ {again.command}",
            "1000",
            f"{ran_line}: OK",
            f"git diff: {diff.last_lines(1)[0].strip()}",
        )
        return Work(notes, told)

    def _report(self) -> Work:
        again = _expect(self.shell.python(*REPRODUCTION), ends="1000")
        suite = _expect(self.shell.python(*SUITE), ends="OK")
        changed = _expect(self.shell.git("diff", "--name-only", "HEAD"), ends=None).last_lines(9)
        notes = (
            "Bills are split to the last cent.\n\nInteger division dropped the remainder; it is "
            f"handed out now, and {TEST_NAME} watches over it. Nothing else was noticed."
        )
        report: JsonObject = {
            "kind": "bug_fix_report",
            "rootCause": "shares() divided with // and dropped the remainder of the bill.",
            "filesChanged": changed,
            "test": f"{TESTS}::{TEST_NAME}",
            "criteria": [
                {
                    "criterion": criterion,
                    "evidence": f"`{ran.command}` printed {ran.last_lines(1)[0]}.",
                }
                for criterion, ran in (
                    ("A bill of 1000 cents for three adds up to 1000.", again),
                    ("No other test fails.", suite),
                )
            ],
            "deferred": [],
        }
        told = "hands in notes and a bug_fix_report with evidence for each criterion"
        return Work(notes, (told,), (report,))


def _expect(ran: Ran, *, code: int = 0, ends: str | None) -> Ran:
    last = (ran.last_lines(1) or [""])[0]
    if ran.code != code or (ends is not None and last != ends):
        raise DemoFailedError(
            f"`{ran.command}` ended with exit code {ran.code} and {last!r}; "
            f"expected were {code}" + (f" and {ends!r}." if ends is not None else ".")
        )
    return ran
