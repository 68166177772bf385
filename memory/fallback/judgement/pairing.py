"""Lays two statements side by side: which words say the same, and what is left over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .reading import SPEAKER, Reading

Features = dict[str, float]

# Above this cosine the word vectors of the embedded model mean the same thing.
NEAR: Final = 0.5


class Sameness(IntEnum):
    """How two words are known to say the same, the surest first."""

    EQUAL = 0
    SYNONYM = 1
    NEAR = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """An existing and a new statement as read, with the words of theirs that say the same.

    `old_to_new` and `new_to_old` map the places of aligned tokens, `how` an existing place to
    how it is known. `old_left` and `new_left` are the words that carry meaning and are in no
    alignment. `days` have passed between the two.
    """

    old: Reading
    new: Reading
    old_path: str
    new_path: str
    days: float
    old_to_new: dict[int, int]
    new_to_old: dict[int, int]
    how: dict[int, Sameness]
    old_left: tuple[int, ...]
    new_left: tuple[int, ...]
    cosines: NDArray[np.float32]


def lay_side_by_side(
    *, old: Reading, new: Reading, old_path: str, new_path: str, days: float
) -> Pair:
    """Align the two statements, each word with at most one, the surest likeness first."""
    cosines: NDArray[np.float32] = old.unit @ new.unit.T
    old_to_new: dict[int, int] = {}
    how: dict[int, Sameness] = {}
    taken: set[int] = set()
    found = _equal(old, new) + _synonyms(old, new) + _near(old, new, cosines)
    for sameness, _, i, j in sorted(found):
        if i not in old_to_new and j not in taken:
            old_to_new[i], how[i] = j, sameness
            taken.add(j)
    return Pair(
        old=old,
        new=new,
        old_path=old_path,
        new_path=new_path,
        days=days,
        old_to_new=old_to_new,
        new_to_old={j: i for i, j in old_to_new.items()},
        how=how,
        old_left=tuple(i for i in old.matter if i not in old_to_new),
        new_left=tuple(j for j in new.matter if j not in taken),
        cosines=cosines,
    )


_Found = list[tuple[Sameness, float, int, int]]


def _equal(old: Reading, new: Reading) -> _Found:
    by_stem: dict[str, list[int]] = {}
    for j in new.matter:
        by_stem.setdefault(new.stems[j], []).append(j)
    return [
        (Sameness.EQUAL, abs(i - j), i, j)
        for i in old.matter
        for j in by_stem.get(old.stems[i], ())
    ]


def _synonyms(old: Reading, new: Reading) -> _Found:
    rows: dict[int, set[int]] = {}
    for mark in new.marks.get("synonyms", ()):
        rows.setdefault(mark.row, set()).update(range(mark.start, mark.end))
    places = set(old.matter), set(new.matter)
    return [
        (Sameness.SYNONYM, abs(i - j), i, j)
        for mark in old.marks.get("synonyms", ())
        for i in range(mark.start, mark.end)
        if i in places[0]
        for j in rows.get(mark.row, ())
        if j in places[1]
    ]


def _near(old: Reading, new: Reading, cosines: NDArray[np.float32]) -> _Found:
    return [
        (Sameness.NEAR, -float(cosines[i, j]), int(i), int(j))
        for i, j in np.argwhere(cosines >= NEAR)
        if _may_be_near(old, int(i)) and _may_be_near(new, int(j))
    ]


def _may_be_near(reading: Reading, place: int) -> bool:
    is_matter = reading.content[place] and not reading.valued[place]
    return is_matter and not reading.names[place] and reading.stems[place] != SPEAKER


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The cosine of two vectors; 0 where one of them is zero."""
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size else 0.0
