"""The benchmark runs; how fast anything is, no test says."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.figures import Figure, over, table


def test_a_tiny_run_measures_everything_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quick", "--json", "--folder", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    names = [f"{each['group']}: {each['name']}" for each in printed["figures"]]
    assert len([name for name in names if name.endswith("/ at step 3")]) == 7
    assert any("tools/list, through the relay" in name for name in names)
    assert any("client of the protocol library: continue_workflow" in name for name in names)
    assert any("memory, growth after 40 sessions" in name for name in names)
    assert any("start_workflow" in name for name in names)
    assert any("search over 20 sessions" in name for name in names)
    assert any(name.endswith("full / empty") for name in names)
    assert any("largest of the bundled files" in name for name in names)
    assert len([name for name in names if name.startswith("catalogue: ")]) == 3
    assert any("lint, nothing known before" in name for name in names)
    assert any("turn 30 / turn 5" in name for name in names)
    assert any("3 at once in one worker" in name for name in names)
    assert any("anthropic, at turn 30" in name for name in names)
    # Of so few calls a difference, such as a memory's growth, may come out on either side.
    differences = ("- F", "growth")
    absolute = [
        each for each in printed["figures"] if not any(d in each["name"] for d in differences)
    ]
    assert all(each["value"] > 0 for each in absolute)
    assert "sqlite" in printed["machine"]
    assert not list(tmp_path.iterdir())


def test_a_figure_beyond_its_target_is_marked_and_found() -> None:
    kept = Figure(group="g", name="kept", value=1.1, unit="times", target=1.1)
    broken = Figure(group="g", name="broken", value=1.2, unit="times", target=1.1)
    free = Figure(group="g", name="free", value=99, unit="ms")
    assert over([kept, broken, free]) == [broken]
    lines = table([kept, broken, free]).splitlines()
    assert [line.split()[-1] for line in lines[-3:]] == ["ok", "over", "ms"]
