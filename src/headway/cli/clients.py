"""How to give Headway to the programs that agents run in: what to type, or to write where."""

import json
import shlex
from typing import Final, NamedTuple

NAME: Final = "headway"
URL_DEFAULT: Final = "http://127.0.0.1:7430/mcp"


class Way(NamedTuple):
    """What a person does for one program: `what` is to be copied whole."""

    client: str
    what: str
    where: str = ""


def help_lines() -> str:
    """Return the ways as they stand in a command's help, for a program that is on the PATH."""
    lines = ["\b", "Give it to a client (the whole path of headway, where it is not on the PATH):"]
    for way in ways(NAME):
        lines += [f"  {way.client}{': ' * bool(way.where)}{way.where}", f"    {way.what}"]
    return "\n".join(lines)


def ways(program: str) -> tuple[Way, ...]:
    """Return a way for each client, where `program` starts Headway."""
    typed = f"{NAME} -- {shlex.quote(program)} mcp"
    entry = {"command": program, "args": ["mcp"]}
    vs_code = json.dumps({"name": NAME, **entry})
    return (
        Way("Claude Code", f"claude mcp add --scope user {typed}"),
        Way("Codex", f"codex mcp add {typed}"),
        Way("VS Code", f"code --add-mcp {shlex.quote(vs_code)}"),
        Way(
            "Cursor, Claude Desktop and most others",
            json.dumps({"mcpServers": {NAME: entry}}),
            "~/.cursor/mcp.json, claude_desktop_config.json, ...",
        ),
    )
