"""A run's progress: its lines, and beneath them on a terminal one line that says how it stands.

Where stderr is no terminal there are the lines alone. The line that stands is never wider than the
terminal, however that is resized: what matters least is left out first.
"""

import sys
import time
from dataclasses import replace
from typing import Final

from headway.cli.run_calls import target_of, with_target
from headway.cli.run_lines import line_of, money_text
from headway.cli.safe_text import cells, one_line
from headway.cli.style import Style, fitted
from headway.cli.terminal import remark, remark_style
from headway.config import Settings
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent
from headway.domain.runs.messages import ToolCall

REDRAWN_SECONDS: Final = 0.5
_ERASE: Final = "\r\x1b[K"
SECONDS_A_MINUTE: Final = 60
DOING_CELLS_MAX: Final = 48
LEAST_FIRST: Final = ("money", "tokens", "turn", "doing")


class Progress:
    """What a person sees of a run that is driven here."""

    def __init__(self, settings: Settings, now: Conversation) -> None:
        self._live = sys.stderr.isatty() and settings.environment.get("TERM") != "dumb"
        self._secrets = settings.secrets
        self._now = now
        self._target = ""
        self._began = time.monotonic()
        self._stands = False

    def tell(self, now: Conversation, event: RunEvent, call: ToolCall | None) -> None:
        """Take in an event, with the call that it came of, and print its line if it has one."""
        self._target = target_of(call, self._secrets) if call else ""
        self.show(now, line_of(now, event, remark_style(), self._target))

    def show(self, now: Conversation, line: str | None) -> None:
        """Take in how the run stands now, and print a line above the one that stands."""
        self._now = now
        if line is not None:
            self.clear()
            remark(line)
        self.draw()

    def draw(self) -> None:
        """Draw the line that stands, with the time as it is."""
        if not self._live:
            return
        seconds = time.monotonic() - self._began
        line = status_line(self._now, seconds, remark_style(1), self._target)
        remark(f"{_ERASE}{line}", nl=False)
        self._stands = True

    def clear(self) -> None:
        """Take the line away that stands; the cursor is at the beginning of an empty line."""
        if self._stands:
            remark(_ERASE, nl=False)
            self._stands = False


def status_line(now: Conversation, seconds: float, style: Style, target: str = "") -> str:
    """Return how a run stands, in at most the cells of a terminal that `style` has.

    `target` is what the newest call is about; it is told while that runs.
    """
    step = f"step {now.step.number} of {now.step.total}" if now.step else "preparing"
    told = {
        "step": step,
        "turn": f"turn {now.turn if now.asked else max(now.spent.turns, 1)}",
        "doing": _doing(now),
        "tokens": f"{now.spent.tokens:,} tokens",
        "money": money_text(now.spent),
        "elapsed": f"{int(seconds) // SECONDS_A_MINUTE}:{int(seconds) % SECONDS_A_MINUTE:02}",
    }
    title = f": {one_line(now.step.title)}" if now.step else ""
    running = any(call.state == "running" for call in now.calls)
    about = target if running else ""
    doing = with_target(told["doing"], about, replace(style, width=DOING_CELLS_MAX))
    titled = told | {"step": step + title}
    shorter = [titled | {"doing": doing}, told | {"doing": doing}, titled, told]
    for name in LEAST_FIRST:
        shorter.append({key: text for key, text in shorter[-1].items() if key != name})
    lines = [(" \u00b7 " if style.unicode else " | ").join(each.values()) for each in shorter]
    line = next((line for line in lines if cells(line) <= style.width), lines[-1])
    return fitted(line, max(style.width, 1), style)


def _doing(now: Conversation) -> str:
    running = [call.asked.name for call in now.calls if call.state == "running"]
    if running:
        return one_line(running[0])
    if now.erred is not None and not now.asked:
        return "waiting to ask again"
    return "thinking" if now.asked else "working"
