"""The whole texts of results that were cut, found by the names their models were given."""

from anyio.to_thread import run_sync

from headway.agent.tooling import output_named
from headway.application.runs import Runs, text_of
from headway.domain.ids import RunId
from headway.domain.runs.events import ToolEnded


class RecordedOutputs:
    """Implements `agent.tooling.Outputs` on a run's own events."""

    def __init__(self, runs: Runs, run: RunId) -> None:
        self._runs = runs
        self._run = run

    async def find(self, name: str) -> str | None:
        """Return the text of a name, None when this run has none such. Raises Fault."""
        return await run_sync(self._find, name)

    def _find(self, name: str) -> str | None:
        for recorded in self._runs.queue.scan(self._run):
            event = recorded.event
            if isinstance(event, ToolEnded) and event.whole and output_named(event.whole) == name:
                return text_of(self._runs, event.whole)
        return None
