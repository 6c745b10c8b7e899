"""The calls of those who keep a store: purge, export, import, verify, rotate.

All of them while agents go on. A purged session is gone for everyone at once, and whoever asks for
it is told so; a bundle comes in as another session, or not at all.
"""

from typing import Final

from headway.application.export_session import export_session
from headway.application.import_session import import_session
from headway.application.purge_session import purge_session
from headway.application.rotate_keys import rotate_keys
from headway.application.verify_store import verify_store
from headway.domain.errors import Code, Fault
from simulation.acting import NOTHING, Acting
from simulation.faults import Violation
from simulation.model import Session

_ELSEWHERE: Final = frozenset({Code.PRECONDITION_FAILED})
_DAMAGED: Final = frozenset({Code.VALIDATION_ERROR})
_KEPT_MAX: Final = 3


class Keepers:
    """Makes calls about whole sessions, and keeps bundles of some."""

    def __init__(self, acting: Acting) -> None:
        self.acting = acting
        self.bundles: list[tuple[Session, list[bytes]]] = []

    def purge(self, session: Session) -> None:
        self.acting.say(f"purge {session.name}")
        told = self.acting.call(
            NOTHING, lambda engine: purge_session(engine, session.id, "enough"), session.id
        )
        if not isinstance(told, Fault) and not self.acting.gone(session):
            raise Violation(f"session {session.name} is said to be purged and is there")

    def export(self, session: Session) -> None:
        self.acting.say(f"export {session.name}")
        lines = self.acting.call(
            NOTHING, lambda engine: list(export_session(engine, session.id).lines), session.id
        )
        if not isinstance(lines, Fault):
            self.bundles = [*self.bundles[1 - _KEPT_MAX :], (session, lines)]

    def import_as_new(self, session: Session, lines: list[bytes]) -> None:
        """Bring a bundle in as a session of its own; its attempts are for those who resume it."""
        self.acting.say(f"import {session.name} as new")
        told = self.acting.call(
            NOTHING, lambda engine: import_session(engine, iter(lines), as_new=True)
        )
        if isinstance(told, Fault):
            return
        if told.already or told.session in [each.id for each in self.acting.sessions]:
            raise Violation(f"{session.name} was imported as new, and it is another's id")
        self.acting.know(session.entry, told.session).copied = True

    def import_again(self, session: Session, lines: list[bytes]) -> None:
        """Bring a bundle back under the id it has; the session is here, or was purged."""
        self.acting.say(f"import {session.name}")
        told = self.acting.call(_ELSEWHERE, lambda engine: import_session(engine, iter(lines)))
        if not isinstance(told, Fault) and not told.already:
            raise Violation(f"session {session.name} was imported over itself, or came back")

    def import_damaged(self, lines: list[bytes], number: int, at: int) -> None:
        """Bring in a bundle of which one byte was changed."""
        self.acting.say(f"import a bundle with byte {at} of line {number + 1} changed")
        line = bytearray(lines[number])
        line[at % len(line)] ^= 1
        bent = [*lines[:number], bytes(line), *lines[number + 1 :]]
        told = self.acting.call(
            _DAMAGED, lambda engine: import_session(engine, iter(bent), as_new=True)
        )
        if not isinstance(told, Fault):
            raise Violation("a damaged bundle was imported")

    def verify(self) -> None:
        """Verify the whole store: there is nothing wrong with it, whatever happens meanwhile."""
        self.acting.say("verify the store")
        told = self.acting.call(NOTHING, verify_store)
        if not isinstance(told, Fault) and told.problems:
            raise Violation("verify found: " + " ".join(each.text() for each in told.problems))

    def rotate(self) -> None:
        self.acting.say("rotate the keys")
        process = self.acting.process
        process.counts["rotations"] += 1
        rotate_keys(process.engine)
        self.acting.rotated = True
