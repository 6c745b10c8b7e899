"""The workspace's bindings: which slot of which workflow stands for what, as the file says now.

The file is `.headway/bindings.json`, else `.workrail/bindings.json`. It maps workflow ids to
`{slot: value}`, or, when every value is a text, is one `{slot: value}` for all workflows. What
cannot be used is left out and told; a bad file never stops a workflow.
"""

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headway.domain.compiler.codes import CODES
from headway.domain.diagnostics import Diagnostic
from headway.domain.values import Json

FOLDERS: Final = (".headway", ".workrail")
NAME: Final = "bindings.json"
FILE_BYTES_MAX: Final = 1_000_000
WORKSPACES_MAX: Final = 256


@dataclass(frozen=True, slots=True)
class Bindings:
    """What a bindings file says; `trouble` is set when the file as a whole cannot be used."""

    file: str = ""
    everywhere: dict[str, str] = field(default_factory=dict)
    by_workflow: dict[str, dict[str, str]] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)  # by workflow id
    trouble: str = ""

    def of(self, workflow_id: str) -> dict[str, str]:
        """Return the bindings of a workflow."""
        return dict(self.by_workflow.get(workflow_id, self.everywhere))

    def diagnostics(self, workflow_id: str, *, has_slots: bool) -> tuple[Diagnostic, ...]:
        """Return what a user of this workflow must know about the file."""
        trouble = self.troubles.get(workflow_id) or (self.trouble if has_slots else "")
        if not trouble:
            return ()
        return (
            Diagnostic(
                code="BINDINGS_IGNORED",
                severity=CODES["BINDINGS_IGNORED"].severity,
                file=self.file,
                line=1,
                column=1,
                path=workflow_id if workflow_id in self.troubles else "",
                what=trouble,
                why=CODES["BINDINGS_IGNORED"].why,
                remedy="Mend the file; until then the author's defaults hold.",
            ),
        )


NO_BINDINGS: Final = Bindings()


class BindingFiles:
    """Reads bindings files, again only when they changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int, int], Bindings]] = {}

    def read(self, workspace: str) -> Bindings:
        """Return what the workspace's bindings file says now."""
        for folder in FOLDERS:
            path = Path(workspace, folder, NAME)
            try:
                found = path.stat()
            except FileNotFoundError:
                continue
            except (OSError, ValueError):
                return Bindings(str(path), trouble="The bindings file cannot be read.")
            return self._current(path, (found.st_mtime_ns, found.st_size, found.st_ino))
        return NO_BINDINGS

    def _current(self, path: Path, stamp: tuple[int, int, int]) -> Bindings:
        name = str(path)
        with self._lock:
            known = self._known.get(name)
        if known and known[0] == stamp:
            return known[1]
        bindings = _read(path)
        with self._lock:
            if len(self._known) >= WORKSPACES_MAX:
                self._known.clear()
            self._known[name] = (stamp, bindings)
        return bindings


def _read(path: Path) -> Bindings:
    name = str(path)
    try:
        if not path.is_file():
            return Bindings(name, trouble="The bindings file is not a regular file.")
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            return Bindings(name, trouble=f"The bindings file exceeds {FILE_BYTES_MAX} bytes.")
        value: Json = json.loads(data.decode("utf-8-sig"))
    except OSError as error:
        return Bindings(name, trouble=f"The bindings file cannot be read: {error.strerror}.")
    except (ValueError, RecursionError):
        return Bindings(name, trouble="The bindings file is not JSON.")
    if not isinstance(value, dict):
        return Bindings(name, trouble="The bindings file does not hold an object.")
    return _sorted_out(name, value)


def _sorted_out(name: str, value: dict[str, Json]) -> Bindings:
    flat = {slot: bound for slot, bound in value.items() if isinstance(bound, str)}
    if len(flat) == len(value):
        return Bindings(name, everywhere=flat)
    by_workflow: dict[str, dict[str, str]] = {}
    troubles: dict[str, str] = {}
    for workflow_id, slots in value.items():
        if not isinstance(slots, dict):
            troubles[workflow_id] = f"The bindings of {workflow_id} are not an object."
            continue
        good = {slot: bound for slot, bound in slots.items() if isinstance(bound, str)}
        by_workflow[workflow_id] = good
        if len(good) < len(slots):
            bad = ", ".join(slot for slot in slots if slot not in good)
            troubles[workflow_id] = f"The bindings of {workflow_id} hold no text for {bad}."
    return Bindings(name, by_workflow=by_workflow, troubles=troubles)
