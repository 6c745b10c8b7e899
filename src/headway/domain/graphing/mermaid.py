"""The flow as Mermaid text, for pages and tools that draw it themselves."""

from collections.abc import Iterator
from typing import Final

from headway.domain.graphing.flow import Block, Choice, Frame, Parallel, Work, flow_of
from headway.domain.workflow import Workflow

_INDENT: Final = "  "
_CLASSES: Final = (
    "classDef gate stroke:#b7791f,stroke-width:3px;",
    "classDef hand stroke-dasharray:4 3;",
)


def mermaid(workflow: Workflow) -> str:
    """Return a flowchart in Mermaid's notation."""
    writing = _Writing()
    last = writing.blocks(flow_of(workflow), [("begin", "")], 1)
    lines = [
        "---", f"title: {_title(workflow.name)}", "---", "flowchart TD",
        f"{_INDENT}begin((start))", *writing.lines, f"{_INDENT}finish(((end)))",
        *writing.edges(last, "finish"), *(_INDENT + each for each in _CLASSES),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


_Ends = list[tuple[str, str]]  # nodes from which the flow goes on, each with the edge's label


class _Writing:
    """The lines so far, and the number the next node gets."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def blocks(self, blocks: tuple[Block, ...], ends: _Ends, depth: int) -> _Ends:
        """Write blocks behind the nodes in `ends`; return the nodes they end with."""
        for block in blocks:
            ends = self._block(block, ends, depth)
        return ends

    def edges(self, ends: _Ends, target: str, depth: int = 1) -> Iterator[str]:
        """Yield the edges from each of `ends` to a node."""
        for node, label in ends:
            said = f'|"{_quoted(label)}"|' if label else ""
            yield f"{_INDENT * depth}{node} -->{said} {target}"

    def _block(self, block: Block, ends: _Ends, depth: int) -> _Ends:
        match block:
            case Work():
                return [(self._work(block, ends, depth), "")]
            case Parallel(work=work, hands=hands):
                outer = self._work(work, ends, depth)
                nodes = []
                for hand in hands:
                    node = self._node(f'[["{_quoted(hand.name)}"]]:::hand', depth)
                    self.lines += self.edges([(outer, hand.condition)], node, depth)
                    nodes.append((node, ""))
                return nodes
            case Choice(lanes=lanes, about=about):
                asked = self._node(f'{{"{_quoted(about)}?"}}', depth)
                self.lines += self.edges(ends, asked, depth)
                found: _Ends = []
                for lane in lanes:
                    label = lane.condition or "otherwise"
                    found += self.blocks(lane.blocks, [(asked, label)], depth)
                return found
            case Frame():
                return self._frame(block, ends, depth)

    def _frame(self, frame: Frame, ends: _Ends, depth: int) -> _Ends:
        name = self._next("loop")
        said = f"{frame.title}: {frame.steering}, at most {frame.passes_max} passes"
        self.lines.append(f'{_INDENT * depth}subgraph {name}["{_quoted(said)}"]')
        first = f"n{self._count + 1}"
        last = self.blocks(frame.blocks, [], depth + 1)
        self.lines += (
            f'{_INDENT * (depth + 1)}{node} -.->|"{_quoted(label or "again")}"| {first}'
            for node, label in last
        )
        self.lines.append(f"{_INDENT * depth}end")
        self.lines += self.edges(ends, first, depth)
        return last

    def _work(self, work: Work, ends: _Ends, depth: int) -> str:
        more = [*work.demands, work.gate] if work.gate else [*work.demands]
        text = "<br/>".join([_quoted(work.title), *(f"<i>{_quoted(each)}</i>" for each in more)])
        node = self._node(f'["{text}"]{":::gate" if work.gate else ""}', depth)
        self.lines += self.edges(ends, node, depth)
        return node

    def _node(self, shape: str, depth: int) -> str:
        node = self._next("n")
        self.lines.append(f"{_INDENT * depth}{node}{shape}")
        return node

    def _next(self, letter: str) -> str:
        if letter == "n":
            self._count += 1
            return f"n{self._count}"
        return f"{letter}{self._count + 1}"


def _quoted(text: str) -> str:
    """Return a text that ends no label and is no markup."""
    plain = " ".join(text.split())
    for sign, code in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        plain = plain.replace(sign, code)
    return plain


def _title(text: str) -> str:
    return '"' + " ".join(text.split()).replace("\\", "").replace('"', "'") + '"'
