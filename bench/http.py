"""Calls over HTTP, as a client meets them: a server, a durable commit, and a verb on top.

F is a null call plus a bare durable commit, both measured in turn with the real calls. The null
call goes to the protocol library's own server, where a tool does nothing and answers as much. What
the same call takes through our own door, where verbs do nothing, is told beside it: the less, the
more of a real call is the verb's.
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

NULL, DOOR, REAL = "null call", "null call through our door", "continue_workflow"
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
        ports = {}
        for name, module in ((NULL, "bench.library_server"), (DOOR, "bench.null_server")):
            ports[name] = open_.enter_context(serving([module, str(sample)], settings)).port
        nulls = {
            name: Session(open_.enter_context(closing(Client(each))), workspace)
            for name, each in ports.items()
        }
        yield from _alone(session, nulls, store, sizes)
        if store.promised:
            yield from measure_sdk(port, ports[NULL], store.commit, workspace, sizes)
        yield from _many(port, ports, session, store, sizes)


def _alone(
    real: Session, nulls: Mapping[str, Session], store: Store, sizes: Sizes
) -> Iterator[Figure]:
    group = f"over HTTP, one client{store.name}"
    blocks = interleaved(
        {
            **{name: null.advance for name, null in nulls.items()},
            "bare commit": store.commit,
            REAL: real.advance,
            "start_workflow": real.start,
        },
        blocks=sizes.blocks,
        rounds=sizes.rounds,
    )
    for name in blocks.times:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=group, name=name, value=blocks.median(name), unit="ms", note=note)
    floor = blocks.median(NULL) + blocks.median("bare commit")
    above = blocks.median(REAL) - floor
    yield Figure(group=group, name="F: null call + bare commit", value=floor, unit="ms")
    yield _against_f(group, blocks, REAL, store.at_most(CONTINUE_MAX))
    most = store.at_most(ABOVE_MAX_MS)
    yield Figure(group=group, name=f"{REAL} - F", value=above, unit="ms", target=most)
    yield _against_f(group, blocks, "start_workflow", store.at_most(START_MAX))


def _against_f(group: str, blocks: Blocks, name: str, most: float | None) -> Figure:
    ratios = [
        statistics.median(call) / (statistics.median(null) + statistics.median(commit))
        for call, null, commit in zip(
            blocks.times[name],
            blocks.times[NULL],
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
    port: int, ports: Mapping[str, int], session: Session, store: Store, sizes: Sizes
) -> Iterator[Figure]:
    group = f"over HTTP, {CROWD} sessions at once{store.name}"
    rounds: list[dict[str, Crowd]] = []
    for _ in range(sizes.blocks):
        same = [session.token] * CROWD
        each = {
            name: uvloop.run(crowd(null, same, sizes.rounds, follow=False))
            for name, null in ports.items()
        }
        tokens = [session.start() for _ in range(CROWD)]
        each[REAL] = uvloop.run(crowd(port, tokens, sizes.rounds, follow=True))
        rounds.append(each)
    for name in (NULL, DOOR, REAL):
        many = statistics.median(each[name].a_second for each in rounds)
        p99 = statistics.median(each[name].p99_ms for each in rounds)
        most = store.at_most(P99_MAX_MS) if name == REAL else None
        yield Figure(group=group, name=name, value=many, unit="a second")
        yield Figure(group=group, name=f"{name}, p99", value=p99, unit="ms", target=most)
    for name, most in ((NULL, store.at_most(THROUGHPUT_MAX)), (DOOR, None)):
        ratio = statistics.median(each[name].a_second / each[REAL].a_second for each in rounds)
        yield Figure(
            group=group,
            name=f"{name} / {REAL}",
            value=ratio,
            unit="times",
            target=most,
            note=f"{1 / ratio:.2f} of their throughput",
        )
