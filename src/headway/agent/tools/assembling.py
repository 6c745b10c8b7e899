"""The tools a run is given, in the order its model is told of them."""

from pathlib import Path

from headway.agent.tooling import Outputs
from headway.agent.tools.completing import complete_step
from headway.agent.tools.confining import Confined
from headway.agent.tools.editing import edit_file
from headway.agent.tools.files import read_file, write_file
from headway.agent.tools.paging import read_output
from headway.agent.tools.searching import glob, grep
from headway.agent.tools.shell import Shell, bash
from headway.agent.tools.toolset import Toolset
from headway.ports.engine import SessionEngine
from headway.ports.processes import Processes


def run_tools(
    worktree: Path, engine: SessionEngine, outputs: Outputs, processes: Processes
) -> Toolset:
    """Return the tools of a run in its worktree; `processes` run its commands."""
    folder = Confined(worktree)
    return Toolset(
        [
            complete_step(engine),
            bash(Shell(folder, processes)),
            read_file(folder),
            write_file(folder),
            edit_file(folder),
            glob(folder),
            grep(folder),
            read_output(outputs),
        ]
    )
