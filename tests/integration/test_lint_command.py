"""`headway workflows lint`, `schema`, `rules`: an author is told before an agent reads."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.cli.main import cli
from headway.domain.compiler.published_schema import workflow_schema

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SOUND = """\
id: acme.sound
name: Sound
description: Nothing is to be said of it.
version: 1.0.0
validatedAgainstSpecVersion: 4
metricsProfile: none
steps:
  - {id: one, title: One, prompt: Do it.}
"""
WARNED = SOUND.replace("acme.sound", "acme.warned").replace("Do it.", '"Do it for {{whom}}."')
BROKEN = SOUND.replace("acme.sound", "acme.broken").replace("prompt:", "promt:")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "home"))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "sound.yaml").write_text(SOUND, "utf-8")
    (folder / "warned.yaml").write_text(WARNED, "utf-8")
    (folder / "broken.yaml").write_text(BROKEN, "utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["workflows", *map(str, arguments)])


def lint(*arguments: str | Path) -> Result:
    return run("lint", *arguments)


def test_it_names_file_place_weight_code_reason_and_remedy(files: Path) -> None:
    told = lint(files)
    assert told.exit_code == 1
    first, *_, last = told.output.splitlines()
    assert first.startswith("broken.yaml:8:")
    assert "error UNKNOWN_KEY: " in told.output
    assert '"prompt"' in told.output  # what was probably meant
    assert "\nwarned.yaml:8:35: warning VARIABLE_NEVER_SET: " in told.output
    assert last == "3 files: 1 error, 1 warning, 0 infos."


def test_of_one_file_it_says_nothing_of_the_neighbours(files: Path) -> None:
    told = lint(files / "sound.yaml")
    assert told.output == "1 file: 0 errors, 0 warnings, 0 infos.\n"
    assert told.exit_code == 0


def test_of_several_paths_it_speaks_of_them_all(files: Path) -> None:
    told = lint(files / "sound.yaml", files / "warned.yaml")
    assert told.output.endswith("2 files: 0 errors, 1 warning, 0 infos.\n")


def test_a_warning_fails_a_strict_run_alone(files: Path) -> None:
    assert lint(files / "warned.yaml").exit_code == 0
    assert lint(files / "warned.yaml", "--strict").exit_code == 1
    assert lint(files / "sound.yaml", "--strict").exit_code == 0


def test_misuse_ends_with_2(files: Path) -> None:
    (files / "empty").mkdir()
    for arguments in (["empty"], ["nowhere"], ["--format", "xml"], ["--bogus"]):
        told = lint(*arguments)
        assert (told.exit_code, told.stdout) == (2, "")
    assert "no workflow file" in lint("empty").stderr


def test_it_prints_json_for_programs(files: Path) -> None:
    told = json.loads(lint(files, "--format", "json").output)
    assert told["files"] == [str(files / f"{name}.yaml") for name in ("broken", "sound", "warned")]
    found = told["diagnostics"][-1]
    assert found.items() >= {
        "code": "VARIABLE_NEVER_SET", "severity": "warning", "line": 8, "path": "steps[0].prompt",
        "file": str(files / "warned.yaml"),
    }.items()  # fmt: skip
    assert lint(files, "--json").output == lint(files, "--format", "json").output


def test_it_prints_sarif_for_hosts(files: Path) -> None:
    log = json.loads(lint(files, "--format", "sarif").output)
    (found,) = [
        each for each in log["runs"][0]["results"] if each["ruleId"] == "VARIABLE_NEVER_SET"
    ]
    where = found["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "warned.yaml", "uriBaseId": "ROOT"}
    assert where["region"] == {"startLine": 8, "startColumn": 35}


def test_a_file_that_lost_its_id_to_another_is_looked_at_as_well(files: Path) -> None:
    (files / "twin.yaml").write_text(WARNED.replace("acme.warned", "acme.sound"), "utf-8")
    told = lint(files / "twin.yaml")
    assert f"{files / 'sound.yaml'} has the same id and is used instead." in told.output
    assert "VARIABLE_NEVER_SET" in told.output


def test_fix_changes_what_is_certain_and_tells_how_much(files: Path) -> None:
    path = files / "sound.yaml"
    path.write_text(SOUND.replace("name: Sound", "name: 2024 # the year"), "utf-8")
    path.chmod(0o640)
    told = lint(path, "--fix")
    assert told.output.startswith(f"{path.name}: 1 change made.\n")
    assert told.exit_code == 0
    assert path.read_text("utf-8") == SOUND.replace("name: Sound", 'name: "2024" # the year')
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(each.name for each in files.iterdir()) == [
        "broken.yaml",
        "sound.yaml",
        "warned.yaml",
    ]


def test_fix_without_anything_certain_leaves_every_file_alone(files: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.iterdir()}
    assert lint(files, "--fix").exit_code == 1
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.iterdir()
    } == before


def test_stamp_writes_the_version_of_the_rules_and_mends_nothing_else(files: Path) -> None:
    path = files / "sound.yaml"
    unstamped = SOUND.replace("validatedAgainstSpecVersion: 4\n", "") + "tags: [a, a]\n"
    path.write_text(unstamped.replace(", a]", "]"), "utf-8")
    assert "SPEC_STAMP_MISSING" in lint(path).output
    assert "1 change" in lint(path, "--stamp").output
    assert path.read_text("utf-8") == SOUND + "tags: [a]\n"
    path.write_text(unstamped, "utf-8")
    lint(path, "--stamp")
    assert path.read_text("utf-8") == unstamped  # what does not compile was not looked over


def test_a_link_stays_a_link_when_its_file_is_mended(files: Path) -> None:
    real = files / "real.yaml"
    real.write_text(
        SOUND.replace("acme.sound", "acme.real").replace("name: Sound", "name: 1"), "utf-8"
    )
    (files / "sound.yaml").unlink()
    (files / "sound.yaml").symlink_to(real)
    lint(files, "--fix")
    assert (files / "sound.yaml").is_symlink()
    assert 'name: "1"' in real.read_text("utf-8")


def test_a_lint_finding_never_keeps_a_workflow_from_the_list(files: Path) -> None:
    (files / ".headway" / "workflows").mkdir(parents=True)
    (files / "warned.yaml").rename(files / ".headway" / "workflows" / "warned.yaml")
    told = json.loads(run("list", "--json").output)
    (item,) = [each for each in told["workflows"] if each["workflowId"] == "acme.warned"]
    assert item["staleness"] == {"level": "none"}
    assert "VARIABLE_NEVER_SET" not in run("list", "--json").output


@pytest.mark.usefixtures("files")
def test_the_schema_is_printed_as_it_is_made() -> None:
    assert json.loads(run("schema").output) == workflow_schema()


@pytest.mark.usefixtures("files")
def test_the_reference_page_is_what_the_command_prints() -> None:
    there = (REFERENCE / "lint-rules.md").read_text("utf-8")
    assert there == run("rules").output, "run make reference"
