"""The nearest of many by cosine, and the drafts of a write that stand already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import Memory

Near = list[tuple[UUID, float]]


@dataclass(slots=True)
class Added:
    """Drafts of one audience that are stored by now."""

    indexes: list[int] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    of_subject: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def append(self, index: int, memory: Memory) -> None:
        if memory.subject:
            self.of_subject[memory.subject].append(len(self.indexes))
        self.indexes.append(index)
        self.memories.append(memory)

    def remove(self, ids: set[UUID]) -> None:
        kept = [
            each for each in zip(self.indexes, self.memories, strict=True) if each[1].pk not in ids
        ]
        if len(kept) < len(self.memories):
            self.indexes, self.memories = [], []
            self.of_subject.clear()
            for index, memory in kept:
                self.append(index, memory)


class Nearest:
    """The `most` nearest of each of `count` drafts among what is shown to it, chunk by chunk.

    Of two that are equally near the one with the lesser id counts as nearer.
    """

    def __init__(self, *, count: int, most: int) -> None:
        self._most = most
        self._kept: list[list[tuple[float, bytes]]] = [[] for _ in range(count)]
        # What the last one kept of each has: nothing below it is worth a look.
        self._least = np.full(count, -np.inf, dtype=np.float32)

    def see(self, *, cosines: NDArray[np.float32], ids: Sequence[bytes]) -> None:
        """Look at some more: `cosines` has the shape (drafts, ids)."""
        if self._most < len(ids) and np.isneginf(self._least).any():
            # At first nearly all would be worth a look.
            at = len(ids) - self._most
            floor = np.maximum(self._least, np.partition(cosines, at, axis=1)[:, at])
        else:
            floor = self._least
        rows, columns = np.divmod(np.flatnonzero(cosines >= floor[:, None]), len(ids) or 1)
        values = cosines[rows, columns].tolist()
        for row, value, column in zip(rows.tolist(), values, columns.tolist(), strict=True):
            self._kept[row].append((-value, ids[column]))
        for row in set(rows.tolist()):
            kept = self._kept[row] = sorted(self._kept[row])[: self._most]
            if len(kept) == self._most:
                self._least[row] = -kept[-1][0]

    def of(self, place: int) -> Near:
        """The nearest of one draft, nearest first."""
        return [(UUID(bytes=pk), -negative) for negative, pk in self._kept[place]]


def best(near: dict[UUID, float], most: int) -> Near:
    """The `most` nearest, nearest first."""
    return sorted(near.items(), key=lambda each: (-each[1], each[0]))[:most]
