"""A small picture of many memories, in which a question finds its likeliest ones.

What their vectors are about, and for each word where it stands: some two hundred bytes a memory. It
proposes; what it proposes is read and compared exactly afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import CoarseVectors, Places
from memory.domain.retrieval.word_places import WordPlaces

# Sixteen bytes each; they compare as the ids do.
Ids = NDArray[np.bytes_]
# Above any importance.
PINNED = 128


@dataclass(frozen=True, slots=True)
class Sketch:
    """n memories in the order of their ids, which is about that of their times.

    `vectors` and `words` say what is in each, `audiences` and `categories` which of the different
    ones it has, `weights` its importance, or PINNED and that.
    """

    ids: Ids
    vectors: CoarseVectors
    audiences: NDArray[np.uint16]
    categories: NDArray[np.uint16]
    weights: NDArray[np.uint8]
    words: WordPlaces

    def places_of(self, ids: Ids) -> Places:
        """Where those ids stand, -1 for those that do not."""
        if not len(self.ids):
            return np.full(len(ids), -1, dtype=np.int32)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, places, -1).astype(np.int32)

    def pinned(self, places: Places, *, limit: int) -> Places:
        """Those of the places that are pinned, so many at most."""
        return places[self.weights[places] >= PINNED][:limit]

    def most_important(self, places: Places, *, least: int, limit: int) -> Places:
        """The most important of the places, of equal ones the latest."""
        importance = self.weights[places] % PINNED
        likely = np.flatnonzero(importance >= least)
        order = np.lexsort((places[likely], importance[likely]))
        return places[likely[order[::-1][:limit]]]
