"""A small picture of many memories, in which a question finds its likeliest ones.

One bit for each dimension of a vector, and for each word where it stands: some hundred bytes a
memory. It proposes; what it proposes is read and compared exactly afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]
Bits = NDArray[np.uint64]
# Sixteen bytes each; they compare as the ids do.
Ids = NDArray[np.bytes_]

# How many come closest by the bits alone, for each that is wanted, before signs are weighed.
_BY_BITS = 7
# The bits of each byte.
_BITS_OF_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Words:
    """What a question's terms find: of each term how many hold it, and who holds most.

    `counts` has one number for each term; terms that too many hold are `frequent` and weigh
    nothing unless all are. `best` are places, best first, with the `shares` 0-1 of the question's
    rarity that they hold. `held` has for every memory a bit for each term.
    """

    counts: tuple[int, ...]
    frequent: frozenset[int]
    best: Places
    shares: NDArray[np.float64]
    held: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sketch:
    """n memories in the order of their ids.

    `bits` are the signs of their vectors, n numbers for each 64 dimensions, `audiences` says which
    different audiences each has, `words` where each word stands, in ascending places.
    """

    ids: Ids
    bits: Bits
    audiences: Places
    words: Mapping[str, Places]

    def nearest(self, vector: NDArray[np.float32], *, among: Places | None, limit: int) -> Places:
        """The places of about the `limit` closest to a vector, in no order; all for None.

        By the number of equal signs, then by what the signs of the best say about the vector.
        """
        wanted = _signs(vector, len(self.bits))
        bits = self.bits if among is None else self.bits[:, among]
        apart = np.zeros(bits.shape[1], dtype=np.uint16)
        for some, signs_of_some in zip(bits, wanted, strict=True):
            apart += np.bitwise_count(some ^ signs_of_some)
        likely = _smallest(apart, _BY_BITS * limit)
        signs = np.ascontiguousarray(bits[:, likely].T).view(np.uint8)
        weights = np.zeros(8 * signs.shape[1], dtype=np.float32)
        weights[: len(vector)] = vector
        # What each byte says, looked up: a product of this size would wake the threads of BLAS.
        told = _BITS_OF_BYTES @ weights.reshape(-1, 8).T
        agreement = told[signs, np.arange(signs.shape[1])].sum(axis=1)
        chosen = likely[_smallest(-agreement, limit)]
        return (chosen if among is None else among[chosen]).astype(np.int32)

    def with_words(
        self, terms: Sequence[Sequence[str]], *, among: Places | None, most: int, limit: int
    ) -> Words:
        """Where the terms' words stand; each term is given as the words that it becomes.

        `most` is from how many memories on a term is frequent, `limit` how many are `best`.
        """
        is_among = None
        if among is not None:
            is_among = np.zeros(len(self.ids), dtype=bool)
            is_among[among] = True
        standing = [self._standing(words, is_among) for words in terms]
        counts = tuple(map(len, standing))
        rare = [number for number, seen in enumerate(counts) if 0 < seen < most]
        frequent = frozenset(number for number, seen in enumerate(counts) if seen >= most)
        if not rare:
            rare, frequent = sorted(frequent), frozenset()
        total = len(self.ids) if among is None else len(among)
        weights = np.zeros(len(self.ids))
        held = np.zeros(len(self.ids), dtype=np.int64)
        whole = 0.0
        for number in rare:
            seen = counts[number]
            idf = np.log1p(max(total - seen + 0.5, 0.5) / (seen + 0.5))
            weights[standing[number]] += idf
            held[standing[number]] |= 1 << number
            whole += idf
        found = np.flatnonzero(weights)
        best = found[np.lexsort((found, -weights[found]))[:limit]]
        return Words(counts, frequent, best.astype(np.int32), weights[best] / (whole or 1.0), held)

    def places_of(self, ids: Ids) -> Places:
        """Where those ids stand, -1 for those that do not."""
        places = np.minimum(np.searchsorted(self.ids, ids), max(0, len(self.ids) - 1))
        if not len(self.ids):
            return np.full(len(ids), -1, dtype=np.int32)
        return np.where(self.ids[places] == ids, places, -1).astype(np.int32)

    def _standing(self, words: Sequence[str], is_among: NDArray[np.bool_] | None) -> Places:
        """The places of the memories that hold all the words."""
        lists = [self.words.get(word) for word in words]
        if not lists or any(each is None for each in lists):
            return np.empty(0, dtype=np.int32)
        places = lists[0]
        for each in lists[1:]:
            places = np.intersect1d(places, each, assume_unique=True)  # type: ignore[arg-type]
        assert places is not None
        return places if is_among is None else places[is_among[places]]


def _signs(vector: NDArray[np.float32], width: int) -> Bits:
    packed = np.zeros(8 * width, dtype=np.uint8)
    signs = np.packbits(vector > 0)
    packed[: len(signs)] = signs
    return packed.view(np.uint64)


def _smallest(values: NDArray[np.generic], most: int) -> NDArray[np.intp]:
    """The places of the `most` smallest values, in no order."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.argpartition(values, most)[:most]
