"""Rules about what an agent reads: prompts, and what stands in them."""

import re
from collections.abc import Container, Iterator
from typing import Final

from headway.domain.compiler.nodes import items, text
from headway.domain.compiler.reporting import shown
from headway.domain.linting.rules import Finding, Rule, rule
from headway.domain.linting.subject import Subject, Unit
from headway.domain.linting.texts import Prose

PROMPT_CHARS_MAX: Final = 6_000
COPIED_CHARS_MIN: Final = 240
ID_CHARS_MIN: Final = 6  # shorter ids are mostly words of their own
TITLE_CHARS_MIN: Final = 12

_BRACES: Final = re.compile(r"\{\{([^{}]*)\}\}")
_LOOKUP: Final = re.compile(r"\s*[A-Za-z_]\w*(?:\.[\w-]+)*\s*")
_NAME: Final = re.compile(r"[A-Za-z0-9][\w-]*")
_PROTOCOL: Final = re.compile(
    r"\b(?:continue_workflow|start_workflow|resume_session|checkpoint_workflow|continueToken)\b"
)
_THIRD_PERSON: Final = re.compile(
    r"\b[Tt]he (?:AI |LLM )?(?:agent|model|assistant) (?:must|should|shall|will)\b"
)
_WEASEL: Final = re.compile(
    r"\b(?:if (?:appropriate|applicable|necessary|needed|desired)|where appropriate"
    r"|as (?:appropriate|needed|necessary)|minimal pass|light scan|quick (?:look|scan|pass)"
    r"|best effort|feel free to)\b",
    re.IGNORECASE,
)
_MODEL: Final = re.compile(
    r"\b(?:gpt-\d[\w.-]*|claude-(?:\d|opus|sonnet|haiku|instant)[\w.-]*|gemini-\d[\w.-]*"
    r"|llama-?\d[\w.-]*|mistral-(?:large|small|medium)[\w.-]*)", re.IGNORECASE,
)  # fmt: skip
_OPTIONAL_TOOL: Final = re.compile(
    r"\b(?:web search|search the web|browse the web|sub-?agents?)\b", re.IGNORECASE
)
_CODE: Final = re.compile(
    r"\b(?:IF|WHEN)\b.*\bTHEN\b|=>|:=|&&|\|\||\bfunction \w+\(|\b\w+\([^)]*=[^)]*\)"
)


@rule(
    "PROMPT_NAMES_HIDDEN_STEP", "warning", "A prompt speaks of what the agent can see",
    why="Later steps are hidden until they come. A prompt that names one sends the agent looking, "
    "or working ahead.",
    remedy="Say what is needed now; the later step will ask for its own.",
)  # fmt: skip
def prompt_names_hidden_step(subject: Subject) -> Iterator[Finding]:
    """Report texts that hold the id or the whole title of a step that comes later."""
    by_word = _telling_words(subject)
    for unit in subject.units:
        for prose in unit.texts:
            if not prose.key or prose.key == "title":
                continue
            words = dict.fromkeys(_NAME.findall(prose.text))
            near = (each for word in words for each in by_word.get(word, ()))
            for named in near:
                if _is_hidden(named, unit) and _is_named(named, prose.text, words):
                    yield Finding(prose.path, f"It names {shown(named.id)}, which comes later.")
                    break


@rule(
    "TEMPLATE_EXPRESSION", "warning", "A placeholder looks a value up and nothing more",
    why="Only a dotted path of names is replaced; an expression in braces reaches the agent as it "
    "is written.",
    remedy="Set the value in an earlier step, or use promptFragments for variants.",
)  # fmt: skip
def template_expression(subject: Subject) -> Iterator[Finding]:
    """Report double braces that hold more than a path."""
    for prose in _step_texts(subject):
        for inside in _BRACES.findall(prose.text) if "{{" in prose.text else ():
            if inside.strip() and not _LOOKUP.fullmatch(inside):
                yield Finding(prose.path, f"{shown('{{' + inside + '}}')} is not replaced.")
                break


@rule(
    "PROMPT_COPIED", "info", "A text stands once",
    why="Copies drift apart when one of them is mended.",
    remedy="Put it into metaGuidance, a function or a routine, or split the steps by fragments.",
)  # fmt: skip
def prompt_copied(subject: Subject) -> Iterator[Finding]:
    """Report long paragraphs that stand in two steps."""
    first: dict[str, Unit] = {}
    for unit in subject.units:
        for prose in unit.texts:
            for paragraph in prose.text.split("\n\n") if prose.key else ():
                if len(paragraph) < COPIED_CHARS_MIN:
                    continue
                other = first.setdefault(paragraph.strip(), unit)
                if other is not unit:
                    yield Finding(prose.path, f"A paragraph stands in {shown(other.id)} as well.")
                    break


@rule(
    "PROMPT_LONG", "info", "A step asks for one thing",
    why="What stands in the middle of a long prompt is read least and forgotten first.",
    remedy="Split the step, or move variants to promptFragments and background to a reference.",
)  # fmt: skip
def prompt_long(subject: Subject) -> Iterator[Finding]:
    """Report steps whose prompt is longer than an agent keeps in view."""
    for unit in subject.units:
        chars = sum(len(each.text) for each in unit.texts if each.key in ("prompt", "promptBlocks"))
        if chars > PROMPT_CHARS_MAX:
            yield Finding(unit.path, f"The prompt of {shown(unit.id)} has {chars:,} characters.")


@rule(
    "PROMPT_NAMES_PROTOCOL", "info", "A prompt leaves the protocol to the engine",
    why="How to go on is told by the engine, in words that fit the client; a copy in a prompt "
    "grows wrong when they change.",
    remedy="Say what to hand in, and leave out which tool to call.",
)  # fmt: skip
def prompt_names_protocol(subject: Subject) -> Iterator[Finding]:
    """Report prompts that name the engine's tools or tokens."""
    yield from _matching(subject, _PROTOCOL, "It names {}.")


@rule(
    "PROMPT_THIRD_PERSON", "info", "A prompt speaks to its reader",
    why="Prompts are read by the one who does the work; instructions to somebody else read like "
    "background.",
    remedy="Say it as you would to a colleague: Do this, write that.",
)  # fmt: skip
def prompt_third_person(subject: Subject) -> Iterator[Finding]:
    """Report instructions to 'the agent'."""
    yield from _matching(subject, _THIRD_PERSON, "It says {} of its reader.")


@rule(
    "WEASEL_WORDING", "info", "An instruction says what is enough",
    why="An agent takes the least that a soft word allows.",
    remedy="Say when it applies, or what the least is that counts.",
)  # fmt: skip
def weasel_wording(subject: Subject) -> Iterator[Finding]:
    """Report soft words in prompts."""
    yield from _matching(subject, _WEASEL, "It says {}, without a measure.")


@rule(
    "MODEL_NAMED", "info", "Prompts and roles name no model",
    why="Models change faster than workflows, and the next reader is another one.",
    remedy="Set modelTier to lightweight, mid or heavy.",
)  # fmt: skip
def model_named(subject: Subject) -> Iterator[Finding]:
    """Report model names in texts."""
    yield from _matching(subject, _MODEL, "It names the model {}.")


@rule(
    "CAPABILITIES_NOT_DECLARED", "info", "Tools that may be missing are declared",
    why="Not every client can search the web or start subagents; the feature makes the agent find "
    "out, and say so when it falls back.",
    remedy='Add "wr.features.capabilities" (for subagents also "wr.features.subagent_guidance").',
)  # fmt: skip
def capabilities_not_declared(subject: Subject) -> Iterator[Finding]:
    """Report workflows of prompt blocks that lean on such tools and declare no feature."""
    declared = {"wr.features.capabilities", "wr.features.subagent_guidance"}
    if declared.intersection(map(str, items(subject.root, "features"))):
        return
    if not any("promptBlocks" in unit.node for unit in subject.steps):
        return
    first = next(_matching(subject, _OPTIONAL_TOOL, "It leans on {}."), None)
    if first:
        yield first


@rule(
    "META_GUIDANCE_CODE", "info", "Guidance is prose",
    why="Pseudo-code in guidance is run by nobody; conditions and loops are what the engine runs.",
    remedy="Say it in a sentence, or write a runCondition.",
)  # fmt: skip
def meta_guidance_code(subject: Subject) -> Iterator[Finding]:
    """Report lines of metaGuidance that look like code."""
    for index, line in enumerate(items(subject.root, "metaGuidance")):
        if isinstance(line, str) and _CODE.search(line):
            yield Finding(("metaGuidance", index), "The line reads like code.")


def _step_texts(subject: Subject) -> Iterator[Prose]:
    for unit in subject.units:
        yield from (each for each in unit.texts if each.key)


def _matching(subject: Subject, pattern: re.Pattern[str], what: str) -> Iterator[Finding]:
    """Yield one finding for each text of a step that holds the pattern."""
    for prose in _step_texts(subject):
        if found := pattern.search(prose.text):
            yield Finding(prose.path, what.format(shown(found[0])))


def _is_hidden(other: Unit, unit: Unit) -> bool:
    """Tell whether a unit is met only after another; those of one loop come round again."""
    if other.order <= unit.order or unit in other.loops:
        return False
    return not (unit.loops and other.loops and other.loops[0] is unit.loops[0])


def _telling_words(subject: Subject) -> dict[str, list[Unit]]:
    """Return the units by a word that must stand in a text that names them."""
    index: dict[str, list[Unit]] = {}
    for unit in subject.units:
        title = text(unit.node, "title")
        if _tells(unit.id):
            index.setdefault(unit.id, []).append(unit)
        if len(title) >= TITLE_CHARS_MIN and " " in title and (found := _NAME.search(title)):
            index.setdefault(found[0], []).append(unit)
    return index


def _tells(name: str) -> bool:
    """Tell whether an id is no everyday word."""
    return len(name) >= ID_CHARS_MIN and any(char in "-_0123456789" for char in name)


def _is_named(unit: Unit, prose: str, words: Container[str]) -> bool:
    title = text(unit.node, "title")
    return (_tells(unit.id) and unit.id in words) or (
        len(title) >= TITLE_CHARS_MIN and " " in title and title in prose
    )


RULES: Final[tuple[Rule, ...]] = (
    prompt_names_hidden_step,
    template_expression,
    prompt_copied,
    prompt_long,
    prompt_names_protocol,
    prompt_third_person,
    weasel_wording,
    model_named,
    capabilities_not_declared,
    meta_guidance_code,
)
