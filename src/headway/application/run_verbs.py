"""The verbs of runs bound to one store: what a surface is given.

A surface names a run by its whole id: a beginning is for people who look at what it finds.
"""

from collections.abc import Callable
from dataclasses import dataclass

from headway.application.abort_run import abort_run
from headway.application.checking_limits import Grant
from headway.application.finding import workspace_of
from headway.application.list_runs import RunFilter, list_runs, told_row, told_submitted
from headway.application.naming_runs import exact_run
from headway.application.pause_run import pause_run
from headway.application.read_run_log import LogPage, read_run_log
from headway.application.requests import Reply
from headway.application.resume_run import resume_run
from headway.application.retry_run import retry_run
from headway.application.runs import Runs
from headway.application.show_run import told_run
from headway.application.steer_run import steer_run
from headway.application.submit_run import SubmitRun, submit_named
from headway.ports.models import NamedModel


@dataclass(frozen=True, slots=True)
class RunVerbs:
    """Each method is the verb of its name; see there for what it raises, besides NotFound.

    `model` returns a model, given its name and the workspace, or raises what is wrong with it.
    Where nothing else is said, a method returns the run's row.
    """

    runs: Runs
    model: Callable[[str, str], NamedModel]

    def submit(self, request: SubmitRun) -> tuple[Reply, bool]:
        """Return the row with what its model lacks here, and whether the run is new."""
        workspace_of(self.runs.engine, request.workspace)  # before the model is looked for there
        model = self.model(request.model, request.workspace)
        submitted = submit_named(self.runs, request, model)
        return told_submitted(self.runs, submitted), submitted.is_new

    def list(self, limit: int, wanted: RunFilter) -> Reply:
        """Return the runs, the last submitted first."""
        return list_runs(self.runs, limit, wanted)

    def show(self, run: str) -> Reply:
        """Return all that is known of a run."""
        return told_run(self.runs, exact_run(self.runs, run))

    def log(self, run: str, page: LogPage) -> Reply:
        """Return a page of a run's log."""
        return read_run_log(self.runs, exact_run(self.runs, run).run, page)

    def steer(self, run: str, text: str, by: str) -> Reply:
        steer_run(self.runs, exact_run(self.runs, run).run, text, by)
        return told_row(self.runs, exact_run(self.runs, run))

    def abort(self, run: str, by: str, reason: str) -> Reply:
        task = exact_run(self.runs, run)
        return told_row(self.runs, abort_run(self.runs, task.run, by, reason))

    def pause(self, run: str, by: str) -> Reply:
        return told_row(self.runs, pause_run(self.runs, exact_run(self.runs, run).run, by))

    def resume(self, run: str, by: str, grant: Grant) -> Reply:
        task = exact_run(self.runs, run)
        return told_row(self.runs, resume_run(self.runs, task.run, by, grant))

    def retry(self, run: str) -> Reply:
        """Return the row of the new run with what its model lacks here."""
        task = exact_run(self.runs, run)
        return told_submitted(self.runs, retry_run(self.runs, task.run, self.model))
