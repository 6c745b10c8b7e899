"""A request to a provider of models: what its libraries take to write it and to read the reply.

The provider is a fake on this machine that speaks the real wire format and answers at once; its own
work, in a thread of this process, is within the figure. Nothing is promised: the whole talk is sent
with every request, so a late one costs more than an early one whoever sends it.
"""

import statistics
from collections.abc import Iterator

import anyio

from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import MILLISECONDS
from headway.domain.runs.messages import Message, Reply, Results, Told, ToolCall, ToolResult
from tests.support.provided import ANTHROPIC, OPENAI, Provider, talk_with
from tests.support.provider_acts import Call, Says

SAYS = Says(text="I look.", calls=(Call("c1", "bash", '{"command": "ls -l"}'),))
FOUND = "A line that a command printed, as long as such lines are.\n" * 8
CALLS = 5


def measure_providers(sizes: Sizes) -> Iterator[Figure]:
    """Yield what one request takes, early and late in a talk."""
    for provider in (ANTHROPIC, OPENAI):
        for turns in sizes.turns:
            yield Figure(
                group="a request to a model, beside the turn",
                name=f"{provider.name}, at turn {turns}",
                value=_took(provider, _talk(turns)),
                unit="ms",
                note="the provider's libraries, and a fake provider's work",
            )


def _took(provider: Provider, messages: list[Message]) -> float:
    async def ask() -> list[float]:
        took = []
        for _ in range(CALLS + 1):
            began = anyio.current_time()
            await talk.ask(*messages)
            took.append((anyio.current_time() - began) * MILLISECONDS)
        return took[1:]  # the first brings the libraries along

    with talk_with(provider) as talk:
        talk.fake.does(SAYS)
        return statistics.median(anyio.run(ask))


def _talk(turns: int) -> list[Message]:
    messages: list[Message] = [Told(text="Mend it.", origin="step")]
    for turn in range(turns):
        call = ToolCall(id=f"c{turn}", name="bash", arguments='{"command": "ls -l"}')
        messages.append(Reply(text=f"On to {turn}.", stop="tools", model="bench", calls=(call,)))
        messages.append(Results(results=(ToolResult(call=call.id, text=FOUND),)))
    return messages
