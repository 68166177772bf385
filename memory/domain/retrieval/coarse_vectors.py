"""Many vectors in little room, among which those closest to a question are found.

The signs of all dimensions are compared with the question's for every vector; of those that agree
most, a code of a few bits a dimension says nearly how close they are. It takes 160 bytes for a
vector of 256 dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]
Vectors = NDArray[np.float32]

# How many agree most in their signs, for each that is wanted, before codes are looked at.
_BY_SIGNS = 28
# A code has about so many bits for a vector of any size: what many dimensions tell inexactly adds
# up to as much as few that are told exactly.
_BITS = 3_072
# So many are compared at a time, which needs half a megabyte.
_AT_ONCE = 65_536
# Steps of a code reach so many standard deviations to each side: the least error for 16 steps of a
# normal distribution (Max, Quantizing for minimum distortion, 1960).
_REACH = {4: 2.7, 2: 1.5, 1: 0.8}


def width_of(dimensions: int) -> int:
    """The bits of a code for each dimension: 4, 2 or 1."""
    return max((width for width in _REACH if width * dimensions <= _BITS), default=1)


def bytes_of(dimensions: int) -> int:
    """What a vector of that size takes here."""
    return 8 * -(-dimensions // 64) + -(-dimensions * width_of(dimensions) // 8)


@dataclass(frozen=True, slots=True)
class Near:
    """What is closest to a vector: the places, and the inner product with each, nearly."""

    places: Places
    products: Vectors


@dataclass(frozen=True, slots=True)
class CoarseVectors:
    """n vectors of one size; one that is not there counts as zero.

    `signs` are n numbers for each 64 dimensions; `codes` have several dimensions a byte, of which
    each stands for `low` and so many times `step`.
    """

    signs: NDArray[np.uint64]
    codes: NDArray[np.uint8]
    low: Vectors
    step: Vectors

    @classmethod
    def room_for(cls, count: int, *, sample: Vectors) -> CoarseVectors:
        """Room for so many vectors of the sample's size, in which codes fit what is in it."""
        dimensions = sample.shape[1]
        width = width_of(dimensions)
        spread = sample.std(axis=0)
        spread = np.maximum(spread, max(1e-6, float(spread.mean()) / 100))
        low = sample.mean(axis=0) - _REACH[width] * spread
        return cls(
            signs=np.zeros((-(-dimensions // 64), count), dtype=np.uint64),
            codes=np.zeros((count, -(-dimensions * width // 8)), dtype=np.uint8),
            low=low.astype(np.float32),
            step=(2 * _REACH[width] * spread / 2**width).astype(np.float32),
        )

    def put(self, place: int, vectors: Vectors) -> None:
        """Have these at a place and those after it."""
        until = place + len(vectors)
        self.signs[:, place:until] = _signs(vectors, len(self.signs)).T
        width = width_of(len(self.low))
        steps = np.clip((vectors - self.low) / self.step, 0, 2**width - 1).astype(np.uint8)
        for shift in range(0, 8, width):
            part = steps[:, shift // width :: 8 // width]
            self.codes[place:until, : part.shape[1]] |= part << shift

    def nearest(self, vector: Vectors, *, among: Places | None, limit: int) -> Near:
        """About the `limit` closest to a vector, in no order; among all for None."""
        likely = _least(self._signs_apart(vector, among), _BY_SIGNS * limit)
        places = (likely if among is None else among[likely]).astype(np.int32)
        products = self._products(vector, places)
        if len(places) > limit:
            best = np.argpartition(-products, limit)[:limit]
            places, products = places[best], products[best]
        return Near(places, products)

    def _signs_apart(self, vector: Vectors, among: Places | None) -> NDArray[np.uint16]:
        """In how many dimensions each has another sign than the vector."""
        wanted = _signs(vector[None], len(self.signs))[0]
        apart = np.zeros(self.signs.shape[1] if among is None else len(among), dtype=np.uint16)
        for begin in range(0, len(apart), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            for signs, sign in zip(self.signs, wanted, strict=True):
                these = signs[some] if among is None else signs.take(among[some])
                apart[some] += np.bitwise_count(these ^ sign)
        return apart

    def _products(self, vector: Vectors, places: Places) -> Vectors:
        """The inner products with those at the places, nearly."""
        width = width_of(len(vector))
        weights = vector * self.step
        codes = self.codes.take(places, axis=0)
        # Of the middle of each step.
        base = np.float32((self.low + self.step / 2) @ vector)
        told = np.full(len(places), base, dtype=np.float32)
        for shift in range(0, 8, width):
            # One after another in memory, which is three times as quick.
            part = np.ascontiguousarray(weights[shift // width :: 8 // width])
            steps = (codes[:, : len(part)] >> shift) & (2**width - 1)
            # A product of this size would wake the threads of BLAS.
            told += np.einsum("ij,j->i", steps.astype(np.float32), part)
        return told


def _signs(vectors: Vectors, width: int) -> NDArray[np.uint64]:
    packed = np.zeros((len(vectors), 8 * width), dtype=np.uint8)
    signs = np.packbits(vectors > 0, axis=1)
    packed[:, : signs.shape[1]] = signs
    return packed.view(np.uint64)


def _least(values: NDArray[np.uint16], wanted: int) -> NDArray[np.intp]:
    """The places of at least the `wanted` least values, of equal ones all; they are small."""
    if len(values) <= wanted:
        return np.arange(len(values))
    below, enough = -1, int(values.max())
    while enough - below > 1:
        middle = (below + enough) // 2
        if np.count_nonzero(values <= middle) >= wanted:
            enough = middle
        else:
            below = middle
    return np.flatnonzero(values <= enough)
