"""The file tools, on real folders: what they show and change, and where they do not go."""

import os
import threading
import time
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from headway.agent.tools import editing, files
from headway.agent.tools.files import replace_file
from headway.domain.values import Json
from tests.support.tooled import Workbench

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("not for you\n")
    return folder


@pytest.fixture
def bench(root: Path) -> Workbench:
    return Workbench(root)


async def test_a_file_is_shown_with_the_numbers_of_its_lines(root: Path, bench: Workbench) -> None:
    (root / "a.py").write_text("one\ntwo\nthree")
    assert await bench.done("read_file", path="a.py") == "1\tone\n2\ttwo\n3\tthree"
    shown = await bench.done("read_file", path=str(root / "a.py"), offset=2, limit=1)
    assert shown.splitlines()[0] == "2\ttwo"
    assert "offset 3" in shown


async def test_every_line_of_a_long_file_can_be_paged_to(root: Path, bench: Workbench) -> None:
    (root / "long.txt").write_text("".join(f"line {n} {'x' * 50}\n" for n in range(1, 3_001)))
    seen, offset = list[str](), 1
    while True:
        *lines, last = (await bench.done("read_file", path="long.txt", offset=offset)).splitlines()
        if not last.startswith("["):
            seen += [*lines, last]
            break
        assert lines
        seen += lines
        offset += len(lines)
        assert f"offset {offset} " in last
    assert [line.split("\t")[0] for line in seen] == [str(n) for n in range(1, 3_001)]


async def test_a_huge_file_of_one_line_is_cut_and_not_read_whole(
    root: Path, bench: Workbench
) -> None:
    with (root / "huge.bin").open("wb") as file:
        file.write(b"x" * 5_000)
        file.truncate(3 << 30)  # a hole: 3 GiB that take no room
    (root / "wide.txt").write_text("y" * 1_000_000 + "\nend\n")
    shown = await bench.done("read_file", path="wide.txt")
    assert len(shown) < 3_000
    assert "[... the line goes on]" in shown
    assert shown.splitlines()[1] == "2\tend"
    assert "no text; it has 3221225472" in await bench.failed("read_file", path="huge.bin")


async def test_a_line_too_far_into_a_huge_file_is_left_to_the_shell(
    root: Path, bench: Workbench
) -> None:
    with (root / "huge.txt").open("wb") as file:
        file.write(b"first\n" + b"x" * 10_000)
        file.truncate(1 << 30)
    assert "with bash" in await bench.failed("read_file", path="huge.txt", offset=3)


async def test_an_empty_file_says_that_it_is_empty(root: Path, bench: Workbench) -> None:
    (root / "empty").touch()
    assert await bench.done("read_file", path="empty") == "[the file is empty]"
    assert "fewer than the offset" in await bench.failed("read_file", path="empty", offset=9)


async def test_what_is_no_text_is_not_shown(root: Path, bench: Workbench) -> None:
    (root / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert "no text; it has 16 bytes" in await bench.failed("read_file", path="image.png")
    (root / "latin.txt").write_bytes("h\xe9\n".encode("latin-1"))
    assert await bench.done("read_file", path="latin.txt") == "1\th\ufffd"


@pytest.mark.parametrize("path", ["..", "../secret.txt", "/etc/passwd", "a/../../secret.txt"])
@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "grep", "glob"])
async def test_no_file_tool_leaves_the_worktree(
    root: Path, bench: Workbench, tool: str, path: str
) -> None:
    more = {
        "write_file": {"content": "mine"},
        "edit_file": {"old": "not", "new": "all"},
        "grep": {"pattern": "for you"},
        "glob": {"pattern": "*"},
    }
    assert "outside the worktree" in await bench.failed(tool, path=path, **more.get(tool, {}))
    assert (root.parent / "secret.txt").read_text() == "not for you\n"


async def test_a_link_that_leads_out_is_not_followed(root: Path, bench: Workbench) -> None:
    (root / "link").symlink_to(root.parent / "secret.txt")
    (root / "up").symlink_to(root.parent)
    for path in ("link", "up/secret.txt", "up/new.txt"):
        assert "outside" in await bench.failed("write_file", path=path, content="mine")
        assert "outside" in await bench.failed("read_file", path=path)
    assert await bench.done("grep", pattern="for you") == "Nothing was found."
    assert "secret" not in await bench.done("glob", pattern="**")
    assert not (root.parent / "new.txt").exists()


async def test_a_link_inside_the_worktree_is_written_through(root: Path, bench: Workbench) -> None:
    (root / "real.txt").write_text("old")
    (root / "link.txt").symlink_to("real.txt")
    await bench.done("write_file", path="link.txt", content="new")
    assert (root / "link.txt").is_symlink()
    assert (root / "real.txt").read_text() == "new"


async def test_a_loop_of_links_and_a_nul_are_refused(root: Path, bench: Workbench) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert await bench.failed("read_file", path="a")
    assert "cannot be a path" in await bench.failed("read_file", path="a\0b")


async def test_what_is_no_regular_file_is_refused_at_once(root: Path, bench: Workbench) -> None:
    os.mkfifo(root / "pipe")
    for tool, more in (("read_file", {}), ("write_file", {"content": "x"})):
        assert "no regular file" in await bench.failed(tool, path="pipe", **more)
        assert "is a folder" in await bench.failed("read_file", path=".")


async def test_what_is_gits_own_is_not_written(root: Path, bench: Workbench) -> None:
    (root / ".git").mkdir()
    for path in (".git/hooks/pre-commit", "sub/.git/config"):
        assert "git keeps it" in await bench.failed("write_file", path=path, content="x")
    assert not list((root / ".git").iterdir())


async def test_a_file_is_made_with_its_folders_and_replaced_whole(
    root: Path, bench: Workbench
) -> None:
    text = await bench.done("write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert text == "Made a/b/c.txt: 2 lines, 8 bytes."
    (root / "a/b/c.txt").chmod(0o750)
    assert "Replaced" in await bench.done("write_file", path="a/b/c.txt", content="three")
    assert (root / "a/b/c.txt").read_text() == "three"
    assert (root / "a/b/c.txt").stat().st_mode & 0o777 == 0o750
    assert [path.name for path in (root / "a/b").iterdir()] == ["c.txt"]


async def test_half_a_surrogate_pair_is_not_written(root: Path, bench: Workbench) -> None:
    result = await bench.send("write_file", '{"path": "a.txt", "content": "\\ud800"}')
    assert result.failed
    assert not (root / "a.txt").exists()


async def test_an_edit_replaces_the_one_passage_that_is_meant(root: Path, bench: Workbench) -> None:
    (root / "a.py").write_text("price = '$1'\nother = 2\n")
    done = await bench.done("edit_file", path="a.py", old="'$1'", new="'$& $$ \\1'")
    assert done == "Changed one place in a.py."
    assert (root / "a.py").read_text() == "price = '$& $$ \\1'\nother = 2\n"


async def test_the_nearest_line_of_a_long_file_is_not_looked_for_in_all_of_it(
    root: Path, bench: Workbench
) -> None:
    lines = [",".join(str(n * number % 9_973) for n in range(1, 30)) for number in range(20_000)]
    (root / "figures.csv").write_text("\n".join(lines))
    began = time.monotonic()
    said = await bench.failed("edit_file", path="figures.csv", old=f"{lines[3][:-3]}z", new="0")
    assert "Line 4 is like it" in said
    assert time.monotonic() - began < 20  # to compare it with every line takes a minute


@pytest.mark.parametrize(
    ("tool", "more"), [("write_file", {"content": "new"}), ("edit_file", {"old": "o", "new": "n"})]
)
async def test_a_call_that_is_cancelled_has_ended_when_it_is_over(
    root: Path, bench: Workbench, monkeypatch: pytest.MonkeyPatch, tool: str, more: dict[str, Json]
) -> None:
    (root / "a.txt").write_text("old")
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def held(path: Path, data: bytes) -> None:
        begun.set()
        go.wait()
        replace_file(path, data)
        ended.set()

    for module in (files, editing):
        monkeypatch.setattr(module, "replace_file", held)
    async with anyio.create_task_group() as group:
        group.start_soon(partial(bench.call, tool, path="a.txt", **more))
        await run_sync(begun.wait)
        threading.Timer(0.2, go.set).start()
        group.cancel_scope.cancel()
    was_over = ended.is_set()
    go.set()
    assert was_over  # or it would write beside whoever has the run next


async def test_an_edit_without_its_passage_changes_nothing_and_shows_the_nearest_line(
    root: Path, bench: Workbench
) -> None:
    (root / "a.py").write_text("def greet(name):\n    return name\n")
    said = await bench.failed("edit_file", path="a.py", old="def greet(nam):", new="x")
    assert "Line 1 is like it: 'def greet(name):'" in said
    assert (root / "a.py").read_text() == "def greet(name):\n    return name\n"


async def test_an_edit_of_several_places_must_say_so(root: Path, bench: Workbench) -> None:
    (root / "a.py").write_text("x\nx\n")
    assert "2 places" in await bench.failed("edit_file", path="a.py", old="x", new="y")
    assert (root / "a.py").read_text() == "x\nx\n"
    await bench.done("edit_file", path="a.py", old="x", new="y", replace_all=True)
    assert (root / "a.py").read_text() == "y\ny\n"


async def test_an_edit_keeps_the_line_ends_and_the_bytes_it_does_not_know(
    root: Path, bench: Workbench
) -> None:
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree \xff\r\n")
    assert "[the lines end in CRLF]" in await bench.done("read_file", path="dos.txt")
    await bench.done("edit_file", path="dos.txt", old="one\ntwo", new="1\n2\n2b")
    assert (root / "dos.txt").read_bytes() == b"1\r\n2\r\n2b\r\nthree \xff\r\n"


async def test_a_worktree_that_was_removed_is_told_as_such(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "removed")
    for tool in ("read_file", "glob", "bash"):
        more = {"glob": {"pattern": "*"}, "bash": {"command": "true"}}.get(tool, {"path": "a"})
        assert "worktree of this run is gone" in await bench.failed(tool, **more)
