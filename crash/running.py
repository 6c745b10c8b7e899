"""One run: a home, its server, the agents, and faults at random moments until there were enough."""

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from crash.clients import HttpClient, PipeClient
from crash.faults import CAN_FILL_DISK, Server
from crash.reckoning import reckon
from crash.work import Agent, Client, Tally, write_workflow

AGENTS_A_RELAY = 4
LIFE_SECONDS = (0.05, 1.2)  # of a server, between its start and the next fault
PAUSE_SECONDS = (0.5, 2.0)
FULL_SECONDS = (0.3, 1.0)
JOIN_SECONDS_MAX = 300.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to try. Half of the `agents` speak HTTP, half go through relays; one more has a server
    process of its own. `others` is how many disks fill up and how many pause, each.
    """

    seed: int = 1
    kills: int = 50
    agents: int = 32
    others: int = 4


@dataclass
class Outcome:
    """What came of a run."""

    tally: Tally
    seconds: float
    problems: list[str] = field(default_factory=list)


def run(plan: Plan, root: Path, progress: Callable[[str], None]) -> Outcome:
    """Run it under a folder that is empty; every process is gone afterwards."""
    began = time.perf_counter()
    environment = _prepare(root)
    tally, enough = Tally(), threading.Event()
    with ExitStack() as at_end:
        server = Server(environment, root / "home", root / "up.log")
        at_end.callback(server.kill)
        pipes, own = _pipes(plan, environment, tally, root)
        for pipe in (*pipes, own):
            at_end.callback(pipe.kill)
        direct = [HttpClient(root / "home", tally) for _ in range(plan.agents - plan.agents // 2)]
        for client in direct:
            at_end.callback(client.close)
        clients: list[Client] = [*direct]
        clients += [pipes[number // AGENTS_A_RELAY] for number in range(plan.agents // 2)]
        clients.append(own)
        threads = _put_to_work(clients, root / "work", tally, enough)
        at_end.callback(enough.set)
        _disturb(plan, server, own, tally, progress)
        enough.set()
        progress("enough faults; every agent ends the session it is in")
        for thread in threads:
            thread.join(JOIN_SECONDS_MAX)
        tally.problems += [f"{thread.name} hangs" for thread in threads if thread.is_alive()]
        codes = [pipe.leave() for pipe in (*pipes, own)]
        tally.problems += [f"a relay ended with {code}" for code in codes if code]
        if server.stop() != 0:
            tally.problems.append("the server did not stop in order")
    problems = reckon(environment, tally, root)
    return Outcome(tally, time.perf_counter() - began, problems)


def _prepare(root: Path) -> dict[str, str]:
    (root / "work").mkdir(parents=True)
    write_workflow(root / "files")
    return {
        **{name: text for name, text in os.environ.items() if not name.startswith("HEADWAY_")},  # noqa: TID251
        "HOME": str(root),
        "HEADWAY_HOME": str(root / "home"),
        "HEADWAY_WORKFLOW_PATH": str(root / "files"),
    }


def _pipes(
    plan: Plan, environment: dict[str, str], tally: Tally, root: Path
) -> tuple[list[PipeClient], PipeClient]:
    through = plan.agents // 2
    relays = [
        PipeClient(environment, tally, root / f"relay-{number}.log", in_process=False)
        for number in range(-(-through // AGENTS_A_RELAY))
    ]
    return relays, PipeClient(environment, tally, root / "own.log", in_process=True)


def _put_to_work(
    clients: list[Client], workspace: Path, tally: Tally, enough: threading.Event
) -> list[threading.Thread]:
    threads = []
    for number, client in enumerate(clients, 1):
        name = f"agent {number}"
        agent = Agent(name, client, workspace, tally)
        threads.append(threading.Thread(target=agent.work, args=(enough,), name=name, daemon=True))
    for thread in threads:
        thread.start()
    return threads


def _disturb(
    plan: Plan, server: Server, own: PipeClient, tally: Tally, progress: Callable[[str], None]
) -> None:
    chance = random.Random(plan.seed)
    faults = ["kill"] * plan.kills + ["pause"] * plan.others + ["full"] * plan.others
    chance.shuffle(faults)
    for fault in faults:
        time.sleep(chance.uniform(*LIFE_SECONDS))
        match fault:
            case "kill":
                server.kill_and_restart()
                if chance.random() < 0.1:
                    own.kill()
            case "pause":
                server.pause(chance.uniform(*PAUSE_SECONDS))
            case _ if CAN_FILL_DISK:
                server.fill_disk(chance.uniform(*FULL_SECONDS))
            case _:
                continue
        tally.count({"kill": "kills", "pause": "pauses", "full": "full disks"}[fault])
        done = tally.counts
        progress(
            f"{done['kills']}/{plan.kills} kills, {done['pauses']} pauses, "
            f"{done['full disks']} full disks: {done['acknowledged advances']:,} advances, "
            f"{done['sessions finished']:,} sessions"
        )
