"""The exit codes of the commands that see a run to its end."""

from collections.abc import Mapping
from typing import Final

from headway.cli.options import exit_words
from headway.domain.runs.outcomes import OutcomeKind

EXIT_CODES: Final[Mapping[OutcomeKind, int]] = {
    "success": 0,
    "error": 1,
    "timeout": 3,
    "stuck": 4,
    "paused": 5,
    "parked": 6,
    "cancelled": 7,
}
EXIT_ELSEWHERE: Final = 8  # another worker has the run
EXIT_WAITED: Final = 9  # `--timeout` is over, and the run is not
EXIT_STOPPED: Final = 130

_ENDS: Final = (
    (0, "the run succeeded"),
    (1, "it failed, or could not be begun"),
    (2, "it was not called rightly"),
    (3, "a limit ended it"),
    (4, "it was stuck"),
    (5, "it is paused: headway runs resume"),
    (6, "it waits at a gate: headway gates"),
    (7, "it was aborted"),
)
_DRIVEN: Final = (
    (8, "another worker has it"),
    (130, "stopped by Ctrl-C or SIGTERM; headway runs resume goes on"),
)
_WATCHED: Final = (
    (9, "the time given with --timeout is over"),
    (130, "stopped by Ctrl-C; the run goes on"),
)


EXIT_WORDS: Final = exit_words(*_ENDS, *_DRIVEN)
WATCH_WORDS: Final = exit_words(*_ENDS, *_WATCHED)
