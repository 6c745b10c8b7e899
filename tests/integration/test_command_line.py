"""The program as a person or a script runs it: real processes on a real home."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from headway.domain.values import Json
from tests.support.cli_reference import PAGE, commands, documented, reference
from tests.support.command_line import document, environment, home_of_two, refusal, run
from tests.support.living import eventually, is_asleep
from tests.support.patience import SECONDS_MAX


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return home_of_two(tmp_path)


def test_the_reference_is_what_the_commands_say_of_themselves() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: make reference"


def test_every_command_has_an_example_and_a_group_says_what_its_commands_are_for() -> None:
    for path, command in commands():
        lines = (command.help or "").splitlines()
        assert lines, path
        assert lines[0].endswith((".", ":", ",")) or len(lines) > 1, path
        if hasattr(command, "commands") or path.split()[-1] in {"mcp", "demo", "up"}:
            continue
        assert f"headway {path.split()[1]}" in (command.epilog or ""), path


@pytest.mark.parametrize(
    "command",
    [
        "status", "doctor", "verify", "rebuild", "keys rotate", "sessions list", "sessions show",
        "sessions tree", "sessions search", "gates list", "workflows list", "workflows show",
        "workflows lint", "workflows preview", "workflows simulate",
    ],
)  # fmt: skip
def test_json_is_one_document_with_the_fields_of_the_reference(home: Path, command: str) -> None:
    about_one = command in {"workflows show", "workflows preview", "workflows simulate"}
    more = ["hw.bug-fix"] if about_one else {"sessions search": ["door"]}.get(command, [])
    assert set(document(home, *command.split(), *more)) == documented(command)


def test_export_purge_and_import_tell_in_json_what_they_did(home: Path) -> None:
    listed = document(home, "sessions", "list")["sessions"]
    assert isinstance(listed, list)
    assert isinstance(listed[0], dict)
    session = str(listed[0]["sessionId"])
    kept = document(home, "sessions", "preferences", session)
    assert set(kept) == documented("sessions preferences")
    exported = document(home, "export", session)
    assert set(exported) == documented("export")
    file = str(exported["file"])
    purged = document(home, "sessions", "purge", session, "--yes")
    assert set(purged) == documented("sessions purge")
    imported = document(home, "import", file, "--as-new")
    assert set(imported) == documented("import")
    assert imported["origin"] == session
    again = refusal(home, "export", session, code=1)
    assert "was purged" in str(again["message"])


def test_a_refusal_in_json_is_the_coded_envelope_on_stderr(home: Path) -> None:
    assert refusal(home, "sessions", "show", "nope", code=1)["code"] == "NOT_FOUND"
    assert refusal(home, "sessions", "list", "--limit", "0", code=2)["code"] == "VALIDATION_ERROR"
    assert refusal(home, "verify", "nope", code=2)["code"] == "NOT_FOUND"
    assert refusal(home, "gates", "show", "nope", code=1)["code"] == "NOT_FOUND"
    assert "Did you mean 'doctor'?" in str(refusal(home, "docter", code=2)["message"])
    relative = run(home, "sessions", "list", "--json", HEADWAY_HOME="relative")
    assert json.loads(relative.stderr)["code"] == "VALIDATION_ERROR"


def test_what_stands_after_two_dashes_is_no_option(home: Path) -> None:
    ran = run(home, "sessions", "show", "--", "--json")
    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: No session begins with '--json'.")


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        (["sesions", "list"], "'sessions'"),
        (["sessions", "serch"], "'search'"),
        (["sessions", "show", "--ful"], "'--full'"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_one_meant(
    home: Path, mistyped: list[str], meant: str
) -> None:
    ran = run(home, *mistyped)
    assert ran.returncode == 2
    assert f"Did you mean {meant}?" in ran.stderr


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ("One line,\nand another.\n\nThe end.\n", "One line, and another.\n\nThe end.\n"),
        ("It has\n- a list\n- of two.\n", "It has\n- a list\n- of two.\n"),
        ("```\nfirst\nsecond\n```\n", "```\nfirst\nsecond\n```\n"),
    ],
)
def test_what_a_workflow_is_about_flows_to_the_width_but_for_lists_and_code(
    home: Path, about: str, shown: str
) -> None:
    step: Json = {"id": "s", "title": "S", "prompt": "Do."}
    mine: Json = {"id": "acme.mine", "name": "Mine", "description": "d", "version": "1.0.0"}
    assert isinstance(mine, dict)
    (home / "workflows").mkdir()
    file = home / "workflows" / "mine.json"
    file.write_text(json.dumps({**mine, "about": about, "steps": [step]}), "utf-8")
    assert f"\n\n{shown}\nSteps" in run(home, "workflows", "show", "acme.mine").stdout


@pytest.mark.parametrize("words", ["workflows list", "run x --goal x --model scripted:x.yaml"])
def test_in_a_folder_that_was_removed_a_command_says_so(
    home: Path, tmp_path: Path, words: str
) -> None:
    (tmp_path / "gone").mkdir()
    program = f"exec {sys.executable} -m headway {words} --json"
    ran = subprocess.run(
        ["sh", "-c", f"cd gone && rmdir ../gone && {program}"],
        cwd=tmp_path,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert json.loads(ran.stderr)["code"] == "FOLDER_GONE"


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("run", "`headway workflows list` shows what there is."),
        ("run hw.bug-fix --goal x", "Write PROVIDER:NAME, such as anthropic:claude-sonnet-4-5."),
        ("workflows graph", "`headway workflows list` shows what there is."),
        ("export", "`headway sessions list` shows the ids."),
        ("runs wait", "`headway runs list` shows the ids."),
        ("worktrees patch", "`headway runs list` shows the ids."),
        ("gates show", "`headway gates list` shows what waits."),
    ],
)
def test_who_leaves_out_a_name_is_told_where_to_find_one(
    home: Path, words: str, where: str
) -> None:
    ran = run(home, *words.split())
    assert ran.returncode == 2
    assert ran.stderr.endswith(f"{where}\n")


def test_a_terminal_without_utf8_gets_ascii(home: Path) -> None:
    for command in (["sessions", "tree"], ["sessions", "show"], ["doctor"], ["status"]):
        drawn = run(home, *command, PYTHONIOENCODING="ascii")
        assert drawn.returncode == 0, drawn.stderr
        assert drawn.stdout.isascii()


@pytest.mark.parametrize("words", ["sessions show", "status", "doctor", "run --help"])
def test_on_a_terminal_no_line_is_wider_than_the_terminal(home: Path, words: str) -> None:
    main, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 64))
    own = {name: text for name, text in environment(home).items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *words.split()],
        env=own | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
    ):
        os.close(terminal)
        shown = b""
        with suppress(OSError):  # how a terminal ends when the last process on it left
            while part := os.read(main, 65_536):
                shown += part
    os.close(main)
    lines = shown.decode().splitlines()
    examples = next((at for at, line in enumerate(lines) if line.strip() == "Examples:"), None)
    widths = [len(line) for line in lines[:examples] if "/" not in line]
    assert 48 < max(widths) <= 64


def test_colour_is_for_terminals_alone(home: Path) -> None:
    assert "\x1b" not in run(home, "sessions", "tree").stdout


def test_a_reader_that_leaves_early_ends_it_quietly(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "headway", "sessions", "show", "--full"],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(SECONDS_MAX)


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("words", ["runs list", "--version", "status --help", "up --port 0"])
def test_a_full_disk_under_stdout_is_refused_and_nothing_is_said_twice(
    home: Path, words: str, buffered: str
) -> None:
    ran = onto_full(home, *words.split(), PYTHONUNBUFFERED=buffered)
    assert ran.returncode == 1
    first, *remedy = ran.stderr.splitlines()
    assert first == (
        "Error: stdout takes no more of what there is to tell (No space left on device)."
    )
    assert remedy == ["Make room, or send it elsewhere; what the command had done by then stands."]


def test_a_full_disk_under_stdout_is_told_in_json_where_that_is_asked_for(home: Path) -> None:
    ran = onto_full(home, "runs", "list", "--json")
    assert ran.returncode == 1
    assert json.loads(ran.stderr)["code"] == "STDOUT_UNUSABLE"


def test_without_a_stdout_a_command_does_its_work(home: Path) -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -m headway sessions list >&-"],
        env=environment(home),
        stderr=subprocess.PIPE,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def onto_full(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a full disk under its stdout."""
    with Path("/dev/full").open("w") as full:
        return subprocess.run(
            [sys.executable, "-m", "headway", *words],
            env=environment(home, **more),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )


def test_ctrl_c_ends_with_130(home: Path) -> None:
    fifo = home.parent / "bundle"
    os.mkfifo(fifo)
    with subprocess.Popen(
        [sys.executable, "-m", "headway", "import", str(fifo)],
        env=environment(home),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        with fifo.open("wb"):  # opens once the command does, and gives it nothing
            eventually(lambda: is_asleep(process.pid))
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS_MAX) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
