"""Laying a flow out: where every box, line and word of the drawing stands, in whole pixels.

Theory of operation. A block is measured first, from the inside out: it needs so much width to the
left and to the right of the line the flow runs down, and so much height. Then it is placed, from
the outside in, so that the line of a sequence is straight however wide its parts are. Widths of
words are estimated, since nothing here knows a font; boxes leave room for the difference.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from headway.domain.graphing.flow import Block, Choice, Frame, Hand, Lane, Parallel, Work

WORK_WIDTH: Final = 250
HAND_WIDTH: Final = 168
PASS_WIDTH: Final = 108
GAP: Final = 30  # between blocks that follow each other
LANE_GAP: Final = 26
PAD: Final = 22  # inside a frame
LINE: Final = 18
TITLE_LETTERS: Final = 29
SMALL_LINE: Final = 15
MARK: Final = 9  # half the height of the mark where ways part
HEAD: Final = 38  # around the labels of the lanes
ARROW: Final = 20

Role: TypeAlias = Literal[
    "title", "demand", "gate", "label", "frame-title", "frame-note", "hand", "mark"
]
Shape: TypeAlias = Literal["work", "gated", "hand", "frame", "choice"]


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a shape, by its upper left corner and size."""

    shape: Shape
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; `arrow` at its end, `again` for the way back of a loop."""

    points: tuple[tuple[int, int], ...]
    arrow: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A line of words, centred at x; y is where its letters stand. "start" begins at x."""

    text: str
    x: int
    y: int
    role: Role
    anchor: Literal["middle", "start"] = "middle"


@dataclass(frozen=True, slots=True)
class Size:
    """What a block needs beside the line of the flow, and how high it is."""

    left: int
    right: int
    height: int

    @property
    def width(self) -> int:
        """The whole width."""
        return self.left + self.right


Piece: TypeAlias = Box | Line | Text


class Layout:
    """The pieces of a drawing, in the order in which they are drawn."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def sequence(self, blocks: tuple[Block, ...], x: int, y: int) -> int:
        """Place blocks below each other on the line at x, from y; return where they end."""
        for index, block in enumerate(blocks):
            if index:
                self.line((x, y), (x, y + GAP), arrow=_has_top(block))
                y += GAP
            self._place(block, x, y)
            y += size_of(block).height
        return y

    def line(self, *points: tuple[int, int], arrow: bool = False, again: bool = False) -> None:
        """Draw a line through points."""
        self.pieces.append(Line(points, arrow, again))

    def box(self, shape: Shape, x: int, y: int, size: tuple[int, int]) -> None:
        """Draw a box that is centred at x."""
        self.pieces.append(Box(shape, x - size[0] // 2, y, *size))

    def text(self, text: str, x: int, y: int, role: Role) -> None:
        """Write a line of words, centred at x."""
        self.pieces.append(Text(text, x, y, role))

    def _place(self, block: Block, x: int, y: int) -> None:
        match block:
            case Work():
                self._work(block, x, y)
            case Parallel():
                self._parallel(block, x, y)
            case Choice():
                self._choice(block, x, y)
            case Frame():
                self._frame(block, x, y)
            case _:
                assert_never(block)

    def _work(self, work: Work, x: int, y: int) -> None:
        height = size_of(work).height
        self.box("gated" if work.gate else "work", x, y, (WORK_WIDTH, height))
        y += 11
        for line in broken(work.title, TITLE_LETTERS, 3):
            y += LINE
            self.text(line, x, y - 4, "title")
        for text, role in _notes(work):
            y += SMALL_LINE
            self.text(text, x, y, role)

    def _parallel(self, parallel: Parallel, x: int, y: int) -> None:
        self._work(parallel.work, x, y)
        top = y + size_of(parallel.work).height + LANE_GAP
        high = max(_hand_height(each) for each in parallel.hands)
        self.line((x, top - LANE_GAP), (x, top - 10))
        left = x - _row_width(parallel) // 2
        centres = [
            left + number * (HAND_WIDTH + 14) + HAND_WIDTH // 2
            for number in range(len(parallel.hands))
        ]
        for hand, at in zip(parallel.hands, centres, strict=True):
            self.line((x, top - 10), (at, top - 10), (at, top), arrow=True)
            self.box("hand", at, top, (HAND_WIDTH, _hand_height(hand)))
            self.line((at, top + _hand_height(hand)), (at, top + high + 10), (x, top + high + 10))
            at_y = top + 6
            for line in broken(hand.name, 24, 2):
                at_y += SMALL_LINE
                self.text(line, at, at_y, "hand")
            for line in _hand_note(hand):
                at_y += SMALL_LINE
                self.text(line, at, at_y, "label")

    def _choice(self, choice: Choice, x: int, y: int) -> None:
        size = size_of(choice)
        self.box("choice", x, y, (2 * MARK, 2 * MARK))
        bus, bottom = y + 2 * MARK + 8, y + size.height
        self.line((x, y + 2 * MARK), (x, bus))
        at = x - size.left
        labels = _label_height(choice)
        for lane in choice.lanes:
            inner = _lane_size(lane)
            centre = at + inner.left
            top = bus + HEAD + labels
            self.line((x, bus), (centre, bus), (centre, bus + 10))
            self._labels(lane, centre, bus + 10, labels)
            end = top
            if lane.blocks:
                self.line((centre, top - ARROW), (centre, top), arrow=_has_top(lane.blocks[0]))
                end = self.sequence(lane.blocks, centre, top)
            else:
                end = top - ARROW
            self.line((centre, end), (centre, bottom - 8), (x, bottom - 8))
            at += inner.width + LANE_GAP
        self.line((x, bottom - 8), (x, bottom))

    def _labels(self, lane: Lane, x: int, y: int, height: int) -> None:
        lines = _label(lane)
        y += (height - len(lines) * SMALL_LINE) // 2
        for line in lines:
            y += SMALL_LINE
            self.text(line, x, y - 3, "label")

    def _frame(self, frame: Frame, x: int, y: int) -> None:
        size = size_of(frame)
        left = x - size.left
        self.pieces.append(Box("frame", left, y, size.width, size.height))
        at = y + 6
        for text, role in _frame_head(frame, size.width):
            at += LINE
            self.pieces.append(Text(text, left + PAD, at, role, "start"))
        top = at + 14 + GAP
        self.line((x, top - GAP + 4), (x, top), arrow=_has_top(frame.blocks[0]))
        end = self.sequence(frame.blocks, x, top)
        self.line((x, end), (x, end + PAD + 6))
        back = left + 14
        turn = (x, end + 12), (back, end + 12), (back, top - GAP + 10), (x, top - GAP + 10)
        self.line(*turn, arrow=True, again=True)


def size_of(block: Block) -> Size:
    """Return what a block needs."""
    match block:
        case Work():
            height = (
                22
                + len(broken(block.title, TITLE_LETTERS, 3)) * LINE
                + len(_notes(block)) * SMALL_LINE
            )
            return Size(WORK_WIDTH // 2, WORK_WIDTH // 2, height)
        case Parallel(work=work, hands=hands):
            half = max(WORK_WIDTH, _row_width(block)) // 2
            high = max(_hand_height(each) for each in hands)
            return Size(half, half, size_of(work).height + LANE_GAP + high + 10)
        case Choice(lanes=lanes):
            sizes = [_lane_size(lane) for lane in lanes]
            width = sum(each.width for each in sizes) + LANE_GAP * (len(sizes) - 1)
            left = sizes[0].left if len(lanes) == 2 and not lanes[1].blocks else width // 2  # noqa: PLR2004 - one way and around it
            high = max(each.height for each in sizes)
            return Size(
                left,
                width - left,
                2 * MARK + 8 + HEAD + _label_height(block) + high + 24,
            )
        case Frame(blocks=blocks):
            inner = sequence_size(blocks)
            left, right = inner.left + PAD + 14, inner.right + PAD
            head = len(_frame_head(block, left + right)) * LINE
            return Size(left, right, 6 + head + 14 + GAP + inner.height + PAD + 6)
        case _:
            assert_never(block)


def sequence_size(blocks: tuple[Block, ...]) -> Size:
    """Return what blocks below each other need."""
    sizes = [size_of(block) for block in blocks]
    return Size(
        max(each.left for each in sizes),
        max(each.right for each in sizes),
        sum(each.height for each in sizes) + GAP * (len(sizes) - 1),
    )


def broken(text: str, width: int, lines_max: int) -> list[str]:
    """Return a text in lines of about `width` letters, cut with a mark when there are too many."""
    lines: list[str] = []
    row = ""
    for word in " ".join(text.split()).split(" "):
        for piece in _pieces(word, width):
            if row and _cells(row) + 1 + _cells(piece) > width:
                lines.append(row)
                row = piece
            else:
                row = f"{row} {piece}" if row else piece
    lines.append(row)
    if len(lines) > lines_max:
        lines = lines[:lines_max]
        lines[-1] = lines[-1][:width].rstrip(" ,.;:") + "…"
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """Return a word in pieces that fit, parted behind a hyphen or dot where it has some."""
    pieces = []
    while len(word) > width:
        cut = max(word.rfind(sign, 0, width) for sign in "-._/") + 1
        pieces.append(word[: cut or width])
        word = word[cut or width :]
    return [*pieces, word]


def _cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _has_top(block: Block) -> bool:
    """Tell whether a line to a block ends at something that it points to."""
    return not isinstance(block, Choice)


def _notes(work: Work) -> list[tuple[str, Role]]:
    notes: list[tuple[str, Role]] = []
    if work.demands:
        notes += ((line, "demand") for line in broken(" · ".join(work.demands), 38, 2))
    if work.gate:
        notes += ((line, "gate") for line in broken(f"gate: {work.gate}", 38, 3))
    return notes


def _hand_note(hand: Hand) -> list[str]:
    return broken(f"if {hand.condition}", 26, 2) if hand.condition else []


def _hand_height(hand: Hand) -> int:
    return 16 + (len(broken(hand.name, 24, 2)) + len(_hand_note(hand))) * SMALL_LINE


def _row_width(parallel: Parallel) -> int:
    return len(parallel.hands) * (HAND_WIDTH + 14) - 14


def _lane_size(lane: Lane) -> Size:
    if not lane.blocks:
        return Size(PASS_WIDTH // 2, PASS_WIDTH // 2, 0)
    return sequence_size(lane.blocks)


def _label(lane: Lane) -> list[str]:
    if not lane.condition:
        return ["otherwise"]
    return broken(lane.condition.replace('","', '", "'), max(30, _lane_size(lane).width // 7), 4)


def _label_height(choice: Choice) -> int:
    return max(len(_label(lane)) for lane in choice.lanes) * SMALL_LINE


def _frame_head(frame: Frame, width: int) -> list[tuple[str, Role]]:
    letters = int((width - 2 * PAD) / 6.6)
    note = f"{frame.steering} · at most {frame.passes_max} passes"
    head: list[tuple[str, Role]] = [
        (line, "frame-title") for line in broken(f"↻ {frame.title}", letters, 2)
    ]
    return [*head, *((line, "frame-note") for line in broken(note, letters, 3))]
