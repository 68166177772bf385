"""Which places of one shape belong together: those that also share names.

A group is split as long as that saves more: the places after the first need not be read again for
what they share, so a cluster saves its shared bits times the places after the first. Bits are the
information of a value, by how often it stands in any slot; a part that varies costs some.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.satellites.workflows.patterns.shapes import Place

MIN_PLACES, MIN_FILES = 3, 2
MIN_BITS, MIN_SAVED = 10.0, 40.0
"""What a place tells, and what the places after the first save, at least: measured in record 45."""
MAX_PLACES_OF_SHAPE = 1000
_MOST_BITS = 10.0
_BITS_OF_A_PART = 3.0
_TRIED_SPLITS = 6
_MOST_SPLITS = 60
_HASH_CHARS = 3
_OPEN = "." * _HASH_CHARS
_SHAPE = re.compile(r"[0-9a-f]{16}:[0-9a-f.]*")


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
        """That of the normalised subtree."""
        return self.name.partition(":")[0]

    def fits(self, place: Place) -> bool:
        """Whether a place of the same subtree has what does not vary."""
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
        """What it tells, and in how many files that holds."""
        return self.bits * math.log2(1 + self.files)


class Information:
    """How much it tells, in bits of at most 10, that a value stands in a slot."""

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
    """Whether it is at least three times in at least two files."""
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
    """What shares one more value, with what it saves: the best of the likeliest few."""
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
