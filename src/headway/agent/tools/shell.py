"""The shell: one command, what it printed, and nothing of it left when the call is over."""

import signal
from typing import Annotated, Final

from msgspec import Meta

from headway.agent.tools.confining import Confined
from headway.agent.tools.tool import Answer, Tool, ToolFailed
from headway.domain.values import Value
from headway.ports.processes import CannotRun, Processes

SECONDS_DEFAULT: Final = 120
SECONDS_MAX: Final = 1_800


class Bash(Value):
    """Arguments of bash."""

    command: Annotated[str, Meta(min_length=1, max_length=100_000)]
    timeout_seconds: Annotated[int, Meta(ge=1, le=SECONDS_MAX)] = SECONDS_DEFAULT


class Shell:
    """Runs commands in a folder."""

    def __init__(self, folder: Confined, processes: Processes) -> None:
        self._folder = folder
        self._processes = processes

    async def __call__(self, arguments: Bash) -> Answer:
        """Run a command to its end or to its deadline."""
        root = str(self._folder.find("."))
        try:
            ended = await self._processes.run(arguments.command, root, arguments.timeout_seconds)
        except CannotRun as error:
            raise ToolFailed(f"The command cannot be run: {error}.") from error
        text = ended.output().decode(errors="replace").strip()
        if not ended.in_time:
            how = f"[ended after {arguments.timeout_seconds} s, with all that it had started]"
        elif ended.code:
            how = f"[{_how(ended.code)}]"
        else:
            return Answer(text=text or "[no output]")
        return Answer(text=f"{text}\n{how}".lstrip(), failed=True)


def bash(shell: Shell) -> Tool[Bash]:
    """Return the tool that runs a command."""
    return Tool(
        "bash",
        "Run a command with bash at the root of the worktree; it reads no input. What it starts in "
        "the background ends with it. The commit, push and pull request at the end are not yours.",
        Bash,
        shell,
    )


def _how(code: int) -> str:
    if code > 0:
        return f"exit code {code}"
    return f"killed by {signal.Signals(-code).name}"
