"""A memory's neighbours as a picture: boxes and lines to draw, each box a link."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.models import Memory
from teams.admin.display import excerpt, page_of

MAX_NODES = 12
BOX_WIDTH, BOX_HEIGHT = 290, 74
_GAP = 14
_STEP = BOX_HEIGHT + _GAP
WIDE = 1000
NARROW = 350
_INDENT = NARROW - BOX_WIDTH
_LINE_CHARS = 37
_TITLE_CHARS = 300
# What stands on the left of the memory: what it came from.
_EARLIER = {"replaces", "merged from", "derived from"}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another memory and how this one relates to it, such as "replaced by"."""

    memory: Memory
    kind: str


@dataclass(frozen=True, slots=True)
class Node:
    """A box at its place, with what it says and where it leads; `path` is the line to it."""

    x: int
    y: int
    kind: str
    css: str
    lines: list[str]
    title: str
    url: str
    path: str = ""

    @property
    def text_x(self) -> int:
        """Where its words begin."""
        return self.x + 12

    @property
    def kind_y(self) -> int:
        """The base line of its kind."""
        return self.y + 19

    @property
    def rows(self) -> list[tuple[int, str]]:
        """Its lines of words with their base lines."""
        return [(self.y + 39 + 18 * number, line) for number, line in enumerate(self.lines)]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of that size: the memory in question and its neighbours."""

    css: str
    width: int
    height: int
    centre: Node
    nodes: list[Node]


@dataclass(frozen=True, slots=True)
class Picture:
    """The same neighbours drawn for wide and for narrow pages, and how many are left out."""

    wide: Drawing
    narrow: Drawing
    left_out: int
    box_width: int = BOX_WIDTH
    box_height: int = BOX_HEIGHT


def picture_of(memory: Memory, neighbours: Iterable[Neighbour]) -> Picture | None:
    """The picture of the memory among its neighbours, each once, at its first kind.

    None without any.
    """
    by_id: dict[object, Neighbour] = {}
    for each in neighbours:
        if each.memory.pk != memory.pk:
            by_id.setdefault(each.memory.pk, each)
    shown = list(by_id.values())[:MAX_NODES]
    if not shown:
        return None
    return Picture(_wide(memory, shown), _narrow(memory, shown), len(by_id) - len(shown))


def _wide(memory: Memory, shown: Sequence[Neighbour]) -> Drawing:
    """The memory in the middle, what it came from on its left, the rest where there is room."""
    left = [each for each in shown if each.kind in _EARLIER]
    right = [each for each in shown if each.kind == "replaced by"]
    for each in shown:
        if each not in left and each not in right:
            (right if len(right) <= len(left) else left).append(each)
    height = max(len(left), len(right), 1) * _STEP - _GAP
    middle = (height - BOX_HEIGHT) // 2
    centre_x = (WIDE - BOX_WIDTH) // 2
    nodes = []
    for side, x in ((left, 0), (right, WIDE - BOX_WIDTH)):
        top = (height - (len(side) * _STEP - _GAP)) // 2
        for number, each in enumerate(side):
            y = top + number * _STEP
            begin = centre_x if x == 0 else centre_x + BOX_WIDTH
            end = BOX_WIDTH if x == 0 else x
            half = (begin + end) // 2
            from_y, to_y = middle + BOX_HEIGHT // 2, y + BOX_HEIGHT // 2
            path = f"M {begin} {from_y} C {half} {from_y}, {half} {to_y}, {end} {to_y}"
            nodes.append(_node(each, x, y, path))
    return Drawing("pal-wide", WIDE, height, _centre(memory, centre_x, middle), nodes)


def _narrow(memory: Memory, shown: Sequence[Neighbour]) -> Drawing:
    """The memory on top, its neighbours below each other."""
    nodes = []
    for number, each in enumerate(shown, start=1):
        y = number * _STEP
        path = f"M 24 {BOX_HEIGHT} V {y + BOX_HEIGHT // 2} H {_INDENT}"
        nodes.append(_node(each, _INDENT, y, path))
    height = (len(shown) + 1) * _STEP - _GAP
    return Drawing("pal-narrow", NARROW, height, _centre(memory, 0, 0), nodes)


def _centre(memory: Memory, x: int, y: int) -> Node:
    return Node(x, y, "this memory", "this", _wrapped(memory.content), memory.content, "")


def _node(each: Neighbour, x: int, y: int, path: str) -> Node:
    text = each.memory.content
    return Node(
        x,
        y,
        each.kind,
        each.kind.replace(" ", "-"),
        _wrapped(text),
        excerpt(text, _TITLE_CHARS),
        page_of("memory_memory", each.memory.pk),
        path,
    )


def _wrapped(text: str) -> list[str]:
    """Its beginning on two lines."""
    lines = textwrap.wrap(excerpt(text, _LINE_CHARS * 3), _LINE_CHARS)
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: _LINE_CHARS - 1].rstrip(' .,…')}…"]
    return lines
