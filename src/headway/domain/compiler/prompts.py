"""From what an author writes to the text of a prompt: blocks, refs, features, args, bindings.

Law: a compiled text holds no `{{wr.…}}` token. `{{name}}` is left for rendering; `{name}` is
replaced in the titles and prompts of routines only.
"""

import re
from collections.abc import Iterable
from typing import Final

from headway.domain.coercions import to_text
from headway.domain.compiler.library import FEATURES, REFS
from headway.domain.compiler.nodes import items, record, text
from headway.domain.compiler.reporting import did_you_mean, listed, shown
from headway.domain.compiler.setting import Scope, Setting
from headway.domain.diagnostics import Path
from headway.domain.values import Json, JsonObject

_ARG: Final = re.compile(r"(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})")
_BINDING: Final = re.compile(r"\{\{\s*wr\.bindings\.([A-Za-z0-9_-]+)\s*\}\}")
_TOKEN: Final = re.compile(r"\{\{\s*wr\.[^{}]{0,80}\}{0,2}")


def prompt_at(node: JsonObject, path: Path, setting: Setting, scope: Scope) -> str:
    """Return the compiled prompt of a step with `prompt` or `promptBlocks`."""
    if "prompt" in node:
        path, raw = (*path, "prompt"), text(node, "prompt")
    else:
        path, blocks = (*path, "promptBlocks"), node.get("promptBlocks")
        raw = _blocks(blocks, path, setting) if isinstance(blocks, dict) else ""
    return compiled_text(raw, path, setting, scope)


def compiled_text(raw: str, path: Path, setting: Setting, scope: Scope) -> str:
    """Return a text with a routine's args and the workflow's bindings put in."""
    if scope.args is not None and "{" in raw:
        raw = _with_args(raw, scope.args, path, setting)
    if "{{" in raw:
        raw = _with_bindings(raw, path, setting)
        check_tokens(raw, path, setting)
    setting.spend(len(raw), path)
    return raw


def check_tokens(compiled: str, path: Path, setting: Setting) -> None:
    """Report engine tokens that nothing replaces."""
    if "{{" not in compiled:
        return
    for token in dict.fromkeys(_TOKEN.findall(compiled)):
        setting.report.add(
            "UNRESOLVED_TOKEN", path, f"The token {shown(token)} is not replaced here.",
            "Remove it; binding tokens work in prompts and prompt blocks only.",
        )  # fmt: skip


def _with_args(raw: str, args: JsonObject, path: Path, setting: Setting) -> str:
    for name in dict.fromkeys(_ARG.findall(raw)):
        if name not in args:
            otherwise = f'Add "{name}" to the args; given are {listed(args)}.'
            setting.report.add(
                "TEMPLATE_ARG_MISSING", path, f"The routine's text asks for {{{name}}}.", otherwise
            )
    size = sum(len(to_text(args[name])) if name in args else 0 for name in _ARG.findall(raw))
    setting.spend(size, path)
    return _ARG.sub(lambda found: to_text(args.get(found[1], found[0])), raw)


def _with_bindings(raw: str, path: Path, setting: Setting) -> str:
    for slot in dict.fromkeys(_BINDING.findall(raw)):
        if slot not in setting.slots:
            otherwise = "Declare it in extensionPoints, or write the id itself."
            setting.report.add(
                "UNKNOWN_BINDING_SLOT", path, f"No extension point has the slot {shown(slot)}.",
                did_you_mean(slot, setting.slots, otherwise),
            )  # fmt: skip
    # An unknown slot is told above; it is taken out so that it is not told again as a token.
    return _BINDING.sub(lambda found: setting.slots.get(found[1], ""), raw)


def _blocks(blocks: JsonObject, path: Path, setting: Setting) -> str:
    features = [FEATURES[name] for name in setting.features]
    goal = _prose(blocks.get("goal"), (*path, "goal"), setting)
    constraints = _proses(blocks, "constraints", path, setting)
    procedure = _proses(blocks, "procedure", path, setting)
    outputs = [
        f"**{name}**: {_prose(value, (*path, 'outputRequired', name), setting)}"
        for name, value in record(blocks, "outputRequired").items()
    ]
    verify = _proses(blocks, "verify", path, setting)
    if not any(blocks.values()):
        setting.report.add(
            "EMPTY_BLOCKS", path, "promptBlocks has nothing in it.", 'Add at least a "goal".'
        )
    for feature in features:
        constraints += feature.constraints
        procedure += feature.procedure
        verify += feature.verify
    sections = (
        ("Goal", goal),
        ("Constraints", _dashed(constraints)),
        ("Procedure", "\n".join(f"{n}. {each}" for n, each in enumerate(procedure, start=1))),
        ("Required output", _dashed(outputs)),
        ("Verify", _dashed(verify)),
    )
    return "\n\n".join(f"## {heading}\n{content}" for heading, content in sections if content)


def _dashed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _proses(blocks: JsonObject, key: str, path: Path, setting: Setting) -> list[str]:
    return [
        _prose(each, (*path, key, index), setting) for index, each in enumerate(items(blocks, key))
    ]


def _prose(value: Json, path: Path, setting: Setting) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "".join(_part(each, (*path, index), setting) for index, each in enumerate(value))


def _part(part: Json, path: Path, setting: Setting) -> str:
    if not isinstance(part, dict):
        return ""
    if part.get("kind") != "ref":
        return text(part, "text")
    ref = text(part, "refId")
    if ref and ref not in REFS:
        setting.report.add(
            "UNKNOWN_REF", (*path, "refId"), f"There is no ref {shown(ref)}.",
            did_you_mean(ref, REFS, f"Choose one of {listed(REFS)}."),
        )  # fmt: skip
    return REFS.get(ref, "")
