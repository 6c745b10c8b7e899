"""The flow as an SVG picture: no script, no font or file from elsewhere, light and dark.

Every text is escaped where it is written, so a workflow's words stay words.
"""

import re
from typing import Final, assert_never
from xml.sax.saxutils import escape

from headway.domain.graphing.flow import flow_of, in_words
from headway.domain.graphing.layout import GAP, Box, Layout, Line, Piece, Text, sequence_size
from headway.domain.workflow import Workflow

MARGIN: Final = 36
DESCRIPTION_CHARS_MAX: Final = 4_000
_UNSHOWN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LIGHT: Final = {
    "paper": "#ffffff", "ink": "#1c2430", "soft": "#5b6675", "line": "#8a94a3", "work": "#f6f8fb",
    "edge": "#c3ccd8", "frame": "#eef3fb", "loop": "#8fa9d3", "gate": "#99600f",
    "asked": "#fdf6e7", "hand": "#f3f0fb", "given": "#a898d6", "way": "#2f63b8",
}  # fmt: skip
_DARK: Final = {
    "paper": "#12161c", "ink": "#e8edf4", "soft": "#a3afbf", "line": "#6f7c8e", "work": "#1c232d",
    "edge": "#3b4757", "frame": "#182131", "loop": "#5577a8", "gate": "#e0aa4a",
    "asked": "#2a2416", "hand": "#221f33", "given": "#7565ad", "way": "#86b1f5",
}  # fmt: skip
_SHAPES: Final = """\
.hw{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
.hw .name{font-size:19px;font-weight:700}
.hw .title{font-size:13.5px;font-weight:600}
.hw .frame-title{font-size:13px;font-weight:700}
.hw .hand-text{font-size:12px}
.hw .demand,.hw .label,.hw .frame-note,.hw .id,.hw .gate{font-size:11.5px}
.hw .gated,.hw .choice,.hw .end,.hw path{stroke-width:1.5}
.hw path{fill:none;stroke-linejoin:round}
.hw .hand{stroke-dasharray:5 3}
.hw .again{stroke-dasharray:2 4;stroke-linecap:round}"""
# Plain colours twice rather than variables: viewers other than browsers know no variables.
_COLOURS: Final = """\
.hw .paper{fill:%(paper)s}
.hw text,.hw .dot{fill:%(ink)s}
.hw .demand,.hw .frame-note,.hw .id{fill:%(soft)s}
.hw .label{fill:%(way)s}
.hw .gate{fill:%(gate)s}
.hw .work{fill:%(work)s;stroke:%(edge)s}
.hw .gated{fill:%(asked)s;stroke:%(gate)s}
.hw .frame{fill:%(frame)s;stroke:%(loop)s}
.hw .hand{fill:%(hand)s;stroke:%(given)s}
.hw .choice{fill:%(paper)s;stroke:%(way)s}
.hw path{stroke:%(line)s}
.hw path.again{stroke:%(loop)s}
.hw .tip{fill:%(line)s}
.hw .tip-again{fill:%(loop)s}
.hw .end{fill:none;stroke:%(ink)s}"""
_STYLE: Final = (
    f"{_SHAPES}\n{_COLOURS % _LIGHT}\n@media(prefers-color-scheme:dark){{\n{_COLOURS % _DARK}\n}}"
)


def svg(workflow: Workflow) -> str:
    """Return the drawing of a workflow; the same workflow gives the same text."""
    blocks = flow_of(workflow)
    size = sequence_size(blocks)
    head = max(360, len(workflow.name) * 11, len(workflow.id) * 8)
    left = max(size.left, 0)
    width = max(left + size.right, head) + 2 * MARGIN
    x, y = MARGIN + left, MARGIN + 66
    layout = Layout()
    layout.line((x, y), (x, y + GAP), arrow=True)
    end = layout.sequence(blocks, x, y + GAP)
    layout.line((x, end), (x, end + GAP), arrow=True)
    height = end + GAP + 20 + MARGIN
    about = f"{workflow.id} · version {workflow.version}"
    name = re.sub(r"[^A-Za-z0-9-]", "-", workflow.id)
    parts = [
        _opening(name, width, height),
        f'<title id="{name}-title">{_said(workflow.name)}</title>',
        f'<desc id="{name}-desc">{_said(in_words(blocks)[:DESCRIPTION_CHARS_MAX])}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="name" x="{MARGIN}" y="{MARGIN + 14}">{_said(workflow.name)}</text>',
        f'<text class="id" x="{MARGIN}" y="{MARGIN + 34}">{_said(about)}</text>',
        f'<circle class="dot" cx="{x}" cy="{y - 5}" r="6"/>',
        *(_drawn(piece) for piece in _in_layers(layout.pieces)),
        f'<circle class="end" cx="{x}" cy="{end + GAP + 9}" r="8"/>',
        f'<circle class="dot" cx="{x}" cy="{end + GAP + 9}" r="4"/>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _opening(name: str, width: int, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hw" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-labelledby="{name}-title {name}-desc">'
    )


def _in_layers(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces with frames at the bottom, then lines, then boxes and words."""
    return sorted(pieces, key=_layer)


def _layer(piece: Piece) -> int:
    if isinstance(piece, Box) and piece.shape == "frame":
        return 0
    return 1 if isinstance(piece, Line) else 2


def _drawn(piece: Piece) -> str:
    match piece:
        case Box(shape="choice"):
            x, y = piece.x + piece.width // 2, piece.y + piece.height // 2
            r = piece.width // 2
            points = f"{x},{y - r} {x + r},{y} {x},{y + r} {x - r},{y}"
            return f'<polygon class="choice" points="{points}"/>'
        case Box():
            round_ = 14 if piece.shape == "frame" else 8
            return (
                f'<rect class="{piece.shape}" x="{piece.x}" y="{piece.y}" width="{piece.width}" '
                f'height="{piece.height}" rx="{round_}"/>'
            )
        case Line():
            return _line(piece)
        case Text():
            role = "hand-text" if piece.role == "hand" else piece.role
            return (
                f'<text class="{role}" x="{piece.x}" y="{piece.y}" '
                f'text-anchor="{piece.anchor}">{_said(piece.text)}</text>'
            )
        case _:
            assert_never(piece)


def _line(line: Line) -> str:
    """Return a path with round corners, and the tip of its arrow as a shape of its own."""
    points = [p for n, p in enumerate(line.points) if n == 0 or p != line.points[n - 1]]
    path = [f"M{points[0][0]} {points[0][1]}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        into, out = _towards((bx, by), (ax, ay)), _towards((bx, by), (cx, cy))
        path.append(f"L{into[0]} {into[1]}Q{bx} {by} {out[0]} {out[1]}")
    x, y = points[-1]
    tip = ""
    if line.arrow:
        dx, dy = _direction(points[-2], points[-1])
        kind = "tip-again" if line.again else "tip"
        a, b = (
            (x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx),
            (x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx),
        )
        tip = f'<polygon class="{kind}" points="{x},{y} {a[0]},{a[1]} {b[0]},{b[1]}"/>'
        x, y = x - 6 * dx, y - 6 * dy
    path.append(f"L{x} {y}")
    again = ' class="again"' if line.again else ""
    return f'<path{again} d="{"".join(path)}"/>{tip}'


def _direction(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    dx, dy = other[0] - one[0], other[1] - one[1]
    return (dx > 0) - (dx < 0), (dy > 0) - (dy < 0)


def _towards(corner: tuple[int, int], point: tuple[int, int]) -> tuple[int, int]:
    """Return the point where a round corner begins."""
    dx, dy = _direction(corner, point)
    reach = min(8, max(abs(point[0] - corner[0]), abs(point[1] - corner[1])) // 2)
    return corner[0] + dx * reach, corner[1] + dy * reach


def _said(text: str) -> str:
    return escape(_UNSHOWN.sub(" ", text))
