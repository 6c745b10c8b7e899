"""The catalogue on folders: every workflow file that can be seen from a workspace, as it is now.

Every call looks at the folders again, but reads only files that changed and compiles only what a
change can have touched; so a changed file is seen at once and an unchanged one costs a look.

Who wins an id: the first folder, then the first path. Two exceptions keep a broken file from
hiding a healthy one: a file whose id was only guessed from its name yields to any that declares it,
and within one folder a file that compiles goes before one that does not. (A broken file in an
earlier folder keeps its place: whoever overrides a workflow and errs must hear of it, not get the
old one.) Every broken file that lost is told as a warning on the one that won.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final

from headway.adapters.workflows.binding_files import BindingFiles, Bindings
from headway.adapters.workflows.claims import (
    Candidate,
    broken,
    is_reserved,
    lost,
    may_use,
    reserved,
    shadow,
    winner_of,
)
from headway.adapters.workflows.folders import BUNDLED, Folder, Folders
from headway.adapters.workflows.listing import Listings, make_room
from headway.adapters.workflows.reading import ReadFile, read_file
from headway.adapters.workflows.rewriting import rewrite_file
from headway.adapters.workflows.scanning import FoundFile, Scan, Scanner, inside
from headway.domain.compiler.compiling import Compilation, compile_workflow
from headway.domain.compiler.reading import Document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.ports.catalogue import Entry, Source
from headway.ports.clock import Clock
from headway.ports.sources import FETCHED
from headway.ports.sources import Sources as AddedSources
from headway.ports.workflow_files import WorkflowFile

FILES_KEPT_MAX: Final = 10_000
COMPILATIONS_KEPT_MAX: Final = 2_000
WORKSPACES_KEPT_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class _Index:
    """Everything that is there, by id, before it is compiled; `entries` fills as ids are asked for.

    `settled` tells that as long as the same is seen, it is the same.
    """

    seen: tuple[tuple[Folder, Scan], ...]
    candidates: Mapping[str, tuple[Candidate, ...]]
    routines: Mapping[str, Document]
    routine_digests: tuple[tuple[str, bytes], ...]
    settled: bool
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
        sources: AddedSources,
        clock: Clock,
        bundled: Path = BUNDLED,
    ) -> None:
        self._listings = Listings(clock)
        self._scanner = Scanner(self._listings)
        self._folders = Folders(
            bundled=bundled,
            workflow_path=tuple(workflow_path),
            home=home,
            sources=sources,
            listings=self._listings,
        )
        self._fetched = str(home / FETCHED)
        self._bindings = BindingFiles()
        self._lock = threading.RLock()
        self._files: dict[str, ReadFile] = {}
        self._claims: dict[str, Candidate] = {}
        self._compilations: dict[tuple[object, ...], Compilation] = {}
        self._indexes: dict[str, _Index] = {}

    def entries(self, workspace: str) -> tuple[Entry, ...]:
        """Return every workflow that can be seen from a workspace, by id, broken ones included."""
        index, bindings = self._index(workspace), self._bindings.read(workspace)
        with self._lock:
            return tuple(self._entry(index, each, bindings) for each in index.candidates)

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
        if inside(path, self._fetched):
            return "It comes from a git repository; change it there."
        return rewrite_file(Path(path), before, after)

    def sources(self, workspace: str) -> tuple[Source, ...]:
        """Return the folders searched, in order of precedence."""
        winners = [entry.path for entry in self.entries(workspace)]
        return tuple(
            Source(
                kind=folder.kind,
                path=folder.path,
                origin=folder.origin,
                total=len(found.files),
                effective=len({file.path for file in found.files}.intersection(winners)),
                missing=found.missing,
                problems=(*folder.problems, *found.problems),
            )
            for folder, found in self._index(workspace).seen
        )

    def bindings(self, workflow_id: str, workspace: str) -> dict[str, str]:
        """Return the workspace's overrides of a workflow's slots, as they stand now."""
        return self._bindings.read(workspace).of(workflow_id)

    def _index(self, workspace: str) -> _Index:
        with self._lock:
            known = self._indexes.get(workspace)
            # Equal folders become the same, so that what is in them is compared by identity.
            same = {folder: folder for folder, _ in known.seen} if known else {}
            folders = [same.get(each, each) for each in self._folders.of(workspace)]
            seen = tuple(
                (folder, self._scanner.scan(folder.path, folder.within)) for folder in folders
            )
            if known and known.settled and known.seen == seen:
                return known
            index = self._built(seen, known)
            self._indexes.pop(workspace, None)
            make_room(self._indexes, WORKSPACES_KEPT_MAX)
            self._indexes[workspace] = index
            return index

    def _built(self, seen: tuple[tuple[Folder, Scan], ...], before: _Index | None) -> _Index:
        candidates: dict[str, list[Candidate]] = {}
        settled = True
        for folder, found in seen:
            for file in found.files:
                read = self._read(file)
                settled = settled and read.settled
                candidates.setdefault(read.id, []).append(self._claim(folder, read))
        routines: dict[str, Document] = {}
        digests = []
        for claims in candidates.values():
            template = claims[0].template
            if template is None:
                continue
            best = next((claim.read for claim in claims if may_use(claim)), None)
            if best is not None and best.document is not None:
                routines[template] = best.document
                digests.append((best.file.path, best.digest))
        index = _Index(
            seen=seen,
            candidates={key: tuple(claims) for key, claims in sorted(candidates.items())},
            routines=routines,
            routine_digests=tuple(sorted(digests)),
            settled=settled,
        )
        if before is not None and before.routine_digests == index.routine_digests:
            index.entries.update(_untouched(before, index))
        return index

    def _claim(self, folder: Folder, read: ReadFile) -> Candidate:
        """Return the claim of a file, the same as long as nothing about it changes."""
        path = read.file.path
        claim = self._claims.get(path)
        if claim is None or claim.read is not read or claim.folder is not folder:
            make_room(self._claims, FILES_KEPT_MAX)
            claim = Candidate(folder, read, routine_template_id(read.id))
            self._claims[path] = claim
        return claim

    def _read(self, file: FoundFile) -> ReadFile:
        """Return a file's content, read anew only if it may have changed."""
        known = self._files.get(file.path)
        if known is not None and known.settled and known.file is file:
            return known
        # Asked before reading: what changes in between must show, not what changed before.
        settled = file.stamp is None or self._listings.is_settled(file.stamp)
        read = read_file(file, known, settled=settled)
        self._files.pop(file.path, None)
        make_room(self._files, FILES_KEPT_MAX)
        self._files[file.path] = read
        return read

    def _entry(self, index: _Index, workflow_id: str, bindings: Bindings) -> Entry:
        known = index.entries.get(workflow_id)
        if known and known[0] is bindings:
            return known[1]
        claims = [
            (claim, self._outcome(index, claim, bindings))
            for claim in index.candidates[workflow_id]
        ]
        winner, outcome = winner_of(claims)
        losers = [each for each in claims if each[0] is not winner]
        has_slots = outcome.workflow is not None and bool(outcome.workflow.bindings)
        entry = Entry(
            id=workflow_id,
            path=winner.read.file.path,
            source=winner.folder.kind,
            source_path=winner.folder.path,
            origin=winner.folder.origin,
            workflow=outcome.workflow,
            data=outcome.data,
            hash=outcome.hash,
            diagnostics=(
                *outcome.diagnostics,
                *bindings.diagnostics(workflow_id, has_slots=has_slots),
                *(lost(claim, told) for claim, told in losers if told.workflow is None),
            ),
            hidden=winner.read.file.hidden,
            shadows=tuple(shadow(claim, winner) for claim, _ in losers),
        )
        index.entries[workflow_id] = (bindings, entry)
        return entry

    def _outcome(self, index: _Index, claim: Candidate, bindings: Bindings) -> Compilation:
        read = claim.read
        if is_reserved(claim):
            return broken((reserved(read),))
        if read.document is None:
            return broken(read.diagnostics)
        bound = bindings.of(read.id)
        key = (
            read.file.path,
            read.digest,
            tuple(sorted(bound.items())),
            index.routine_digests,
        )
        known = self._compilations.get(key)
        if known is None:
            make_room(self._compilations, COMPILATIONS_KEPT_MAX)
            known = compile_workflow(
                read.document, Sources(routines=index.routines, bindings=bound)
            )
            self._compilations[key] = known
        return known


def _is_within(path: str, within: tuple[str, ...]) -> bool:
    return not within or any(PurePath(path).is_relative_to(each) for each in within)


def _untouched(before: _Index, after: _Index) -> dict[str, tuple[Bindings, Entry]]:
    """Return the entries whose files are the same in both, in the same folders."""
    return {
        workflow_id: entry
        for workflow_id, entry in before.entries.items()
        if before.candidates[workflow_id] == after.candidates.get(workflow_id)
    }
