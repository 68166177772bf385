"""Shapes of code that repeat: normalised subtrees, and which of their places belong together.

A subtree's key is made of its kind and the keys of its children, bottom up, each distinct one
once (hash-consing), so that the cost grows with the text and not with its square. What varies
between places of one shape are its slots: names, literals, types, and bracketed lists as a whole.

Places of one shape that also share names make a cluster. A group is split as long as that saves
more: the places after the first need not be read again for what they share, so a cluster saves its
shared bits times the places after the first. Bits are the information of a value, by how often it
stands in any slot; a part that varies costs some.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.satellites.workflows.parsing import Node, SourceFile, bottom_up
from memory.understanding.languages import Language

MIN_LINES, MAX_LINES, MAX_BYTES = 3, 60, 6000
MIN_ACTIONS = 3
MAX_SLOTS = 80
LONGEST_RUN = 5
"""Of how many statements in a row a shape may consist that is not one whole statement."""
_SLOT_CHARS = 80
_Span = tuple[int, int, int, int, int, int, int]  # file, first and last slot, bytes, lines
MIN_PLACES, MIN_FILES = 3, 2
MIN_BITS, MIN_SAVED = 10.0, 40.0
"""Least gain of a place, and least saving of the places after it, as measured in record 45."""
MAX_PLACES_OF_SHAPE = 1000
_MOST_BITS = 10.0
_BITS_OF_A_PART = 3.0
_TRIED_SPLITS = 6
_MOST_SPLITS = 60
_HASH_CHARS = 3
_OPEN = "." * _HASH_CHARS
_SHAPE = re.compile(r"[0-9a-f]{16}:[0-9a-f.]*")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a shape: bytes [start, end) and lines of a file, and what is in its slots."""

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
        """Returns whether both have some of one file's bytes."""
        return self.path == other.path and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class _Part:
    """The facts of a subtree: its key and its counts; its slots are [first, last)."""

    key: int
    first: int
    last: int
    actions: int
    statements: int
    has_block: bool


class ShapeIndex:
    """Every subtree and run of statements that could be a pattern, by its shape."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._slots: list[list[str]] = []
        self._keys: dict[tuple[str | int, ...], int] = {}
        self._digests: list[bytes] = []
        self._spans: dict[int, list[_Span]] = defaultdict(list)
        self.frequency: Counter[str] = Counter()
        """Counts of each value in a slot, over all files."""

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
    """Returns whether a run of nodes is big enough, does something, and does not only declare."""
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


@dataclass(frozen=True, slots=True)
class Shape:
    """A normalised subtree and what stands in those of its slots that do not vary.

    `name` tells it again: a digest of the subtree, and of each slot three figures or dots.
    """

    name: str

    @classmethod
    def of(cls, digest: str, places: Sequence[Place]) -> Shape:
        """The shape that the places share."""
        slots = zip(*(place.slots for place in places), strict=True)
        marks = (_mark(values[0]) if len(set(values)) == 1 else _OPEN for values in slots)
        return cls(f"{digest}:{''.join(marks)}")

    @classmethod
    def parse(cls, name: object) -> Shape | None:
        """The shape of that name; None for what is no name of one."""
        return cls(name) if isinstance(name, str) and _SHAPE.fullmatch(name) else None

    @property
    def digest(self) -> str:
        """The digest of the normalised subtree."""
        return self.name.partition(":")[0]

    def fits(self, place: Place) -> bool:
        """Returns whether a place of the same subtree has the values that do not vary."""
        marks = self.name.partition(":")[2]
        if len(marks) != len(place.slots) * _HASH_CHARS:
            return False
        at = range(0, len(marks), _HASH_CHARS)
        pairs = ((marks[i : i + _HASH_CHARS], place.slots[i // _HASH_CHARS]) for i in at)
        return all(mark == _OPEN or mark == _mark(value) for mark, value in pairs)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Places that share a shape and `bits` of information; `worth` ranks it."""

    digest: str
    places: tuple[Place, ...]
    bits: float

    @property
    def files(self) -> int:
        """In how many files it stands."""
        return len({place.path for place in self.places})

    @property
    def worth(self) -> float:
        """The information of the cluster, weighted by the number of its files."""
        return self.bits * math.log2(1 + self.files)


class Information:
    """The information, in bits of at most 10, of a value that stands in a slot."""

    def __init__(self, frequency: Mapping[str, int]) -> None:
        self._frequency = frequency
        self._total = max(1, sum(frequency.values()))

    def of(self, value: str) -> float:
        """The bits of one value; brackets and signs tell nothing."""
        if not any(sign.isalnum() for sign in value):
            return 0.0
        return min(_MOST_BITS, math.log2(self._total / max(1, self._frequency.get(value, 1))))

    def shared(self, places: Sequence[Place]) -> float:
        """The bits that all places share, each value counted once, less what varies."""
        constant: set[str] = set()
        varying: set[tuple[str, ...]] = set()
        for values in zip(*(place.slots for place in places), strict=True):
            if len(set(values)) == 1:
                constant.add(values[0])
            else:
                varying.add(values)
        return sum(map(self.of, constant)) - _BITS_OF_A_PART * len(varying)


def is_repeated(places: Sequence[Place]) -> bool:
    """Returns whether there are at least three places in at least two files."""
    return len(places) >= MIN_PLACES and len({place.path for place in places}) >= MIN_FILES


def clusters_of(digest: str, places: Sequence[Place], information: Information) -> list[Cluster]:
    """The clusters that tell enough, of at most 1,000 places, evenly chosen, of one shape."""
    found: list[Cluster] = []
    waiting = [list(places[:: 1 + len(places) // MAX_PLACES_OF_SHAPE])]
    for _ in range(_MOST_SPLITS):
        if not waiting:
            break
        group = waiting.pop()
        if not is_repeated(group):
            continue
        bits = information.shared(group)
        best = _best_split(group, information)
        is_enough = bits >= MIN_BITS and _saved(bits, group) >= MIN_SAVED
        if best is not None and (not is_enough or best[0] > _saved(bits, group)):
            chosen = set(best[1])
            waiting += [best[1], [each for each in group if each not in chosen]]
        elif is_enough:
            found.append(Cluster(digest, tuple(group), bits))
    return found


def _best_split(
    group: Sequence[Place], information: Information
) -> tuple[float, list[Place]] | None:
    """Returns the best group that shares one more value, with its saving, of the likeliest few."""
    counted = Counter(
        (slot, value) for place in group for slot, value in enumerate(place.slots) if value
    )
    likely = sorted(
        (
            (count * information.of(value), slot, value)
            for (slot, value), count in counted.items()
            if MIN_PLACES <= count < len(group)
        ),
        reverse=True,
    )[:_TRIED_SPLITS]
    best: tuple[float, list[Place]] | None = None
    for _, slot, value in likely:
        chosen = [place for place in group if place.slots[slot] == value]
        saved = _saved(information.shared(chosen), chosen)
        if is_repeated(chosen) and (best is None or saved > best[0]):
            best = saved, chosen
    return best


def _saved(bits: float, places: Sequence[Place]) -> float:
    return bits * (len(places) - 1)


def _mark(value: str) -> str:
    return hashlib.blake2b(value.encode(), digest_size=8).hexdigest()[:_HASH_CHARS]


def largest(clusters: Sequence[Cluster], *, told: Sequence[Place] = ()) -> list[Cluster]:
    """The clusters, best first, without those inside a better one with the same places.

    Of two that overlap elsewhere the better one keeps the places; the other needs enough besides.
    Places in what is `told` already belong to that.
    """
    kept: list[Cluster] = []
    taken = {line for place in told for line in place.lines}
    for each in sorted(clusters, key=lambda one: (-one.worth, one.digest)):
        free = [place for place in each.places if taken.isdisjoint(place.lines)]
        if is_repeated(free):
            kept.append(each)
            taken.update(line for place in free for line in place.lines)
    return kept
