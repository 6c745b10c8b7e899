"""Runs as text: a row in a list, a page of one with what each step took, the end of one."""

from collections.abc import Iterator, Sequence
from typing import Final

from headway.application.requests import Json, Reply
from headway.cli.run_lines import money_of, priced
from headway.cli.safe_text import cells, moment, one_line, wrapped
from headway.cli.style import WIDTH_MIN, Style, fitted

NAME_WIDTH: Final = 11
COLOURS: Final = {
    "success": "green", "running": "bold", "queued": "dim", "cancelled": "dim",
    "paused": "yellow", "parked": "yellow", "stalled": "yellow", "timeout": "red",
    "stuck": "red", "error": "red",
}  # fmt: skip
COPIED: Final = {"workspace", "worktree", "branch", "commit", "session", "next"}  # never broken
MS_A_SECOND: Final = 1_000
SECONDS_A_MINUTE: Final = 60
HEADS: Final = ("step", "turns", "in", "out", "cached", "money", "time")


def list_lines(runs: Sequence[Json], style: Style) -> Iterator[str]:
    """Yield two lines a run: id, state, reason and time; then workflow and goal."""
    width = max(style.width, WIDTH_MIN)
    for each in runs:
        assert isinstance(each, dict)
        state = str(each["outcome"] or each["state"])
        why = f" ({one_line(each['reason'])})" if each["reason"] else ""
        head = f"{each['run']}  {state}{why}  {moment(_number(each['submittedAt']))}"
        yield style.paint(fitted(head, width, style), COLOURS.get(state, "bold"))
        yield fitted(f"    {one_line(each['workflow'])}: {one_line(each['goal'])}", width, style)


def show_lines(shown: Reply, style: Style) -> Iterator[str]:
    """Yield the page of a run: what it is, where it stands, what it took step by step."""
    width = max(style.width, WIDTH_MIN)
    outcome = shown["outcome"]
    state = str(outcome["kind"]) if isinstance(outcome, dict) else str(shown["state"])
    yield style.paint(fitted(f"{shown['run']}  {state}", width, style), COLOURS.get(state, "bold"))
    before = ""
    for fact, text in _facts(shown):
        name, before = "" if fact == before else fact, fact
        line = one_line(text)
        first, *rest = [line] if fact in COPIED else list(wrapped(line, width - NAME_WIDTH)) or [""]
        yield style.paint(name.ljust(NAME_WIDTH), "dim") + first
        yield from (" " * NAME_WIDTH + line for line in rest)
    yield from cost_lines(shown, style)


def cost_lines(shown: Reply, style: Style) -> Iterator[str]:
    """Yield a table of what each step took, and all of them; nothing before the first step."""
    steps = shown["steps"]
    assert isinstance(steps, list)
    if not steps:
        return
    rows: list[tuple[str, ...]] = [HEADS]
    for each in steps:
        assert isinstance(each, dict)
        rows.append((f"{each['number']}. {one_line(each['title'])}", *_spent(each)))
    if len(steps) > 1:
        rows.append(("in all", *_spent(shown)))
    yield ""
    yield from table_lines(rows, style)


def table_lines(rows: Sequence[tuple[str, ...]], style: Style) -> Iterator[str]:
    """Yield a table with its first row as a head; the first column gives way, the others align."""
    widths = [max(cells(row[at]) for row in rows) for at in range(1, len(rows[0]))]
    room = max(style.width, WIDTH_MIN) - sum(widths) - 2 * len(widths)
    first = max(8, min(room, max(cells(row[0]) for row in rows)))
    for number, row in enumerate(rows):
        name = fitted(row[0], first, style)
        numbers = (text.rjust(width) for text, width in zip(row[1:], widths, strict=True))
        line = "  ".join([name + " " * (first - cells(name)), *numbers])
        yield style.paint(line, "dim") if number == 0 else line


def end_lines(shown: Reply, style: Style) -> Iterator[str]:
    """Yield how a run came to stop here: its outcome, what there is of it, and what to do next."""
    outcome, place = shown["outcome"], shown["worktree"]
    words = outcome["words"] if isinstance(outcome, dict) else shown["state"]
    kind = str(outcome["kind"]) if isinstance(outcome, dict) else ""
    yield style.paint(
        f"The run {shown['run']} {one_line(words).rstrip('.')}.", COLOURS.get(kind, "bold")
    )
    facts: list[tuple[str, str]] = []
    if isinstance(place, dict):
        facts += [("branch", str(place["branch"]))] if place["branch"] else []
        facts += [("worktree", str(place["path"]))]
    facts.append(("took", took(shown)))
    facts += [("next", each) for each in next_steps(shown)]
    before = ""
    for name, text in facts:
        head = "" if name == before else name
        yield style.paint(head.ljust(NAME_WIDTH), "dim") + one_line(text)
        before = name


def next_steps(shown: Reply) -> Iterator[str]:
    """Yield the commands that make sense after a run has come to a stop, the likeliest first."""
    outcome, place, run = shown["outcome"], shown["worktree"], shown["run"]
    kind = outcome["kind"] if isinstance(outcome, dict) else None
    branch = place["branch"] if isinstance(place, dict) else None
    match kind:
        case "success":
            if shown["commit"] and branch:
                yield f"git -C {shown['workspace']} merge {branch}"
        case "paused":
            yield f"headway runs resume {run}"
        case "parked":
            yield f"headway gates show {shown['gate']}"
            yield f"headway runs resume {run}"
        case _:
            yield f"headway runs log {run}"
            yield f"headway runs retry {run}"
    if shown["saved"]:
        yield f"headway worktrees patch {run} | git apply"
    if shown["session"]:
        yield f"headway sessions show {shown['session']}"


def took(shown: Reply) -> str:
    """Return what a run took, in a few words."""
    tokens = _number(shown["inputTokens"]) + _number(shown["outputTokens"])
    cached = _number(shown["cachedTokens"])
    parts = [
        f"{shown['turns']} turn" + "s" * (shown["turns"] != 1),
        f"{tokens:,} tokens" + (f" and {cached:,} cached" if cached else ""),
        _money(shown),
        f"{duration(_number(shown['workedMs']))} at work",
    ]
    return ", ".join(parts)


def duration(ms: int) -> str:
    """Return a span of time as people read it: `8.4 s`, `3 min 05 s`, `2 h 10 min`."""
    seconds = ms / MS_A_SECOND
    if seconds < SECONDS_A_MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), SECONDS_A_MINUTE)
    if minutes < SECONDS_A_MINUTE:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, SECONDS_A_MINUTE)
    return f"{hours:,} h {minutes:02} min"


def _facts(shown: Reply) -> Iterator[tuple[str, Json]]:
    outcome, step, place = shown["outcome"], shown["step"], shown["worktree"]
    yield "goal", shown["goal"]
    yield "workflow", shown["workflow"]
    yield "model", shown["model"]
    yield "workspace", shown["workspace"]
    if isinstance(outcome, dict):
        yield "outcome", f"it {outcome['words']}"
    if isinstance(step, dict):
        yield "step", f"{step['number']} of {step['of']}: {step['title']}"
    if isinstance(place, dict):
        yield "worktree", place["path"]
        if place["branch"]:
            yield "branch", place["branch"]
    for name in ("commit", "session"):
        if shown[name]:
            yield name, shown[name]
    saved = shown["saved"]
    if isinstance(saved, dict):
        yield "saved", f"what was not committed in {saved['files']} files, before the worktree went"
    if shown["retryOf"]:
        yield "anew from", shown["retryOf"]
    yield "submitted", moment(_number(shown["submittedAt"]))
    yield "changed", moment(_number(shown["updatedAt"]))
    yield "claims", shown["claims"]
    yield "limits", _limits(shown["limits"])
    yield "took", took(shown)
    for each in next_steps(shown) if isinstance(outcome, dict) else ():
        yield "next", each


def _limits(limits: Json) -> str:
    assert isinstance(limits, dict)
    parts = []
    if limits["turns"] is not None:
        parts.append(f"{_number(limits['turns']):,} turns")
    if limits["tokens"] is not None:
        parts.append(f"{_number(limits['tokens']):,} tokens")
    if limits["money"] is not None:
        parts.append(money_of(_number(limits["money"])))
    if limits["seconds"] is not None:
        parts.append(f"{duration(_number(limits['seconds']) * MS_A_SECOND)} at work")
    then = "it is paused there" if limits["onLimit"] == "park" else "it ends there"
    return f"{', '.join(parts)}; {then}" if parts else "none"


def _spent(row: Reply) -> tuple[str, ...]:
    names = ("turns", "inputTokens", "outputTokens", "cachedTokens")
    counts = (f"{_number(row[name]):,}" for name in names)
    return (*counts, _money(row), duration(_number(row["workedMs"])))


def _money(row: Reply) -> str:
    return priced(_number(row["money"]), unpriced=bool(row["unpricedReplies"]))


def _number(value: Json) -> int:
    assert isinstance(value, int)
    return value
