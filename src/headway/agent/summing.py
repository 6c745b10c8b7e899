"""Summing up: what a model is asked when the older turns of its conversation must make room.

The turns are shown as one text, not as the messages they were: providers refuse calls and results
in a request without tools, and a summary needs no more of a long text than its ends.
"""

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from headway.domain.runs.messages import Message, ModelRequest, Reply, Results, Told

SHOWN_CHARS_MAX: Final = 8_000  # of each text; half from its beginning, half from its end
SYSTEM: Final = """\
Work on a long task goes on, and the older part of its record must make room. Below is that part, \
in order: what was asked, what was said, which tools were called, what came of it. Write the \
hand-over that replaces it, for whoever goes on with the work and has seen none of this.

Say, as densely as you can, in plain text: what the goal and the present step ask for; what was \
decided, and why; which files were read or changed, and what in them matters; which commands were \
run, and what came of them (exact errors, names of failing tests); what was tried in vain; what is \
open, and what was about to be done next. Keep names, paths, numbers and ids exact. Leave out what \
matters no more. Do not go on with the work and add nothing that is not below.\
"""
HEAD: Final = "The turns up to here made room for this hand-over, which you wrote of them.\n\n"
CUT: Final = "\n\n[The hand-over was cut off here.]"


def summing(goal: str, messages: Iterable[Message], output_tokens_max: int) -> ModelRequest:
    """Return the request for a summary of these messages."""
    blocks = [f"[the goal]\n{goal}", *(block for each in messages for block in _blocks(each))]
    turns = Told(text="\n\n".join(blocks), origin="turns")
    return ModelRequest(system=SYSTEM, messages=(turns,), output_tokens_max=output_tokens_max)


def in_place_of_turns(reply: Reply) -> str:
    """Return what is told in the place of the turns that a reply sums up."""
    return HEAD + reply.text.strip() + (CUT if reply.stop == "length" else "")


def _blocks(message: Message) -> Iterator[str]:
    match message:
        case Told(text=text, origin=origin):
            yield f"[told: {origin}]\n{text if origin == 'summary' else _shown(text)}"
        case Reply(text=text, calls=calls):
            if text:
                yield f"[said]\n{_shown(text)}"
            for call in calls:
                yield f"[called {call.name}]\n{_shown(call.arguments)}"
        case Results(results=results):
            for result in results:
                how = "failed" if result.failed else "came of it"
                yield f"[{how}]\n{_shown(result.text)}"
        case _:
            assert_never(message)


def _shown(text: str) -> str:
    if len(text) <= SHOWN_CHARS_MAX:
        return text
    half = SHOWN_CHARS_MAX // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"
