"""Calls over HTTP, as a client meets them: a server, a durable commit, and a verb on top.

F is a null call plus a bare durable commit, both measured in turn with the real calls. The null
call goes to a server of the same make whose verbs do nothing, with a reply of the same size.
"""

import json
import statistics
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench.figures import Figure
from bench.http_client import Client
from bench.http_sdk import measure_sdk
from bench.http_session import CROWD, Crowd, Session, crowd
from bench.serving import UP, serving
from bench.sizes import Sizes
from bench.timing import Blocks, Call, interleaved

COMMIT_BYTES = 2_600  # about what an advance leaves in the file
CONTINUE_MAX = 1.6
ABOVE_MAX_MS = 0.8
START_MAX = 2.5
THROUGHPUT_MAX = 1 / 0.35
P99_MAX_MS = 60.0


@dataclass(frozen=True, kw_only=True)
class Store:
    """What the server writes to: its `settings`, a bare durable `commit` of as many bytes there.

    Of one store the figures are promised; of another they are reported.
    """

    name: str
    commit: Call
    settings: Mapping[str, str] = field(default_factory=dict)
    promised: bool = False

    def at_most(self, most: float) -> float | None:
        """Return a target, where there are any."""
        return most if self.promised else None


def measure_http(
    folder: Path, environment: Mapping[str, str], workspace: Path, store: Store, sizes: Sizes
) -> Iterator[Figure]:
    """Yield the figures of one client, of the library's client, then of many at once."""
    settings = {**environment, **store.settings}
    with ExitStack() as open_:
        port = open_.enter_context(serving(UP, settings)).port
        client = open_.enter_context(closing(Client(port)))
        session = Session(client, workspace)
        sample = folder / "reply.json"
        sample.write_text(json.dumps(session.advance()), "utf-8")
        null = open_.enter_context(serving(["bench.null_server", str(sample)], settings))
        null_client = open_.enter_context(closing(Client(null.port)))
        yield from _alone(session, Session(null_client, workspace), store, sizes)
        if store.promised:
            yield from measure_sdk(port, null.port, store.commit, workspace, sizes)
        yield from _many(port, null.port, session, store, sizes)


def _alone(real: Session, null: Session, store: Store, sizes: Sizes) -> Iterator[Figure]:
    group = f"over HTTP, one client{store.name}"
    blocks = interleaved(
        {
            "null call": null.advance,
            "bare commit": store.commit,
            "continue_workflow": real.advance,
            "start_workflow": real.start,
        },
        blocks=sizes.blocks,
        rounds=sizes.rounds,
    )
    for name in blocks.times:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=group, name=name, value=blocks.median(name), unit="ms", note=note)
    floor = blocks.median("null call") + blocks.median("bare commit")
    above = blocks.median("continue_workflow") - floor
    yield Figure(group=group, name="F: null call + bare commit", value=floor, unit="ms")
    yield _against_f(group, blocks, "continue_workflow", store.at_most(CONTINUE_MAX))
    most = store.at_most(ABOVE_MAX_MS)
    yield Figure(group=group, name="continue_workflow - F", value=above, unit="ms", target=most)
    yield _against_f(group, blocks, "start_workflow", store.at_most(START_MAX))


def _against_f(group: str, blocks: Blocks, name: str, most: float | None) -> Figure:
    ratios = [
        statistics.median(call) / (statistics.median(null) + statistics.median(commit))
        for call, null, commit in zip(
            blocks.times[name],
            blocks.times["null call"],
            blocks.times["bare commit"],
            strict=True,
        )
    ]
    note = "blocks " + " ".join(f"{ratio:.2f}" for ratio in ratios)
    value = statistics.median(ratios)
    return Figure(
        group=group, name=f"{name} / F", value=value, unit="times", target=most, note=note
    )


def _many(
    port: int, null_port: int, session: Session, store: Store, sizes: Sizes
) -> Iterator[Figure]:
    group = f"over HTTP, {CROWD} sessions at once{store.name}"
    rounds: list[tuple[Crowd, Crowd]] = []
    for _ in range(sizes.blocks):
        null = uvloop.run(crowd(null_port, [session.token] * CROWD, sizes.rounds, follow=False))
        tokens = [session.start() for _ in range(CROWD)]
        rounds.append((null, uvloop.run(crowd(port, tokens, sizes.rounds, follow=True))))
    for name, column in (("null call", 0), ("continue_workflow", 1)):
        many = statistics.median(pair[column].a_second for pair in rounds)
        p99 = statistics.median(pair[column].p99_ms for pair in rounds)
        most = store.at_most(P99_MAX_MS) if column else None
        yield Figure(group=group, name=name, value=many, unit="a second")
        yield Figure(group=group, name=f"{name}, p99", value=p99, unit="ms", target=most)
    ratios = [null.a_second / real.a_second for null, real in rounds]
    yield Figure(
        group=group,
        name="null calls to one continue_workflow",
        value=statistics.median(ratios),
        unit="times",
        target=store.at_most(THROUGHPUT_MAX),
        note=f"{1 / statistics.median(ratios):.2f} of the null calls' throughput",
    )
