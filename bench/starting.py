"""Starts, as someone waits for them: a client for its first `tools/list`, a person for `--help`.

Each is a process of its own, timed from its start to its answer, with everything byte-compiled as
an installed package is. The processor's time stands beside it: a busy machine cannot change that
much.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.figures import Figure
from bench.serving import UP, serving
from bench.sizes import Sizes
from bench.timing import MILLISECONDS

GROUP = "from start to first answer"
# What a client says before it knows the tools: both answers are waited for.
ASK = b"""\
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
"""
HELP_MS_MAX, RELAY_MS_MAX, IN_PROCESS_MS_MAX = 80.0, 60.0, 800.0


def measure_starts(folder: Path, environment: Mapping[str, str], sizes: Sizes) -> Iterator[Figure]:
    """Yield how long three kinds of start take, the relay's on a home that is served."""
    compiled = {**environment, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    compiled.pop("PYTHONDONTWRITEBYTECODE", None)
    home = {**compiled, "HEADWAY_HOME": str(folder / "start-home")}
    yield _start("headway --help", ["--help"], home, sizes, HELP_MS_MAX)
    in_process = ["mcp", "--in-process"]
    yield _start("tools/list, in process", in_process, home, sizes, IN_PROCESS_MS_MAX)
    with serving(UP, home):
        yield _start("tools/list, through the relay", ["mcp"], home, sizes, RELAY_MS_MAX)


def _start(
    name: str, words: list[str], environment: Mapping[str, str], sizes: Sizes, most: float
) -> Figure:
    _answered(words, environment)  # compiles
    runs = [_answered(words, environment) for _ in range(sizes.repeats // 2)]
    took = statistics.median(wall for wall, _ in runs)
    worked = statistics.median(processor for _, processor in runs)
    best = min(wall for wall, _ in runs)
    note = f"best {best:.0f}; {worked:.0f} ms of processor until its end"
    return Figure(group=GROUP, name=name, value=took, unit="ms", target=most, note=note)


def _answered(words: list[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the milliseconds to the answer, and those of processor the process took in all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "headway", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if "mcp" in words:
            process.stdin.write(ASK)
            process.stdin.flush()
            process.stdout.readline()
        line = process.stdout.readline()
        took = time.perf_counter() - began
        assert (b'"tools"' if "mcp" in words else b"Usage") in line, (words, line)
        process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took * MILLISECONDS, worked * MILLISECONDS
