"""Where each word stands among many memories, in little room."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import Places


@dataclass(frozen=True, slots=True)
class Held:
    """Which memories, in ascending places, hold which of a question's terms: a bit for each."""

    places: Places
    terms: NDArray[np.int64]

    def at(self, places: Places) -> NDArray[np.int64]:
        """What those at the places hold; nothing for a place of -1."""
        if not len(self.places):
            return np.zeros(len(places), dtype=np.int64)
        found = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[found] == places, self.terms[found], 0)


@dataclass(frozen=True, slots=True)
class Words:
    """What a question's terms find: of each term how many hold it, and who holds most.

    `counts` has one number for each term; terms that too many hold are `frequent` and weigh
    nothing unless all are. `best` are places, best first, with the `shares` 0-1 of the question's
    rarity that they hold.
    """

    counts: tuple[int, ...]
    frequent: frozenset[int]
    best: Places
    shares: NDArray[np.float64]
    held: Held


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """The words in the order of their bytes, one after another, and the places of each.

    `ends` says where each word ends in `text`, `until` where its places end in `places`, which
    ascend. A dictionary would take three times the room of what it holds.
    """

    text: bytes
    ends: NDArray[np.int64]
    places: Places
    until: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[tuple[str, bytes]]) -> WordPlaces:
        """Of words in the order of their bytes, each with its places as 32 bits, high byte first.

        It takes them one by one and keeps nothing twice.
        """
        text, places = bytearray(), bytearray()
        ends, until = [], []
        for word, stands in words:
            text += word.encode()
            places += stands
            ends.append(len(text))
            until.append(len(places) // 4)
        return cls(
            text=bytes(text),
            ends=np.array(ends, dtype=np.int64),
            places=np.frombuffer(places, dtype=">i4").byteswap(inplace=True).view(np.int32),
            until=np.array(until, dtype=np.int64),
        )

    def of_word(self, word: str) -> Places:
        """The places of a word, in ascending order."""
        wanted = word.encode()
        number = bisect_left(range(len(self.ends)), wanted, key=self._word)
        if number == len(self.ends) or self._word(number) != wanted:
            return self.places[:0]
        return self.places[self.until[number - 1] if number else 0 : self.until[number]]

    def find(
        self,
        terms: Sequence[Sequence[str]],
        *,
        is_among: NDArray[np.bool_] | None,
        total: int,
        most: int,
        limit: int,
    ) -> Words:
        """Who holds the terms; each term is given as the words that it becomes.

        `is_among` says of each memory whether it counts, `total` how many do; from `most` memories
        on a term is frequent, `limit` is how many are `best`.
        """
        standing = [self._standing(words, is_among) for words in terms]
        counts = tuple(map(len, standing))
        rare = [number for number, seen in enumerate(counts) if 0 < seen < most]
        frequent = frozenset(number for number, seen in enumerate(counts) if seen >= most)
        if not rare:
            rare, frequent = sorted(frequent), frozenset()
        if not rare:
            nothing = np.empty(0, dtype=np.int32)
            held = Held(nothing, nothing.astype(np.int64))
            return Words(counts, frequent, nothing, np.empty(0), held)
        seen = np.array([counts[number] for number in rare])
        idf = np.log1p(np.maximum(total - seen + 0.5, 0.5) / (seen + 0.5))
        places = np.concatenate([standing[number] for number in rare])
        # Runs that ascend: merging them is quick.
        order = np.argsort(places, kind="stable")
        places = places[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        bits = np.left_shift(1, np.array(rare, dtype=np.int64))
        held = Held(places[starts], np.bitwise_or.reduceat(np.repeat(bits, seen)[order], starts))
        weights = np.add.reduceat(np.repeat(idf, seen)[order], starts)
        best = _greatest(weights, limit)
        return Words(counts, frequent, held.places[best], weights[best] / float(idf.sum()), held)

    def _standing(self, words: Sequence[str], is_among: NDArray[np.bool_] | None) -> Places:
        """The places of the memories that hold all the words."""
        if not words:
            return self.places[:0]
        # From the rarest on, so that little is compared with much.
        lists = sorted((self.of_word(word) for word in words), key=len)
        places = lists[0]
        for each in lists[1:]:
            places = np.intersect1d(places, each, assume_unique=True)
        return places if is_among is None else places[is_among[places]]

    def _word(self, number: int) -> bytes:
        return self.text[self.ends[number - 1] if number else 0 : self.ends[number]]


def _greatest(weights: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of the greatest weights, best first; of equal ones the first."""
    likely = np.arange(len(weights))
    if len(weights) > most:
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        likely = np.flatnonzero(weights >= least)
    return likely[np.lexsort((likely, -weights[likely]))[:most]]
