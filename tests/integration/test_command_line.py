"""The program as a person or a script runs it: real processes on a real home."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from headway import __version__
from headway.adapters.storage.sqlite import open_sqlite
from headway.bootstrap import DATABASE_NAME
from headway.domain.values import Json
from headway.server_lock import FILE_NAME, Running, ServerLock
from tests.fakes.time_and_chance import FakeClock, FakeEntropy
from tests.support.called import called
from tests.support.cli_reference import PAGE, commands, documented, reference
from tests.support.living import eventually, is_asleep
from tests.support.patience import SECONDS_MAX
from tests.support.unprivileged import unprivileged
from tests.support.walked import engine_of, finish, walk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a home with a finished session and one that goes on, forked and in a loop."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    store = open_sqlite(folder / DATABASE_NAME, FakeClock(), FakeEntropy(5))
    engine = engine_of(store)
    finish(engine, walk(engine, "Mend the roof"))
    walk(engine, "Mend the door")
    store.close()
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    own = {"HOME": str(home.parent), "HEADWAY_HOME": str(home), "COLUMNS": "80"}
    return {**os.environ, **own, **more}  # noqa: TID251


def run(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headway", *arguments],
        env=environment(home, **more),
        cwd=home.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )


def document(home: Path, *arguments: str, code: int = 0) -> dict[str, Json]:
    """Call a command with --json and return its document, which is all there is on stdout."""
    ran = called((*arguments, "--json"), home.parent, environment(home))
    assert (ran.returncode, ran.stderr) == (code, "")
    assert ran.stdout.isascii()
    parsed = json.loads(ran.stdout)
    assert isinstance(parsed, dict)
    return parsed


def refusal(home: Path, *arguments: str, code: int) -> dict[str, Json]:
    ran = run(home, *arguments, "--json")
    assert (ran.returncode, ran.stdout) == (code, "")
    envelope = json.loads(ran.stderr)
    assert isinstance(envelope, dict)
    assert list(envelope) == ["code", "message", "retry", "details"]
    assert envelope["details"]["suggestion"]
    return envelope


@contextmanager
def served(home: Path) -> Iterator[Running]:
    """Hold the lock of a home and answer its health check."""

    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running = Running(
            os.getpid(), "127.0.0.1", server.server_port, __version__, "2026-11-21T12:00:00Z"
        )
        lock = ServerLock(home)
        lock.announce(running)
        try:
            yield running
        finally:
            lock.release()
            server.shutdown()
            thread.join()


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


def test_the_doctor_and_the_status_make_nothing(tmp_path: Path) -> None:
    home = tmp_path / "none"
    assert run(home, "doctor").returncode == 0
    status = run(home, "status")
    assert status.returncode == 0
    assert "none yet" in status.stdout
    assert not home.exists()


@pytest.mark.parametrize(
    ("below", "told"),
    [
        ("a-file/home", "cannot be made: Not a directory"),
        ("a-file", "cannot be written: Not a directory"),
        ("sealed/deep/home", "cannot be made: Permission denied"),
        ("sealed", "cannot be written: Permission denied"),
        ("closed/deep/home", "cannot be made: Permission denied"),
        ("nowhere", "cannot be made: No such file or directory"),
        ("x" * 300, "cannot be made: File name too long"),
        ("/proc/x/y", "cannot be made: No such file or directory"),
    ],
)
def test_a_home_that_cannot_be_had_is_a_problem_with_what_to_do(
    tmp_path: Path, below: str, told: str
) -> None:
    (tmp_path / "a-file").write_text("x", "utf-8")
    (tmp_path / "sealed").mkdir(mode=0o500)
    (tmp_path / "closed").mkdir(mode=0o000)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone" / "home")
    folder = tmp_path / below
    ran = subprocess.run(
        unprivileged(sys.executable, "-m", "headway", "doctor", "--json"),
        env=environment(folder),
        cwd=tmp_path,
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    (found,) = [each for each in json.loads(ran.stdout)["findings"] if each["part"] == "home"]
    assert (found["level"], found["told"]) == ("problem", f"{folder} {told}")
    assert "HEADWAY_HOME" in found["remedy"]


def test_a_home_without_a_session_says_how_one_is_begun(tmp_path: Path) -> None:
    home = tmp_path / "none"
    for _ in range(2):  # before there is a store, and then
        assert "`headway run` or an MCP client begins one" in run(home, "status").stdout
        assert run(home, "sessions", "list").returncode == 0
    assert home.exists()


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


def test_a_file_that_is_no_store_is_a_problem_and_stays_as_it_is(home: Path) -> None:
    (home / DATABASE_NAME).write_bytes(b"not a database, " * 100)
    found = document(home, "doctor", code=1)
    assert found["ok"] is False
    status = document(home, "status", code=1)
    assert status["store"] is None
    assert (home / DATABASE_NAME).read_bytes() == b"not a database, " * 100


def test_a_password_of_few_letters_does_not_spoil_the_words_it_stands_in(home: Path) -> None:
    pytest.importorskip("psycopg")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = "postgresql://user:{}@127.0.0.1:" + f"{port}/sessions"
    short = run(home, "doctor", HEADWAY_DATABASE_URL=url.format("on"))
    assert "***" not in short.stdout
    assert "too few to be masked" in " ".join(short.stdout.split())
    long = run(home, "doctor", HEADWAY_DATABASE_URL=url.format("running"))
    assert "Is the server *** on that host" in " ".join(long.stdout.split())


def test_the_doctor_sees_a_server_killed_before_and_one_that_answers(home: Path) -> None:
    with served(home) as running:
        status = document(home, "status")
        server = status["server"]
        assert isinstance(server, dict)
        assert (server["url"], server["answers"]) == (running.url, True)
        assert f"pid {running.pid} at {running.url} answered" in run(home, "doctor").stdout
    (home / FILE_NAME).write_text("{}", "utf-8")
    assert document(home, "status")["server"] is None


def test_a_server_that_does_not_answer_is_told_with_1(home: Path) -> None:
    lock = ServerLock(home)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        lock.announce(Running(os.getpid(), "127.0.0.1", port, __version__, "2026-11-21T12:00:00Z"))
        ran = run(home, "status")
    lock.release()
    assert ran.returncode == 1
    assert "does not answer" in ran.stdout


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


def test_status_counts_sessions_and_names_the_latest(home: Path) -> None:
    told = run(home, "status").stdout
    assert "sessions  2: 1 in progress, 1 complete" in told
    assert told.index("Mend the door") < told.index("Mend the roof")


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_says_how_to_install_it(home: Path, shell: str) -> None:
    ran = run(home, "completion", shell)
    assert ran.returncode == 0
    assert ran.stdout.startswith("# ")
    assert f"headway completion {shell}" in ran.stdout.splitlines()[0]
    assert "_HEADWAY_COMPLETE" in ran.stdout


def offered(home: Path, words: str, current: int, **more: str) -> str:
    """Return what Tab offers for a word of a line; nothing else may be said."""
    asked = {"_HEADWAY_COMPLETE": "bash_complete", "COMP_WORDS": words}
    ran = run(home, **asked, COMP_CWORD=str(current), **more)
    assert ran.stderr == ""
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("words", "current"),
    [
        ("headway run hw.bug-f", 2),
        ("headway run bug-f", 2),
        ("headway run --workspace . hw.bug-f", 4),
        ("headway dispatch hw.bug-f", 2),
        ("headway workflows show hw.bug-f", 3),
        ("headway workflows copy hw.bug-f", 3),
        ("headway workflows preview hw.bug-f", 3),
        ("headway workflows graph bug-f", 3),
        ("headway workflows simulate hw.bug-f", 3),
        ("headway stats --workflow hw.bug-f", 3),
        ("headway runs list --workflow hw.bug-f", 4),
    ],
)
def test_tab_completes_the_id_of_a_workflow_wherever_one_is_named(
    tmp_path: Path, words: str, current: int
) -> None:
    nothing = tmp_path / "none"
    assert offered(nothing, words, current) == "plain,hw.bug-fix"
    assert not nothing.exists()


def test_tab_offers_workflows_of_every_folder_and_is_silent_about_what_is_wrong(
    home: Path, tmp_path: Path
) -> None:
    for name in ("attached", "named", "home/workflows", ".headway/workflows"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "w.yaml").write_text(f"id: mine.{len(name)}\nsteps: [broken")
    store = open_sqlite(home / DATABASE_NAME, FakeClock(), FakeEntropy(5))
    store.sources.attach(str(tmp_path / "attached"))
    store.close()
    told = offered(home, "headway run mine.", 2, HEADWAY_WORKFLOW_PATH=str(tmp_path / "named"))
    assert set(told.split()) == {"plain,mine.8", "plain,mine.5", "plain,mine.14", "plain,mine.18"}
    assert offered(home, "headway workflows preview dem", 3) == "file,dem"
    (home / DATABASE_NAME).write_bytes(b"not a database, " * 100)
    assert offered(home, "headway run mine.1", 2).split() == ["plain,mine.14", "plain,mine.18"]
    assert offered(home, "headway run x", 2, HEADWAY_PORT="no port") == ""


def test_tab_completes_commands_and_session_ids(home: Path, tmp_path: Path) -> None:
    assert offered(home, "headway sess", 1) == "plain,sessions"
    assert offered(home, "headway sessions show ", 3).count("plain,sess_") == 2
    assert offered(home, "headway gates show ", 3) == ""
    nothing = tmp_path / "none"
    assert offered(nothing, "headway sessions show ", 3) == ""
    assert not nothing.exists()
