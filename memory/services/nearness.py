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


def keep_best(
    kept: list[Near],
    rows: Sequence[int],
    cosines: NDArray[np.float32],
    ids: Sequence[UUID],
    most: int,
) -> None:
    """Merge the best columns of each row of `cosines`, shape (rows, ids), into what is kept."""
    count = min(most, len(ids))
    if count < len(ids):
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    else:
        best = np.tile(np.arange(len(ids)), (len(rows), 1))
    for place, row in enumerate(rows):
        merged = kept[row] + [
            (ids[column], float(cosines[place, column])) for column in best[place]
        ]
        kept[row] = sorted(merged, key=lambda each: (-each[1], each[0]))[:most]


def best(near: dict[UUID, float], most: int) -> Near:
    """The `most` nearest, nearest first."""
    return sorted(near.items(), key=lambda each: (-each[1], each[0]))[:most]
