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


@dataclass(frozen=True, slots=True)
class Sketch:
    """n memories in the order of their ids.

    `vectors` and `words` say what is in each, `audiences` which of the different audiences it has.
    """

    ids: Ids
    vectors: CoarseVectors
    audiences: Places
    words: WordPlaces

    def places_of(self, ids: Ids) -> Places:
        """Where those ids stand, -1 for those that do not."""
        if not len(self.ids):
            return np.full(len(ids), -1, dtype=np.int32)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, places, -1).astype(np.int32)
