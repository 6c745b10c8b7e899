"""Places that were made for runs, all of them there."""

from headway.domain.runs.events import RunSubmitted, WorktreePlanned


class StandingPlaces:
    """No place of a run was ever removed."""

    def is_there(self, planned: WorktreePlanned) -> bool:
        return True

    def forget(self, submitted: RunSubmitted, planned: WorktreePlanned) -> str:
        raise AssertionError(planned)
