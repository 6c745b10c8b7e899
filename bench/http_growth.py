"""What grows, over HTTP: the steps of a session, the events in a store, a server's memory."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import uvloop

from bench.advances import FLAT_MAX, spread
from bench.figures import Figure
from bench.full_store import FULL_MAX
from bench.http_client import Client
from bench.http_session import many_sessions, near
from bench.serving import UP, resident_mib, serving
from bench.sizes import Sizes
from bench.timing import interleaved

GROUP = "over HTTP, what grows"
GROWTH_MIB_MAX = 40.0
STEPS_A_SESSION = 3


def measure_growth(
    environment: Mapping[str, str], homes: Mapping[str, Path], workspace: Path, sizes: Sizes
) -> Iterator[Figure]:
    """Yield what a late step costs of an early one, and a step in a full store of an empty one.

    `homes` has both stores, `full` and `empty`.
    """
    early, late, _ = sizes.depths
    with ExitStack() as open_:

        def client(name: str) -> Client:
            settings = {**environment, "HEADWAY_HOME": str(homes[name])}
            port = open_.enter_context(serving(UP, settings)).port
            return open_.enter_context(closing(Client(port)))

        empty = client("empty")
        lanes = {
            f"at step {early:,}": near(empty, workspace, early, sizes),
            f"at step {late:,}": near(empty, workspace, late, sizes),
            "in the full store": near(client("full"), workspace, early, sizes),
        }
        first, last, full = lanes
        blocks = interleaved(lanes, blocks=sizes.blocks, rounds=sizes.rounds)
    for name in lanes:
        note = f"p95 {blocks.p95(name):.3f}"
        yield Figure(group=GROUP, name=name, value=blocks.median(name), unit="ms", note=note)
    events = f"{sizes.events:,} events in the store"
    for name, known_as, most in ((last, last, FLAT_MAX), (full, events, FULL_MAX)):
        yield Figure(
            group=GROUP,
            name=f"{known_as} / {first}",
            value=blocks.ratio(name, first),
            unit="times",
            target=most,
            note=spread(blocks.ratios(name, first)),
        )


def measure_memory(
    environment: Mapping[str, str], home: Path, workspace: Path, sizes: Sizes
) -> Iterator[Figure]:
    """Yield what a server holds when idle, and what is added by the sessions of its clients."""
    settings = {**environment, "HEADWAY_HOME": str(home)}
    with serving(UP, settings) as server:
        idle = resident_mib(server.pid)
        if idle is None:
            return  # this system does not say
        uvloop.run(many_sessions(server.port, workspace, sizes.served, STEPS_A_SESSION))
        grown = resident_mib(server.pid)
    assert grown is not None
    yield Figure(group=GROUP, name="memory of headway up, idle", value=idle, unit="MiB")
    yield Figure(
        group=GROUP,
        name=f"memory, growth after {sizes.served:,} sessions",
        value=grown - idle,
        unit="MiB",
        target=GROWTH_MIB_MAX,
        note=f"{STEPS_A_SESSION} steps in each",
    )
