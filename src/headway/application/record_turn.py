"""Record what happens in a run, before it has an effect, under the fence it is held with.

What others say meanwhile (a steer, an abort) goes first: the events are appended after theirs, and
the conversation returned has both.
"""

from collections.abc import Callable

from msgspec.structs import replace

from headway.application.runs import APPEND_ATTEMPTS_MAX, Held, Runs, folded
from headway.domain.errors import SessionBusy
from headway.domain.runs.conversation import Conversation
from headway.domain.runs.events import RunEvent
from headway.ports.ledger import Blob, Conflict
from headway.ports.queue import Move, RunWrite


def record_turn(
    runs: Runs,
    held: Held,
    *events: RunEvent,
    blobs: tuple[Blob, ...] = (),
    move: Callable[[Conversation], Move] | None = None,
) -> Held:
    """Append the events and return the run as it is after them.

    `move` says what becomes of the row, given the run as it stands right before the events.
    Raises LeaseLost when the run is not held any more; then nothing was kept.
    """
    for _ in range(APPEND_ATTEMPTS_MAX):
        write = RunWrite(
            run=held.run,
            expected_version=held.conversation.version,
            events=events,
            blobs=blobs,
            fence=held.fence,
            move=move(held.conversation) if move else None,
        )
        try:
            written = runs.queue.append(write)
        except Conflict:
            held = refresh_run(runs, held)
            continue
        return replace(held, conversation=folded(written, held.conversation))
    raise SessionBusy(
        f"Others write to the run {held.run} without a pause.",
        remedy="Try again.",
        details={"run": held.run},
    )


def refresh_run(runs: Runs, held: Held) -> Held:
    """Return the run with what others recorded meanwhile."""
    new = runs.queue.scan(held.run, held.conversation.version)
    return replace(held, conversation=folded(new, held.conversation)) if new else held
