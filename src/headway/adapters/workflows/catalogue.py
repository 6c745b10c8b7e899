"""The catalogue on folders: every workflow file that can be seen from a workspace, as it is now.

Every call looks at the folders again, but reads only files that changed and compiles only what a
change can have touched; so a changed file is seen at once and an unchanged one costs a look.

Who wins an id: the first folder, then the first path. Two exceptions keep a broken file from
hiding a healthy one: a file whose id was only guessed from its name yields to any that declares it,
and within one folder a file that compiles goes before one that does not. (A broken file in an
earlier folder keeps its place: whoever overrides a workflow and errs must hear of it, not get the
old one.) Every broken file that lost is told as a warning on the one that won.
"""

import os
import threading
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, TypeVar

from headway.adapters.workflows.binding_files import BindingFiles, Bindings
from headway.adapters.workflows.reading import ReadFile, file_diagnostic, read_file
from headway.adapters.workflows.rewriting import rewrite_file
from headway.adapters.workflows.scanning import Scan, Stamp, scan
from headway.domain.compiler.compiling import Compilation, compile_workflow
from headway.domain.compiler.grammar import RESERVED_PREFIX
from headway.domain.compiler.reading import Document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.domain.diagnostics import Diagnostic
from headway.ports.catalogue import Entry, Source, SourceKind
from headway.ports.sources import Sources as AttachedFolders
from headway.ports.workflow_files import WorkflowFile

BUNDLED: Final = Path(__file__).parents[2] / "workflows"
USER_FOLDER: Final = "workflows"
WORKSPACE_FOLDERS: Final = (".headway/workflows", ".workrail/workflows")
FILES_KEPT_MAX: Final = 10_000
COMPILATIONS_KEPT_MAX: Final = 2_000
WORKSPACES_KEPT_MAX: Final = 64


Key = TypeVar("Key")
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class _Folder:
    kind: SourceKind
    path: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that claims an id, with what became of it."""

    folder: _Folder
    read: ReadFile


@dataclass(frozen=True, slots=True)
class _Index:
    """Everything that is there, before it is compiled; `entries` fills as ids are asked for."""

    seen: tuple[tuple[_Folder, Scan], ...]
    candidates: Mapping[str, tuple[_Candidate, ...]]
    routines: Mapping[str, Document]
    routine_stamps: tuple[tuple[str, Stamp | None], ...]
    entries: dict[str, tuple[Bindings, Entry]] = field(default_factory=dict)


class FolderCatalogue:
    """Finds and compiles workflow files; safe to use from several threads.

    `workflow_path` are the folders of the search path; the user's own are under `home`. None of
    them needs to exist.
    """

    def __init__(
        self,
        *,
        workflow_path: Sequence[str],
        home: Path,
        sources: AttachedFolders,
        bundled: Path = BUNDLED,
    ) -> None:
        self._bundled = str(bundled)
        self._paths = tuple(workflow_path)
        self._user = str(home / USER_FOLDER)
        self._attached = sources
        self._bindings = BindingFiles()
        self._lock = threading.RLock()
        self._files: dict[str, ReadFile] = {}
        self._compilations: dict[tuple[object, ...], Compilation] = {}
        self._indexes: dict[str, _Index] = {}

    def entries(self, workspace: str) -> tuple[Entry, ...]:
        """Return every workflow that can be seen from a workspace, by id, broken ones included."""
        index, bindings = self._index(workspace), self._bindings.read(workspace)
        with self._lock:
            return tuple(self._entry(index, each, bindings) for each in sorted(index.candidates))

    def find(self, workflow_id: str, workspace: str) -> Entry | None:
        """Return the entry of an id."""
        index, bindings = self._index(workspace), self._bindings.read(workspace)
        if workflow_id not in index.candidates:
            return None
        with self._lock:
            return self._entry(index, workflow_id, bindings)

    def files(self, workspace: str, within: tuple[str, ...] = ()) -> tuple[WorkflowFile, ...]:
        """Return every file seen from a workspace, or those that lie in `within`, by path."""
        index, bindings = self._index(workspace), self._bindings.read(workspace)
        found: dict[str, WorkflowFile] = {}
        known = frozenset(index.candidates)
        with self._lock:
            for workflow_id, claims in index.candidates.items():
                inside = [each for each in claims if _is_within(each.read.file.path, within)]
                winner = self._entry(index, workflow_id, bindings).path if inside else ""
                for claim in inside:
                    path = claim.read.file.path
                    found[path] = WorkflowFile(
                        path=path,
                        document=claim.read.document,
                        compilation=self._outcome(index, claim, bindings),
                        sources=Sources(routines=index.routines, bindings=bindings.of(workflow_id)),
                        known=known,
                        shadowed_by="" if path == winner else winner,
                    )
        return tuple(each for _, each in sorted(found.items()))

    def rewrite(self, path: str, before: str, after: str) -> str:
        """Replace a file's text at one stroke; return why not, in a sentence, or nothing."""
        return rewrite_file(Path(path), before, after)

    def sources(self, workspace: str) -> tuple[Source, ...]:
        """Return the folders searched, in order of precedence."""
        winners = [entry.path for entry in self.entries(workspace)]
        return tuple(
            Source(
                kind=folder.kind,
                path=folder.path,
                total=len(found.files),
                effective=len({file.path for file in found.files}.intersection(winners)),
                missing=found.missing,
                problems=found.problems,
            )
            for folder, found in self._index(workspace).seen
        )

    def bindings(self, workflow_id: str, workspace: str) -> dict[str, str]:
        """Return the workspace's overrides of a workflow's slots, as they stand now."""
        return self._bindings.read(workspace).of(workflow_id)

    def _folders(self, workspace: str) -> tuple[_Folder, ...]:
        named = [
            _Folder("bundled", self._bundled),
            *(_Folder("path", path) for path in self._paths),
            *(
                _Folder("workspace", os.path.join(workspace, *name.split("/")), workspace)  # noqa: PTH118
                for name in WORKSPACE_FOLDERS
            ),
            *(_Folder("attached", path) for path in self._attached.attached()),
            _Folder("user", self._user),
        ]
        first: dict[str, _Folder] = {}
        for folder in named:
            first.setdefault(os.path.realpath(folder.path), folder)
        return tuple(first.values())

    def _index(self, workspace: str) -> _Index:
        seen = tuple(
            (folder, scan(folder.path, folder.within)) for folder in self._folders(workspace)
        )
        with self._lock:
            known = self._indexes.get(workspace)
            if known and known.seen == seen:
                return known
            index = self._built(seen)
            self._indexes.pop(workspace, None)
            _make_room(self._indexes, WORKSPACES_KEPT_MAX)
            self._indexes[workspace] = index
            return index

    def _built(self, seen: tuple[tuple[_Folder, Scan], ...]) -> _Index:
        candidates: dict[str, list[_Candidate]] = {}
        for folder, found in seen:
            for file in found.files:
                read = self._files.get(file.path)
                if read is None or read.file != file:
                    _make_room(self._files, FILES_KEPT_MAX)
                    read = self._files[file.path] = read_file(file)
                candidates.setdefault(read.id, []).append(_Candidate(folder, read))
        routines: dict[str, Document] = {}
        stamps = []
        for workflow_id, claims in candidates.items():
            template = routine_template_id(workflow_id)
            if template is None:
                continue
            best = next((claim.read for claim in claims if _may_use(claim)), None)
            if best is not None and best.document is not None:
                routines[template] = best.document
                stamps.append((best.file.path, best.file.stamp))
        return _Index(
            seen=seen,
            candidates={key: tuple(claims) for key, claims in candidates.items()},
            routines=routines,
            routine_stamps=tuple(sorted(stamps)),
        )

    def _entry(self, index: _Index, workflow_id: str, bindings: Bindings) -> Entry:
        known = index.entries.get(workflow_id)
        if known and known[0] is bindings:
            return known[1]
        claims = [
            (claim, self._outcome(index, claim, bindings))
            for claim in index.candidates[workflow_id]
        ]
        winner, outcome = _winner(claims)
        losers = [each for each in claims if each[0] is not winner]
        has_slots = outcome.workflow is not None and bool(outcome.workflow.bindings)
        entry = Entry(
            id=workflow_id,
            path=winner.read.file.path,
            source=winner.folder.kind,
            source_path=winner.folder.path,
            workflow=outcome.workflow,
            data=outcome.data,
            hash=outcome.hash,
            diagnostics=(
                *outcome.diagnostics,
                *bindings.diagnostics(workflow_id, has_slots=has_slots),
                *(_lost(claim, lost) for claim, lost in losers if lost.workflow is None),
            ),
            hidden=winner.read.file.hidden,
            shadows=tuple(claim.read.file.path for claim, _ in losers),
        )
        index.entries[workflow_id] = (bindings, entry)
        return entry

    def _outcome(self, index: _Index, claim: _Candidate, bindings: Bindings) -> Compilation:
        read = claim.read
        if _is_reserved(claim):
            return _broken((_reserved(read),))
        if read.document is None:
            return _broken(read.diagnostics)
        bound = bindings.of(read.id)
        key = (
            read.file.path,
            read.file.stamp,
            tuple(sorted(bound.items())),
            index.routine_stamps,
        )
        known = self._compilations.get(key)
        if known is None:
            _make_room(self._compilations, COMPILATIONS_KEPT_MAX)
            known = compile_workflow(
                read.document, Sources(routines=index.routines, bindings=bound)
            )
            self._compilations[key] = known
        return known


def _is_within(path: str, within: tuple[str, ...]) -> bool:
    return not within or any(PurePath(path).is_relative_to(each) for each in within)


def _may_use(claim: _Candidate) -> bool:
    return claim.read.document is not None and not _is_reserved(claim)


def _is_reserved(claim: _Candidate) -> bool:
    return claim.folder.kind != "bundled" and claim.read.id.startswith(RESERVED_PREFIX)


def _winner(
    claims: Sequence[tuple[_Candidate, Compilation]],
) -> tuple[_Candidate, Compilation]:
    declared = [each for each in claims if not each[0].read.guessed] or claims
    folder = declared[0][0].folder
    nearest = [each for each in declared if each[0].folder == folder]
    return next((each for each in nearest if each[1].workflow is not None), nearest[0])


def _broken(diagnostics: tuple[Diagnostic, ...]) -> Compilation:
    return Compilation(workflow=None, diagnostics=diagnostics)


def _reserved(read: ReadFile) -> Diagnostic:
    return file_diagnostic(
        read.file.path,
        "RESERVED_ID",
        f"The id {read.id} begins with {RESERVED_PREFIX}",
        "Choose another namespace, such as project. or your team's name.",
    )


def _lost(claim: _Candidate, outcome: Compilation) -> Diagnostic:
    """Return a warning that another file of the same id is broken."""
    path = claim.read.file.path
    first = outcome.diagnostics[0].text() if outcome.diagnostics else "It does not compile."
    return file_diagnostic(
        path,
        "SHADOWED_BROKEN_FILE",
        f"Another file of this id is broken: {first}",
        "Mend it, or give it an id of its own.",
    )


def _make_room(kept: MutableMapping[Key, Kept], most: int) -> None:
    while len(kept) >= most:
        del kept[next(iter(kept))]
