"""A workflow file is changed whole or not at all, and never over somebody else's change."""

from pathlib import Path

from headway.adapters.workflows.rewriting import rewrite_file

MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def test_a_file_that_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("id: b", "utf-8")
    assert rewrite_file(path, "id: a", "id: c") == "It was changed meanwhile."
    assert path.read_text("utf-8") == "id: b"


def test_a_file_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    for path in (tmp_path / "gone" / "a.yaml", tmp_path):
        assert rewrite_file(path, "id: a", "id: c").startswith("It cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_workrails_folder_is_never_written_to(tmp_path: Path) -> None:
    path = tmp_path / ".workrail" / "workflows" / "a.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}", "utf-8")
    link = tmp_path / "a.json"
    link.symlink_to(path)
    for name in (path, link):
        assert "only reads what stands in .workrail" in rewrite_file(name, "{}", "[]")
    assert path.read_text("utf-8") == "{}"


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(MARK + "id: a", "utf-8")
    assert rewrite_file(path, "id: a", "id: c") == ""
    assert path.read_text("utf-8") == MARK + "id: c"
    assert list(tmp_path.iterdir()) == [path]
