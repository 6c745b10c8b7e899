"""Searching thousands of sessions by words: rare ones, common ones, several at once.

The sessions are seeded by direct append: a start's words and those of a few notes each, in a store
of their own. Words are drawn so that a few are in most notes and most are in few, as in any prose.
"""

import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import repeated
from headway.adapters.clock import SystemClock, SystemEntropy
from headway.adapters.storage.sqlite import open_sqlite
from headway.adapters.storage.store import Store
from headway.domain.events import Gap, GapRecorded
from headway.domain.ids import WorkflowHash, digest, session_id, session_stream
from headway.domain.words import parted
from headway.ports.ledger import Write
from headway.ports.sessions import SessionQuery, SessionSummary

SEARCH_MAX_MS = 10.0
NOTES_EACH = 4
WORDS_A_NOTE = 70
VOCABULARY = 20_000
SKEW = 3.0  # the larger, the more often the first words of the vocabulary
LIMIT = 100
COMMON = "everywhere"
RARE_EVERY = 1_000
EVENT = GapRecorded(gaps=(Gap(code="BENCH", severity="warning", category="none", summary="."),))
QUERIES = {
    "a rare word": "needle0",
    "a word of every session": COMMON,
    "two words of every session": f"{COMMON} goal",
    "a rare and a common word": f"needle0 {COMMON}",
    "the beginning of some words": "kora",
    "a word of no session": "nowhere",
}


def measure_search(folder: Path, sizes: Sizes) -> Iterator[Figure]:
    """Yield what a search costs in a new store, and what seeding it cost an append."""
    store = open_sqlite(folder / "search.db", SystemClock(), SystemEntropy())
    try:
        yield from _figures(store, sizes)
    finally:
        store.close()


def _figures(store: Store, sizes: Sizes) -> Iterator[Figure]:
    group = f"search over {sizes.sessions:,} sessions of {NOTES_EACH} notes"
    appended = _seed(store, sizes.sessions)
    yield Figure(group=group, name="an append of a whole session", value=appended, unit="ms")
    for name, words in QUERIES.items():
        query = SessionQuery(text=words, limit=LIMIT)
        found = store.sessions.find(query).rows
        took = repeated(partial(store.sessions.find, query), sizes.repeats)
        note = f"{len(found)} found, at most {LIMIT} asked for"
        yield Figure(group=group, name=name, value=took, unit="ms", target=SEARCH_MAX_MS, note=note)


def _seed(store: Store, sessions: int) -> float:
    """Return the milliseconds an append took on the average."""
    chance = random.Random(7)  # noqa: S311  the same prose in each run
    texts: list[list[str]] = []
    for number in range(sessions):
        rare = " needle0" * (number % RARE_EVERY == 0)
        notes = [f"{COMMON} {_prose(chance, WORDS_A_NOTE)}{rare}" for _ in range(NOTES_EACH)]
        texts.append([f"goal {COMMON} {_prose(chance, 8)}", *notes])

    began = time.perf_counter()
    for number, each in enumerate(texts):
        _append(store, number, each)
    return (time.perf_counter() - began) * 1_000 / sessions


def _append(store: Store, number: int, texts: list[str]) -> None:
    session = session_id(number.to_bytes(16, "big"))
    summary = SessionSummary(
        session=session,
        workflow=WorkflowHash(digest(b"bench")),
        workflow_id="bench.search",
        workflow_name="Search",
        goal=texts[0][:100],
        workspace="/bench",
        repository=None,
        branch="main",
        git_head=None,
        status="in_progress",
        step_id="look",
        step_title="Look",
        nonce=number.to_bytes(12, "big"),
        recap=texts[-1],
    )
    write = Write(
        stream=session_stream(session),
        expected_version=0,
        events=(EVENT,) * len(texts),
        summary=summary,
        words=parted(" ".join(texts)),
    )
    store.ledger.append(write)


def _prose(chance: random.Random, count: int) -> str:
    numbers = (int(VOCABULARY * chance.random() ** SKEW) for _ in range(count))
    return " ".join(_word(number) for number in numbers)


def _word(number: int) -> str:
    """Return the word of a number: three syllables, so that few begin alike."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aiou"]
    size = len(syllables)
    return (
        syllables[number % size] + syllables[number // size % size] + syllables[number // size**2]
    )
