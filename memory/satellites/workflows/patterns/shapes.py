"""Normalised subtrees: equal for code of one structure, whatever its names and literals are.

A subtree's key is made of its kind and the keys of its children, bottom up, each distinct one
once (hash-consing), so that the cost grows with the text and not with its square. What varies
between places of one shape are its slots: names, literals, types, and bracketed lists as a whole.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.satellites.workflows.patterns.syntax import Language, Node, SourceFile, bottom_up

MIN_LINES, MAX_LINES, MAX_BYTES = 3, 60, 6000
MIN_ACTIONS = 3
MAX_SLOTS = 80
LONGEST_RUN = 5
"""Of how many statements in a row a shape may consist that is not one whole statement."""
_SLOT_CHARS = 80


@dataclass(frozen=True, slots=True)
class Place:
    """Where a shape stands: bytes [start, end) and lines of a file, and what is in its slots."""

    path: str
    start: int
    end: int
    first_line: int
    last_line: int
    slots: tuple[str, ...]

    @property
    def ref(self) -> str:
        """As artifacts name it: `path#L10-L20`."""
        return f"{self.path}#L{self.first_line}-L{self.last_line}"

    @property
    def lines(self) -> list[tuple[str, int]]:
        """Each of its lines, with the path."""
        return [(self.path, line) for line in range(self.first_line, self.last_line + 1)]

    def overlaps(self, other: Place) -> bool:
        """Whether both have some of one file's bytes."""
        return self.path == other.path and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class _Part:
    """What is known of a subtree: its key and how much is in it; its slots are [first, last)."""

    key: int
    first: int
    last: int
    actions: int
    statements: int
    has_block: bool


_Span = tuple[int, int, int, int, int, int, int]  # file, first and last slot, bytes, lines


class ShapeIndex:
    """Every subtree and run of statements that could be a pattern, by its shape."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._slots: list[list[str]] = []
        self._keys: dict[tuple[str | int, ...], int] = {}
        self._digests: list[bytes] = []
        self._spans: dict[int, list[_Span]] = defaultdict(list)
        self.frequency: Counter[str] = Counter()
        """How often each value stands in a slot, in all files."""

    def add(self, file: SourceFile) -> None:
        """Read a file; its tree is not kept."""
        self._paths.append(file.path)
        slots: list[str] = []
        self._slots.append(slots)
        parts: dict[int, _Part] = {}
        for node in bottom_up(file.root):
            parts[id(node)] = self._part(node, parts, slots, file)
            if node.is_block:
                self._note_block(node, parts, file.language)
        self.frequency.update(slots)

    def groups(self, *, known: frozenset[str]) -> Iterator[tuple[str, list[Place]]]:
        """Shapes with their places, none of which overlap: repeated ones, and all `known` ones."""
        for key, spans in self._spans.items():
            name = self._digests[key].hex()
            if name in known or (len(spans) > 2 and len({span[0] for span in spans}) > 1):
                yield name, _apart(self._place(span) for span in spans)

    def _place(self, span: _Span) -> Place:
        file, first, last, start, end, first_line, last_line = span
        slots = tuple(self._slots[file][first:last])
        return Place(self._paths[file], start, end, first_line, last_line, slots)

    def _part(
        self, node: Node, parts: dict[int, _Part], slots: list[str], file: SourceFile
    ) -> _Part:
        first = len(slots)
        # The statements of a block are looked at once more, as runs.
        take = parts.__getitem__ if node.is_block else parts.pop
        children = [take(id(each)) for each in node.children]
        if children:
            first = children[0].first
        actions = int(node.is_action) + sum(each.actions for each in children)
        statements = int(node.is_action and not node.is_call)
        statements += sum(each.statements for each in children)
        if not node.is_named and not node.children:
            return _Part(self._key(node.kind), first, first, 0, 0, False)
        has_block = node.is_block or any(each.has_block for each in children)
        is_whole = node.is_text or node.is_type or not node.children
        # A list stays as it is where a function, written out as a block, is among its items.
        if is_whole or (node.is_list and not has_block):
            del slots[first:]
            slots.append(_short(file.text(node)))
            kind = "list" if node.is_list else "text" if node.is_text else "type"
            kind = node.kind if not node.children else kind
            key = self._key(kind, node.field)
        else:
            key = self._key(node.kind, node.field, *(each.key for each in children))
        return _Part(key, first, len(slots), actions, statements, has_block)

    def _key(self, *parts: str | int) -> int:
        key = self._keys.get(parts)
        if key is None:
            key = self._keys[parts] = len(self._digests)
            said = (self._digests[each] if isinstance(each, int) else each for each in parts)
            self._digests.append(hashlib.blake2b(repr([*said]).encode(), digest_size=8).digest())
        return key

    def _note_block(self, block: Node, parts: dict[int, _Part], language: Language) -> None:
        """Note each child of the block, and each short run of them, that is worth a look."""
        inner = [each for each in block.children if each.is_named]
        found = [parts[id(each)] for each in inner]
        for each in block.children:
            del parts[id(each)]
        for start in range(len(inner)):
            for end in range(start + 1, min(start + LONGEST_RUN, len(inner)) + 1):
                if inner[end - 1].is_import:
                    break
                run, one, last = found[start:end], inner[start], inner[end - 1]
                if last.last_line - one.first_line >= MAX_LINES or last.end - one.start > MAX_BYTES:
                    break
                if _is_worth_it(inner[start:end], run):
                    key = self._key(language.value, *(each.key for each in run))
                    slots = run[0].first, run[-1].last
                    lines = one.first_line, last.last_line
                    self._spans[key].append(
                        (len(self._paths) - 1, *slots, one.start, last.end, *lines)
                    )


def _is_worth_it(nodes: Sequence[Node], run: Sequence[_Part]) -> bool:
    """Whether it is big enough, something happens in it, and it does not only declare."""
    lines = nodes[-1].last_line - nodes[0].first_line + 1
    is_enumeration = len(run) > 1 and len({each.key for each in run}) == 1
    # Several in a row are steps only where one of them decides, ends or guards something.
    does_something = any(each.statements for each in run) and (
        len(run) == 1 or any(each.is_action for each in nodes)
    )
    return (
        lines >= MIN_LINES
        and run[-1].last - run[0].first <= MAX_SLOTS
        and sum(each.actions for each in run) >= MIN_ACTIONS
        and does_something
        and not is_enumeration
    )


def _short(text: str) -> str:
    if len(text) <= _SLOT_CHARS:
        return text
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _apart(places: Iterator[Place]) -> list[Place]:
    """Of places that overlap, as runs of alike statements do, the first."""
    kept: list[Place] = []
    for each in sorted(places, key=lambda place: (place.path, place.start)):
        if not kept or not kept[-1].overlaps(each):
            kept.append(each)
    return kept
