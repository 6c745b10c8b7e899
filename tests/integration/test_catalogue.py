"""Workflow files in real folders: who is found, who wins, what is told, and what is read again."""

import json
import os
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.adapters.clock import SystemClock
from headway.adapters.storage.memory import MemorySources
from headway.adapters.workflows import project, scanning
from headway.adapters.workflows.catalogue import FolderCatalogue
from headway.domain.values import Json
from headway.ports.catalogue import Entry


class Place:
    """The folders of one test, with a catalogue on them."""

    def __init__(self, root: Path) -> None:
        self.bundled = root / "bundled"
        self.path = root / "path"
        self.second = root / "second"
        self.workspace = root / "workspace"
        self.user = root / "workflows"
        for folder in (self.bundled, self.path, self.second, self.workspace, self.user):
            folder.mkdir()
        self.added = MemorySources()
        self.catalogue = FolderCatalogue(
            workflow_path=[str(self.path), str(self.second)],
            home=root,
            sources=self.added,
            clock=SystemClock(),
            bundled=self.bundled,
        )

    def ids(self) -> list[str]:
        return [entry.id for entry in self.catalogue.entries(str(self.workspace))]

    def find(self, workflow_id: str) -> Entry:
        entry = self.catalogue.find(workflow_id, str(self.workspace))
        assert entry is not None
        return entry

    def codes(self, workflow_id: str) -> list[str]:
        return [each.code for each in self.find(workflow_id).diagnostics]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def workflow(workflow_id: str, name: str = "A workflow", **more: Json) -> dict[str, Json]:
    step: dict[str, Json] = {"id": "only-step", "title": "Only", "prompt": "Do it."}
    return {
        "id": workflow_id,
        "name": name,
        "description": "For a test.",
        "version": "1.0.0",
        "steps": [step],
        **more,
    }


def write(path: Path, content: dict[str, Json] | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_files_are_found_in_every_folder_and_format(place: Place) -> None:
    place.added.attach(str(place.workspace / "attached"))
    write(place.bundled / "a.json", workflow("hw.one"))
    write(place.path / "deep" / "er" / "b.json", workflow("path-one"))
    write(place.path / "c.yaml", json.dumps(workflow("yaml-one")).encode())
    write(place.path / "c.yml", json.dumps(workflow("yml-one")).encode())
    write(place.workspace / ".headway" / "workflows" / "d.json", workflow("workspace-one"))
    write(place.workspace / ".workrail" / "workflows" / "e.json", workflow("workspace-two"))
    write(place.workspace / "attached" / "f.json", workflow("attached-one"))
    write(place.user / "g.json", workflow("user-one"))
    write(place.path / "notes.txt", b"not a workflow")
    entries = place.catalogue.entries(str(place.workspace))
    assert {entry.id: entry.source for entry in entries} == {
        "hw.one": "bundled",
        "path-one": "path",
        "yaml-one": "path",
        "yml-one": "path",
        "workspace-one": "workspace",
        "workspace-two": "workspace",
        "attached-one": "attached",
        "user-one": "user",
    }
    assert all(entry.workflow is not None and entry.hash and entry.data for entry in entries)
    assert [entry.id for entry in entries] == sorted(entry.id for entry in entries)


def test_the_first_folder_then_the_first_path_wins_and_shows_its_shadows(place: Place) -> None:
    first = write(place.path / "b.json", workflow("same", "first"))
    others = [
        write(place.path / "c.json", workflow("same", "second")),
        write(place.second / "a.json", workflow("same", "third")),
        write(place.user / "a.json", workflow("same", "fourth")),
    ]
    entry = place.find("same")
    assert entry.path == str(first)
    assert entry.workflow is not None
    assert entry.workflow.name == "first"
    assert [shadow.path for shadow in entry.shadows] == [str(path) for path in others]
    assert [shadow.why.partition(":")[0] for shadow in entry.shadows] == [
        "Its path comes later in the same folder.",
        "Its folder comes later",
        "Its folder comes later",
    ]
    counts = [
        (each.total, each.effective) for each in place.catalogue.sources(str(place.workspace))
    ]
    assert counts == [(0, 0), (2, 1), (1, 0), (0, 0), (0, 0), (1, 0)]


def test_a_broken_file_is_told_and_hides_no_neighbour(place: Place) -> None:
    write(place.path / "healthy.json", workflow("healthy"))
    write(place.path / "not-json.json", b"{nope")
    write(place.path / "not-utf8.json", b'{"id": "bytes", "name": "\xff"}')
    write(place.path / "large.json", b'{"id": "large", "x": "' + b"x" * 1_000_001 + b'"}')
    write(place.path / "steps.json", {**workflow("steps-text"), "steps": "none"})
    write(place.path / "no-id.json", {"name": "nameless"})
    (place.path / "gone.json").symlink_to(place.path / "nowhere.json")
    os.mkfifo(place.path / "pipe.json")
    assert place.find("healthy").workflow is not None
    for broken in ("not-json", "bytes", "large", "steps-text", "no-id", "gone", "pipe"):
        entry = place.find(broken)
        assert entry.workflow is None
        assert entry.diagnostics
        assert all(each.what and each.why and each.remedy for each in entry.diagnostics)
        assert entry.diagnostics[0].file == entry.path


def test_a_file_that_may_not_be_read_is_told(place: Place) -> None:
    path = write(place.path / "shut.json", workflow("shut"))
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert place.codes("shut") == ["FILE_UNREADABLE"]


def test_a_guessed_id_yields_to_a_declared_one_anywhere(place: Place) -> None:
    write(place.path / "wanted.json", b"{nope")
    good = write(place.user / "a.json", workflow("wanted"))
    assert place.find("wanted").path == str(good)
    assert place.codes("wanted") == ["SHADOWED_BROKEN_FILE"]


def test_in_one_folder_the_healthy_file_goes_first(place: Place) -> None:
    write(place.path / "a.json", {**workflow("twice"), "steps": []})
    good = write(place.path / "b.json", workflow("twice"))
    assert place.find("twice").path == str(good)
    assert place.codes("twice") == ["SHADOWED_BROKEN_FILE"]


def test_a_broken_override_is_told_instead_of_the_old_file_running(place: Place) -> None:
    broken = write(place.path / "a.json", {**workflow("twice"), "steps": []})
    write(place.user / "b.json", workflow("twice"))
    assert place.find("twice").path == str(broken)
    assert place.find("twice").workflow is None


def test_reserved_ids_are_refused_outside_the_bundled_folder(place: Place) -> None:
    write(place.path / "a.json", workflow("hw.mine"))
    write(place.path / "b.json", workflow("wr.theirs"))
    assert place.codes("hw.mine") == ["RESERVED_ID"]
    assert place.find("hw.mine").workflow is None
    assert place.find("wr.theirs").workflow is not None


def test_examples_and_internals_are_found_but_hidden(place: Place) -> None:
    write(place.path / "examples" / "a.json", workflow("example-one"))
    write(place.path / "x" / "internal" / "y" / "b.json", workflow("internal-one"))
    write(place.path / "c.json", workflow("shown-one"))
    assert {entry.id: entry.hidden for entry in place.catalogue.entries(str(place.workspace))} == {
        "example-one": True,
        "internal-one": True,
        "shown-one": False,
    }


def test_hidden_names_and_tool_folders_are_passed_over(place: Place) -> None:
    for folder in (".git", "node_modules", ".cache"):
        write(place.path / folder / "a.json", workflow("never"))
    write(place.path / ".a.json", workflow("never"))
    assert place.ids() == []


def test_links_out_of_the_folder_are_not_followed_and_circles_end(
    place: Place, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside / "a.json", workflow("outside-one"))
    write(place.path / "in" / "b.json", workflow("inside-one"))
    (place.path / "out").symlink_to(outside)
    (place.path / "out.json").symlink_to(outside / "a.json")
    (place.path / "in" / "circle").symlink_to(place.path)
    (place.path / "again.json").symlink_to(place.path / "in" / "b.json")
    assert place.ids() == ["inside-one"]
    assert place.find("inside-one").shadows == ()
    problems = place.catalogue.sources(str(place.workspace))[1].problems
    assert [str(place.path / "out") in problem for problem in problems].count(True) == 2


def test_a_workspace_cannot_point_its_workflows_elsewhere(place: Place, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "a.json", workflow("outside-one"))
    (place.workspace / ".headway").mkdir()
    (place.workspace / ".headway" / "workflows").symlink_to(tmp_path / "outside")
    assert place.ids() == []
    assert place.catalogue.sources(str(place.workspace))[3].problems


def test_limits_are_told(place: Place) -> None:
    for number in range(scanning.FILES_MAX + 1):
        (place.path / f"{number}.json").write_text("{}", "utf-8")
    deep = place.second.joinpath(*["d"] * (scanning.DEPTH_MAX + 1))
    write(deep / "c.json", workflow("too-deep"))
    assert len(place.ids()) == scanning.FILES_MAX
    problems = [each.problems for each in place.catalogue.sources(str(place.workspace))]
    assert f"more than {scanning.FILES_MAX} workflow files" in problems[1][0]
    assert f"{scanning.DEPTH_MAX} folders deep" in problems[2][0]


def test_missing_folders_are_said_to_be_missing(place: Place) -> None:
    place.second.rmdir()
    sources = place.catalogue.sources(str(place.workspace))
    assert [each.kind for each in sources if each.missing] == ["path", "workspace", "workspace"]


def test_a_changed_file_is_seen_at_once_and_others_are_not_compiled_again(place: Place) -> None:
    changing = write(place.path / "a.json", workflow("changing", "old"))
    write(place.path / "b.json", workflow("staying"))
    assert place.ids() == ["changing", "staying"]
    first = place.find("staying")
    assert place.find("staying") is first
    write(changing, workflow("changing", "newer"))
    changed = place.find("changing").workflow
    assert changed is not None
    assert changed.name == "newer"
    assert place.find("staying").workflow is first.workflow
    changing.unlink()
    assert place.ids() == ["staying"]
    assert place.find("staying").workflow is first.workflow


def slotted() -> dict[str, Json]:
    point: dict[str, Json] = {"slotId": "review", "purpose": "Who reviews.", "default": "them"}
    step: dict[str, Json] = {
        "id": "only-step",
        "title": "Only",
        "prompt": "Ask {{wr.bindings.review}}.",
    }
    return workflow("slotted", extensionPoints=[point], steps=[step])


def test_bindings_are_read_as_they_stand_now(place: Place) -> None:
    write(place.path / "a.json", slotted())
    default = place.find("slotted").hash
    older = place.workspace / ".workrail" / "bindings.json"
    write(older, {"slotted": {"review": "us"}})
    assert place.catalogue.bindings("slotted", str(place.workspace)) == {"review": "us"}
    assert place.find("slotted").hash != default
    write(place.workspace / ".headway" / "bindings.json", {"review": "me"})
    assert place.catalogue.bindings("slotted", str(place.workspace)) == {"review": "me"}
    assert place.find("slotted").diagnostics == ()


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b"\xff", b'{"slotted": 3}', b'{"slotted": {"review": 1}}']
)
def test_bad_bindings_are_ignored_with_a_warning(place: Place, content: bytes) -> None:
    write(place.path / "a.json", slotted())
    write(place.path / "b.json", workflow("plain"))
    default = place.find("slotted").hash
    write(place.workspace / ".headway" / "bindings.json", content)
    assert place.catalogue.bindings("slotted", str(place.workspace)) == {}
    assert place.find("slotted").hash == default
    assert place.codes("slotted") == ["BINDINGS_IGNORED"]
    assert place.codes("plain") == []


def test_a_routine_of_any_folder_serves_templates_and_its_change_is_seen(place: Place) -> None:
    call: Json = {
        "id": "called",
        "title": "Call",
        "templateCall": {"templateId": "wr.templates.routine.helper"},
    }
    routine = write(place.user / "r.json", workflow("routine-helper"))
    write(place.path / "a.json", workflow("caller", steps=[call]))
    before = place.find("caller")
    assert before.workflow is not None, before.diagnostics
    changed = workflow(
        "routine-helper", steps=[{"id": "only-step", "title": "New", "prompt": "Now."}]
    )
    write(routine, changed)
    assert place.find("caller").hash != before.hash


def test_an_unknown_id_is_not_found(place: Place) -> None:
    assert place.catalogue.find("unknown", str(place.workspace)) is None


def test_many_threads_see_the_same_catalogue(place: Place) -> None:
    for number in range(20):
        write(place.path / f"{number}.json", workflow(f"number-{number}"))
    start = threading.Barrier(8)

    def look(_number: int) -> list[tuple[str, str]]:
        start.wait(30)
        return [(each.id, each.hash) for each in place.catalogue.entries(str(place.workspace))]

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(look, range(8)))
    assert len(seen[0]) == 20
    assert all(each == seen[0] for each in seen)


def test_a_projects_folders_are_found_above_and_at_most_five_levels_below(
    place: Place, tmp_path: Path
) -> None:
    place.workspace = tmp_path / "team" / "project" / "workspace"
    below = place.workspace.joinpath("1", "2", "3", "4", "5")
    write(tmp_path / "team" / ".headway" / "workflows" / "a.json", workflow("above-one"))
    write(place.workspace.parent / ".workrail" / "workflows" / "b.json", workflow("above-two"))
    write(place.workspace / ".headway" / "workflows" / "c.json", workflow("here-one"))
    write(below / ".workrail" / "workflows" / "d.json", workflow("below-one"))
    write(below / "6" / ".headway" / "workflows" / "e.json", workflow("too-deep"))
    for skipped in ("node_modules", ".git", "build"):
        folder = place.workspace / skipped / ".headway" / "workflows"
        write(folder / "f.json", workflow("never"))
    assert place.ids() == ["above-one", "above-two", "below-one", "here-one"]
    assert {place.find(each).source for each in place.ids()} == {"workspace"}


def test_the_nearest_folder_of_a_project_wins_and_says_why(place: Place, tmp_path: Path) -> None:
    place.workspace = tmp_path / "team" / "workspace"
    near = write(place.workspace / ".workrail" / "workflows" / "z.json", workflow("same"))
    above = write(tmp_path / "team" / ".headway" / "workflows" / "a.json", workflow("same"))
    below = write(place.workspace / "1" / ".headway" / "workflows" / "a.json", workflow("same"))
    entry = place.find("same")
    assert entry.path == str(near)
    assert [shadow.path for shadow in entry.shadows] == [str(above), str(below)]
    assert all(str(near.parent) in shadow.why for shadow in entry.shadows)


def test_a_project_folder_that_appears_is_seen_at_the_next_call(place: Place) -> None:
    deep = place.workspace / "a" / "b"
    deep.mkdir(parents=True)
    assert place.ids() == []
    write(deep / ".headway" / "workflows" / "a.json", workflow("appeared"))
    assert place.ids() == ["appeared"]
    (deep / ".headway" / "workflows" / "a.json").unlink()
    assert place.ids() == []


def test_the_users_own_folder_stays_the_users_where_the_workspace_lies_below_the_home(
    tmp_path: Path,
) -> None:
    home = tmp_path / ".headway"
    workspace = tmp_path / "work"
    workspace.mkdir()
    write(home / "workflows" / "a.json", workflow("own"))
    catalogue = FolderCatalogue(
        workflow_path=[], home=home, sources=MemorySources(), clock=SystemClock(), bundled=workspace
    )
    entry = catalogue.find("own", str(workspace))
    assert entry is not None
    assert entry.source == "user"


def test_a_tree_that_is_too_large_is_searched_in_part_and_told(place: Place) -> None:
    for number in range(project.FOLDERS_MAX + 1):
        (place.workspace / f"{number:05}").mkdir()
    write(place.workspace / "00000" / ".headway" / "workflows" / "a.json", workflow("early"))
    assert place.ids() == ["early"]
    problems = [
        problem
        for source in place.catalogue.sources(str(place.workspace))
        for problem in source.problems
    ]
    assert [f"more than {project.FOLDERS_MAX} folders" in each for each in problems] == [True]


def test_a_folder_in_place_of_a_file_is_told_and_hides_nothing(place: Place) -> None:
    write(place.path / "healthy.json", workflow("healthy"))
    (place.path / "shape.json").mkdir()
    (place.workspace / ".headway").mkdir()
    (place.workspace / ".headway" / "workflows").write_text("{}", "utf-8")
    assert place.find("healthy").workflow is not None
    assert place.codes("shape") == ["FILE_UNREADABLE"]
    assert "folder" in place.find("shape").diagnostics[0].what
    sources = place.catalogue.sources(str(place.workspace))
    assert [each.problems for each in sources if "not a folder" in "".join(each.problems)]


def test_links_in_a_loop_are_told_and_hide_nothing(place: Place) -> None:
    write(place.path / "healthy.json", workflow("healthy"))
    (place.path / "self.json").symlink_to("self.json")
    (place.path / "one.json").symlink_to("other.json")
    (place.path / "other.json").symlink_to("one.json")
    (place.workspace / ".headway").mkdir()
    (place.workspace / ".headway" / "workflows").symlink_to("workflows")
    assert place.find("healthy").workflow is not None
    for looped in ("self", "one", "other"):
        (problem,) = place.find(looped).diagnostics
        assert (problem.code, problem.line) == ("FILE_UNREADABLE", 1)
        assert "leads back to itself" in problem.what


def test_a_file_of_fifty_megabytes_is_refused_without_being_read(place: Place) -> None:
    write(place.path / "healthy.json", workflow("healthy"))
    with (place.path / "huge.json").open("wb") as file:
        file.truncate(50_000_000)
    tracemalloc.start()
    try:
        assert place.codes("huge") == ["FILE_TOO_LARGE"]
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert "50000000 bytes" in place.find("huge").diagnostics[0].what
    assert place.find("healthy").workflow is not None


def test_templates_that_call_each_other_are_told_and_hide_nothing(place: Place) -> None:
    def calling(name: str) -> Json:
        called = {"templateId": f"wr.templates.routine.{name}"}
        return [{"id": "called", "title": "Call", "templateCall": called}]

    write(place.path / "healthy.json", workflow("healthy"))
    write(place.path / "a.json", workflow("routine-a", steps=calling("b")))
    write(place.path / "b.json", workflow("routine-b", steps=calling("a")))
    for cyclic in ("routine-a", "routine-b"):
        entry = place.find(cyclic)
        assert entry.workflow is None
        assert entry.diagnostics[0].line >= 1
        assert entry.diagnostics[0].file
    assert place.find("healthy").workflow is not None


def test_a_file_that_becomes_readable_is_read(place: Place) -> None:
    path = write(place.path / "shut.json", workflow("shut"))
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert place.codes("shut") == ["FILE_UNREADABLE"]
    path.chmod(0o600)
    assert place.find("shut").workflow is not None


def test_a_change_within_the_same_tick_and_of_the_same_size_is_seen(place: Place) -> None:
    path = write(place.path / "a.json", workflow("ticking", "name-00"))
    for number in range(20):
        write(path, workflow("ticking", f"name-{number:02}"))
        found = place.find("ticking").workflow
        assert found is not None
        assert found.name == f"name-{number:02}"
        fresh = write(place.path / f"new-{number}.json", workflow(f"new-{number}"))
        assert f"new-{number}" in place.ids()
        fresh.unlink()
        assert f"new-{number}" not in place.ids()


def test_a_file_that_was_only_touched_is_not_compiled_again(place: Place) -> None:
    path = write(place.path / "a.json", workflow("touched"))
    first = place.find("touched").workflow
    os.utime(path, ns=(1, 1))
    assert place.find("touched").workflow is first
    write(path, workflow("touched"))
    assert place.find("touched").workflow is first
