"""`headway workflows new`, `copy`, `convert`: a file is written that its author can go on with."""

import itertools
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.cli.main import cli
from headway.domain.compiler.published_schema import workflow_schema
from headway.domain.compiler.reading import Document, read_document
from headway.domain.values import Json

BUNDLED = Path(__file__).parents[2] / "src" / "headway" / "workflows"
SENTENCE = "Write the notes of a release: what changed, and why."
COMMENTED = """\
# yaml-language-server: $schema=../../schemas/workflow.schema.json
# Ours since 2024.
id: team.greet   # never change this
name: Greet
description: Say good day.
version: 2.1.0
validatedAgainstSpecVersion: 4
metricsProfile: none
steps:
  - {id: one, title: One, prompt: "Say #good day."}  # that is all
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    (project / ".headway" / "workflows").mkdir(parents=True)
    (project / ".headway" / "workflows" / "greet.yaml").write_text(COMMENTED, "utf-8")
    monkeypatch.chdir(project)
    return project


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["workflows", *map(str, arguments)])


def done(*arguments: str | Path) -> Result:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result


def refused(*arguments: str | Path, code: int = 1) -> dict[str, Json]:
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stdout) == (code, "")
    envelope = json.loads(result.stderr)
    assert isinstance(envelope, dict)
    return envelope


def tree(path: Path) -> dict[str, Json]:
    document = read_document(path.read_bytes(), path.name)
    assert isinstance(document, Document)
    return dict(document.root)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


PARTS = [
    [
        part
        for part, wanted in zip(("--loop", "--contract", "--checks"), choice, strict=True)
        if wanted
    ]
    for choice in itertools.product((False, True), repeat=3)
]


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "".join(parts) or "plain")
def test_lint_has_nothing_to_say_about_a_new_file(folder: Path, parts: list[str]) -> None:
    told = done("new", "acme.release-notes", "-d", SENTENCE, *parts)
    file = folder / ".headway" / "workflows" / "release-notes.yaml"
    assert "headway workflows lint .headway/workflows/release-notes.yaml" in told.output
    assert done("lint", file, "--strict").output.startswith(
        "1 file: 0 errors, 0 warnings, 0 infos."
    )
    written = tree(file)
    assert written["name"] == "Release notes"
    assert written["description"] == SENTENCE
    assert ("contracts" in written) is ("--contract" in parts)
    assert "acme.release-notes" in done("list").output


def test_a_new_file_names_a_schema_that_is_there(folder: Path) -> None:
    for output in ([], ["-o", "deep/er/a.yaml"]):
        done("new", "acme.a", "-d", SENTENCE, *output)
        file = folder / (output[1] if output else ".headway/workflows/a.yaml")
        first = file.read_text("utf-8").splitlines()[0]
        named = first.removeprefix("# yaml-language-server: $schema=")
        assert json.loads((file.parent / named).read_text("utf-8")) == workflow_schema()


def test_nothing_is_overwritten_unasked(folder: Path) -> None:
    before = files(folder)
    for command in (
        ["new", "team.greet", "-d", SENTENCE],
        ["copy", "hw.bug-fix", "-o", _copy_target()],
        ["convert", _copy_source(), "-o", ".headway/workflows/greet.yaml"],
    ):
        assert "already there" in str(refused(*command)["message"])
    assert {path: files(folder)[path] for path in before} == before
    done("new", "team.greet", "-d", SENTENCE, "--force")
    assert tree(folder / ".headway/workflows/greet.yaml")["description"] == SENTENCE


def _copy_target() -> str:
    """Make a file in the way of a copy, in the format of what is copied, and return its name."""
    name = f"there{_bundled('bug-fix').suffix}"
    Path(name).write_text("mine", "utf-8")
    return name


def _copy_source() -> str:
    Path("source.json").write_text(json.dumps({"id": "acme.a"}), "utf-8")
    return "source.json"


def _bundled(name: str) -> Path:
    (found,) = BUNDLED.rglob(f"{name}.*")
    return found


def test_without_a_terminal_it_says_which_words_to_give(folder: Path) -> None:
    before = files(folder)
    envelope = refused("new", code=2)
    assert envelope["code"] == "VALIDATION_ERROR"
    for word in ("ID", "--description", "--name", "--loop", "--contract", "--checks"):
        assert word in str(envelope["message"])
    assert "give --description" in str(refused("new", "acme.a", code=2)["message"])
    assert files(folder) == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["Acme.A", "-d", SENTENCE], "lower-case"),
        (["a", "-d", SENTENCE], "3"),
        (["hw.mine", "-d", SENTENCE], "begins with hw."),
        (["acme.a", "-d", "x" * 600], "512"),
        (["acme.a", "-d", SENTENCE, "--name", "x" * 200], "128"),
        (["acme.a", "-d", SENTENCE, "-o", "a.json"], ".yaml"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is(
    folder: Path, words: list[str], why: str
) -> None:
    before = files(folder)
    assert why in str(refused("new", *words)["message"])
    assert files(folder) == before


def test_on_a_terminal_it_asks_for_what_is_not_given(folder: Path) -> None:
    answers = b"acme.tidy\n\nTidy up.\ny\nn\ny\n"
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "headway", "workflows", "new"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, answers)
        shown = b""
        while more := _read(ours):
            shown += more
        assert process.wait(60) == 0, shown
    os.close(ours)
    assert b"Its id, such as acme.release" in shown
    written = tree(folder / ".headway" / "workflows" / "tidy.yaml")
    assert (written["name"], written["description"]) == ("Tidy", "Tidy up.")
    assert "contracts" not in written
    assert "checks" in json.dumps(written)
    assert "maxIterations" in json.dumps(written)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how a terminal ends when the last process on it left
        return b""


def test_a_copy_keeps_comments_and_says_what_it_is_a_copy_of(folder: Path) -> None:
    shown = json.loads(done("show", "team.greet", "--json").output)
    done("copy", "team.greet", "--as", "acme.greet", "-o", "ours/greet.yaml")
    text = (folder / "ours" / "greet.yaml").read_text("utf-8")
    origin = f'{{id: team.greet, version: 2.1.0, hash: "{shown["workflowHash"]}"}}'
    assert text == COMMENTED.replace("../../schemas", "../schemas").replace(
        "id: team.greet ", "id: acme.greet "
    ).replace("version: 2.1.0\n", f"version: 2.1.0\ncopiedFrom: {origin}\n")


@pytest.mark.parametrize("path", sorted(BUNDLED.rglob("*.*")), ids=lambda path: path.stem)
def test_every_bundled_workflow_can_be_copied_and_is_clean_where_it_goes(
    folder: Path, path: Path
) -> None:
    original = tree(path)["id"]
    told = json.loads(done("copy", str(original), "--json").output)
    copy = Path(told["file"])
    assert copy.is_relative_to(folder / ".headway" / "workflows")
    assert done("lint", copy, "--strict").output.startswith("1 file: 0 errors, 0 warnings")
    text = copy.read_text("utf-8")
    assert '"../workflow.schema.json"' in text or "$schema=../workflow.schema.json" in text
    assert (folder / ".headway" / "workflow.schema.json").is_file()
    ours, theirs = tree(copy), tree(path)
    origin = {"id": original, "version": theirs["version"], "hash": told["originalHash"]}
    assert ours.pop("copiedFrom") == origin
    changed = {key for key in ours if ours[key] != theirs[key]}
    assert changed <= {"id", "$schema"}


def test_what_a_copy_came_from_changes_nothing_that_runs(folder: Path) -> None:
    done("copy", "team.greet", "--as", "team.other")
    file = folder / ".headway" / "workflows" / "other.yaml"
    noted = json.loads(done("show", "team.other", "--json").output)["workflowHash"]
    kept = [line for line in file.read_text("utf-8").splitlines() if "copiedFrom" not in line]
    file.write_text("\n".join(kept), "utf-8")
    assert json.loads(done("show", "team.other", "--json").output)["workflowHash"] == noted


def test_a_copy_that_cannot_be_made_is_refused_with_the_reason(folder: Path) -> None:
    before = files(folder)
    assert "Did you mean team.greet" in str(refused("copy", "team.gret")["details"])
    assert "is taken" in str(refused("copy", "team.greet", "--as", "team.greet")["message"])
    assert "begins with hw." in str(refused("copy", "team.greet", "--as", "hw.mine")["message"])
    assert "lower-case" in str(refused("copy", "team.greet", "--as", "Mine")["message"])
    assert "keeps the format" in str(refused("copy", "team.greet", "-o", "a.json")["message"])
    assert files(folder) == before


def test_json_goes_to_yaml_and_back_without_loss(folder: Path) -> None:
    done("convert", ".headway/workflows/greet.yaml", "--to", "yaml", "-o", "a.yaml")
    Path("a.json").write_text(json.dumps(tree(folder / "a.yaml"), indent=2) + "\n", "utf-8")
    yaml_text = done("convert", "a.json").output
    Path("b.yaml").write_text(yaml_text, "utf-8")
    assert done("convert", "b.yaml").output == Path("a.json").read_text("utf-8")
    told = json.loads(done("convert", "a.json", "--json").output)
    assert told == {"file": None, "text": yaml_text, "commentsLost": 0}


def test_comments_that_json_has_no_place_for_are_counted_and_the_schema_goes_along(
    folder: Path,
) -> None:
    told = run("convert", ".headway/workflows/greet.yaml", "-o", "greet.json")
    assert told.stderr == "3 comments left out: JSON has no place for them.\n"
    assert told.stdout == "Wrote greet.json.\n"
    first, *_ = tree(folder / "greet.json").items()
    assert first == ("$schema", "../../schemas/workflow.schema.json")
    back = done("convert", "greet.json").output
    assert back.startswith("# yaml-language-server: $schema=../../schemas/workflow.schema.json\n")


def test_of_two_files_beside_each_other_it_says_that_one_must_go(folder: Path) -> None:
    told = run("convert", ".headway/workflows/greet.yaml", "-o", ".headway/workflows/greet.json")
    assert "remove .headway/workflows/greet.yaml" in told.stdout
    assert (folder / ".headway" / "workflows" / "greet.yaml").is_file()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", b'{"id": "a",}', "a.json:1:"),
        ("a.yaml", b"id: a\nid: b\n", "second time"),
        ("a.json", b"[]", "holds a list"),
        ("a.json", b"x" * 1_000_001, "1,000,001 bytes"),
        ("a.json", json.dumps({"a": ["\n\n" * 9] * 40_000}).encode(), "bytes"),
    ],
)
def test_what_cannot_be_converted_is_located(
    folder: Path, name: str, content: bytes, why: str
) -> None:
    (folder / name).write_bytes(content)
    before = files(folder)
    envelope = refused("convert", name, "-o", "out.yaml", "--to", "yaml")
    assert envelope["code"] == "VALIDATION_ERROR"
    assert why in str(envelope["message"])
    assert files(folder) == before


def test_a_folder_and_a_name_that_is_not_there_cannot_be_converted(folder: Path) -> None:
    assert refused("convert", "nowhere.json")["code"] == "NOT_FOUND"
    assert "not a regular file" in str(refused("convert", folder)["message"])
    assert "does not say" in str(
        refused("convert", ".headway/workflows/greet.yaml", "-o", "a.yaml")["message"]
    )


def test_what_they_print_for_programs_is_what_the_reference_says(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli-json.md").read_text("utf-8")
    (folder / "a.json").write_text("{}", "utf-8")
    for name, words in (
        ("new", ["acme.a", "-d", SENTENCE]),
        ("copy", ["team.greet", "--as", "team.hail"]),
        ("convert", ["a.json"]),
    ):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `workflows {name}` |")]
        fields = json.loads(done(name, *words, "--json").output).keys()
        assert {*re.findall(r"`(\w+)`", row.split("|")[2])} == {*fields}
