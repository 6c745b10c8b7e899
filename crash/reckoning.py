"""The reckoning: what the ledger holds, against what the agents were told."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from crash.work import STEPS, Tally
from headway.application.engine import Engine
from headway.bootstrap import open_engine
from headway.config import read_settings
from headway.domain.events import SessionCompleted, SessionStarted, StepAdvanced
from headway.domain.ids import session_stream
from headway.ports.sessions import SessionQuery

SESSIONS_MAX = 1_000_000


def reckon(environment: Mapping[str, str], tally: Tally, folder: Path) -> list[str]:
    """Return every broken promise, in words; none is the hope."""
    problems = list(tally.problems)
    unfinished = tally.acknowledged.keys() - tally.finished
    problems += [f"{goal} was never finished" for goal in sorted(unfinished)]
    with open_engine(read_settings(environment)) as engine:
        problems += _ledger(engine, tally)
    command = [sys.executable, "-m", "headway", "verify"]
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=folder
    )
    if ran.returncode:
        problems.append(f"headway verify ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return problems


def _ledger(engine: Engine, tally: Tally) -> Iterator[str]:
    summaries = engine.sessions.find(SessionQuery(limit=SESSIONS_MAX)).rows
    began = Counter(summary.goal for summary in summaries)
    yield from (f"{goal!r} began {times} sessions" for goal, times in began.items() if times > 1)
    yield from (f"{goal!r} was lost" for goal in sorted(tally.acknowledged.keys() - began.keys()))
    for summary in summaries:
        records = engine.ledger.scan(session_stream(summary.session))
        events = [record.event for record in records]
        kinds = Counter(type(event) for event in events)
        if (kinds[SessionStarted], kinds[SessionCompleted]) != (1, 1):
            yield f"{summary.goal!r} was not begun and completed once: {kinds}"
        advances = [event for event in events if isinstance(event, StepAdvanced)]
        steps = [event.step for event in advances]
        if steps != [f"s{number}" for number in range(1, STEPS + 1)]:
            yield f"{summary.goal!r} went through {steps}"
        told = [event.output.notes.inline if event.output.notes else None for event in advances]
        if told != tally.acknowledged.get(summary.goal):
            yield f"{summary.goal!r} holds other notes than were acknowledged: {told}"
