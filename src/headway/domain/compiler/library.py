"""The texts that come with the engine: refs and features.

Refs are inserted by authors; features insert themselves into every step made of prompt blocks.
Both are closed sets; their ids are part of the language, their wording is not.
"""

from typing import Final, NamedTuple

REFS: Final[dict[str, str]] = {
    "wr.refs.memory_usage": (
        "If you have a memory tool, look up what is known about this work before you begin and "
        "store what you learned when you finish. If it fails or is missing, go on without it."
    ),
    "wr.refs.memory_store": (
        "Store each lasting finding in memory under a clear title: what was found, the files it "
        "concerns, and why it matters."
    ),
    "wr.refs.memory_query": (
        "Ask memory what is already known about this workspace and this topic before you search "
        "for it anew."
    ),
    "wr.refs.notes_first_durability": (
        "What must survive belongs in the notes and the context of this step: they are the record "
        "later steps build on. Files on the side are for people to read, not to carry state."
    ),
    "wr.refs.synthesis_under_disagreement": (
        "Where independent results disagree, decide openly. Two that agree on their own count as "
        "confirmed; a lone claim needs evidence; when in doubt about severity take the graver "
        "view. Write down each conflict, the ruling and its reason."
    ),
    "wr.refs.parallelize_cognition_serialize_synthesis": (
        "Let helpers think side by side, each on a question of its own that does not overlap the "
        "others; draw the conclusions together yourself, one after another."
    ),
    "wr.refs.adversarial_challenge_rules": (
        "Try to bring the current position down. Say what would prove it wrong and look for "
        "exactly that. Do not soften what you find, and do not inflate it."
    ),
}


class Feature(NamedTuple):
    """What a feature appends to the sections of a step's prompt blocks."""

    constraints: tuple[str, ...]
    procedure: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()


FEATURES: Final[dict[str, Feature]] = {
    "wr.features.memory_context": Feature(constraints=(REFS["wr.refs.memory_usage"],)),
    "wr.features.capabilities": Feature(
        constraints=(
            "Find out whether a tool is there and works before the work depends on it.",
            "If something you would need is missing, say so and take the next best way.",
            "Never present a fallback as if it were the full result.",
        ),
        procedure=(
            "Decide which optional tools this step would gain from, and try each one briefly.",
            "Write down which of them work and which do not.",
            "Go on with what works; where something is missing, use the fallback and name it.",
        ),
        verify=(
            "Every tool the result rests on was seen to work.",
            "Every missing tool and the fallback taken are in the notes.",
            "The limits a fallback puts on the result are stated.",
        ),
    ),
    "wr.features.subagent_guidance": Feature(
        constraints=(
            "Treat every helper as the same kind of worker: give it a complete task.",
            "Decisions stay with you; helpers bring evidence and proposals.",
            REFS["wr.refs.parallelize_cognition_serialize_synthesis"],
        ),
        procedure=(
            "Before handing work out, write down each helper's question, inputs and answer form.",
            "Read every result critically before you use it.",
        ),
        verify=(
            "No conclusion was taken from a helper without being checked.",
            "The final judgement and its reasons are your own.",
        ),
    ),
}
