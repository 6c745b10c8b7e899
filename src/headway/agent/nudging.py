"""What a model is told that ended its turn with work left to do, or whose reply was cut off."""

from typing import Final, Literal

import msgspec

from headway.domain.runs.events import ModelReplied
from headway.domain.runs.messages import Reply, ToolCall, ToolResult
from headway.ports.models import Traits

WORK_REMAINS: Final = (
    "The workflow is not finished: work remains on this step. Go on with it, and {hand_in} when "
    "it is done. If something keeps you from it, say so in the notes."
)
CUT: Final = (
    "Your reply was cut off after {tokens} tokens, the most that one reply may have, and nothing "
    "was done of it. Send less at once: write a long file in several parts, and keep texts short."
)
CUT_CALL: Final = (
    "This call was not run: your reply was cut off after {tokens} tokens, the most that one reply "
    "may have, in the middle of its arguments. Send less at once: make the file with its first "
    "part, and add the others with further calls."
)


def nudge(why: Literal["work_remains", "cut"], said: ModelReplied, traits: Traits) -> str:
    """Return the text for a reply that called nothing."""
    if why == "cut":
        return CUT.format(tokens=said.usage.output_tokens or traits.output_tokens_max)
    hand_in = "end your turn with its JSON" if traits.answers else "call complete_step"
    return WORK_REMAINS.format(hand_in=hand_in)


def cut_call(reply: Reply, call: ToolCall, traits: Traits) -> ToolResult | None:
    """Return what came of a call in whose middle its reply was cut off; None for a whole one."""
    if reply.stop != "length" or call.id != reply.calls[-1].id or _is_json(call.arguments):
        return None
    tokens = reply.usage.output_tokens or traits.output_tokens_max
    return ToolResult(call=call.id, text=CUT_CALL.format(tokens=tokens), failed=True)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True
