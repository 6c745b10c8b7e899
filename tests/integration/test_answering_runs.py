"""A model that answers with JSON does a workflow in a real repository; cut replies are mended."""

from pathlib import Path

from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.sqlite import open_sqlite
from headway.domain.ids import RunId
from headway.domain.runs.events import ModelReplied
from tests.support.crashed_runs import drive, git, prepare

SCRIPT = r"""
traits: {answers: true}
turns:
  - text: Everything is fine, I would say.
  - expect: "are not JSON"
    text: '{"notes": "too short"}'
  - expect: "at least 50 are needed"
    text: '{"notes": "check.py fails with an assertion error: add subtracts its second argument."}'
  - expect: "Mend it"
    stop: length
    usage: {output_tokens: 99}
    calls:
      - bash: {command: "sed -i 's/a - b/a + b/' calc.py"}
      - write_file: '{"path": "calc.py", "content": "def add('
  - expect: "cut off after 99 tokens"
    calls:
      - bash: {command: "python3 -B check.py; git diff --stat"}
  - expect: "all is well"
    stop: length
    text: '{"notes": "add adds now, and'
  - expect: "Send less at once"
    text: '{"notes": "add adds now, and check.py passes; one line of calc.py changed."}'
"""


def test_an_answering_model_is_told_what_was_wrong_and_succeeds(tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    done = drive("new", tmp_path, "never", None)
    run, outcome = done.stdout.split()
    assert outcome == "success", done.stderr
    branch = f"headway/two-steps/{run}"
    assert "return a + b" in git(tmp_path / "repo", "show", f"{branch}:calc.py")
    store = open_sqlite(tmp_path / "home" / "headway.db", SystemClock(), SystemEntropy())
    try:
        events = [each.event for each in store.queue.scan(RunId(run))]
    finally:
        store.close()
    replies = [each for each in events if isinstance(each, ModelReplied)]
    assert [each.answered for each in replies] == [True, True, True, False, False, False, True]
