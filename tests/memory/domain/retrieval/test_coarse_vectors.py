"""Coarse vectors propose nearly all that is near, and an id is found where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.domain.retrieval.coarse_vectors import CoarseVectors, bytes_of, width_of
from memory.domain.retrieval.sketch import PINNED, Sketch
from memory.domain.retrieval.word_places import WordPlaces


def coarse(vectors: NDArray[np.float32], *, at_once: int = 1_000) -> CoarseVectors:
    """The vectors, put in piece by piece."""
    made = CoarseVectors.room_for(len(vectors), sample=vectors[::7])
    for begin in range(0, len(vectors), at_once):
        made.put(begin, vectors[begin : begin + at_once])
    return made


def clustered(count: int, dimensions: int) -> NDArray[np.float32]:
    """Unit vectors about forty topics, away from zero, some dimensions far larger than others."""
    random = np.random.default_rng(7)
    topics = random.normal(size=(40, dimensions))
    near = topics[random.integers(40, size=count)] + random.normal(size=(count, dimensions))
    near = near * np.exp(random.normal(size=dimensions) / 2) + 0.1 * random.normal(size=dimensions)
    unit: NDArray[np.float32] = near / np.linalg.norm(near, axis=1, keepdims=True)
    return unit.astype(np.float32)


@pytest.mark.parametrize("dimensions", [40, 256, 1_000, 1_536])
def test_it_finds_nearly_all_that_is_near(dimensions: int) -> None:
    vectors = clustered(4_000, dimensions)
    made, half = coarse(vectors), np.arange(0, 4_000, 2, dtype=np.int32)
    hits = {10: 0, 100: 0}
    for vector in vectors[:20]:
        for among in (None, half):
            places = np.arange(4_000) if among is None else among
            nearest = places[np.argsort(-(vectors[places] @ vector))].tolist()
            near = made.nearest(vector, among=among, limit=120)
            found = set(near.places.tolist())
            assert len(found) == 120
            assert found <= set(places.tolist())
            assert np.abs(near.products - vectors[near.places] @ vector).max() < 0.3
            for most in hits:
                hits[most] += len(found & set(nearest[:most]))
    assert hits[10] >= 0.99 * 40 * 10
    assert hits[100] >= 0.9 * 40 * 100


def test_where_few_are_asked_for_all_are_near() -> None:
    vectors = np.random.default_rng(1).normal(size=(30, 64)).astype(np.float32)

    found = coarse(vectors).nearest(vectors[0], among=None, limit=50).places

    assert sorted(found.tolist()) == list(range(30))


@given(dimensions=st.integers(1, 200), at_once=st.integers(1, 60), seed=st.integers(0, 9))
def test_a_vector_of_any_size_is_near_itself(dimensions: int, at_once: int, seed: int) -> None:
    """Of one dimension many are the same; ties are all proposed before codes are looked at."""
    vectors = np.random.default_rng(seed).normal(size=(50, dimensions)).astype(np.float32)
    made = coarse(vectors, at_once=at_once)
    closest = int(np.argmax(vectors @ vectors[9]))

    assert made.codes.nbytes + made.signs.nbytes == 50 * bytes_of(dimensions)
    assert closest in made.nearest(vectors[9], among=None, limit=20).places


def test_equal_vectors_take_nothing_from_each_other() -> None:
    """As when one text was imported many times: nothing tells its dimensions apart."""
    vectors = np.tile(np.random.default_rng(1).normal(size=64).astype(np.float32), (30, 1))
    vectors[17] *= -1

    found = coarse(vectors).nearest(vectors[17], among=None, limit=1).places

    assert found.tolist() == [17]


def test_the_more_dimensions_the_fewer_bits_each_takes() -> None:
    assert [width_of(each) for each in (1, 256, 768, 769, 1_536, 4_000)] == [4, 4, 4, 2, 2, 1]
    assert [bytes_of(each) for each in (256, 768, 1_536)] == [160, 480, 576]


def sketch(count: int, *, weights: Sequence[int] = ()) -> Sketch:
    """So many memories, whose ids are the even numbers."""
    kinds = np.zeros(count, dtype=np.uint16)
    return Sketch(
        ids=np.array([UUID(int=2 * number).bytes for number in range(count)], dtype="S16"),
        vectors=CoarseVectors.room_for(count, sample=np.ones((1, 8), dtype=np.float32)),
        audiences=kinds,
        categories=kinds,
        weights=np.array(weights or [0] * count, dtype=np.uint8),
        words=WordPlaces.of([]),
    )


def test_it_knows_where_an_id_stands_and_that_one_is_missing() -> None:
    ids = np.array([UUID(int=number).bytes for number in (4, 3, 0, 99)], dtype="S16")

    assert sketch(3).places_of(ids).tolist() == [2, -1, 0, -1]
    assert sketch(0).places_of(ids).tolist() == [-1] * 4


def test_it_knows_what_is_pinned_and_what_is_important() -> None:
    """Pinned or not, the most important come first, of equal ones the latest."""
    made = sketch(6, weights=[9, PINNED + 7, 6, PINNED + 3, 9, 10])
    every = np.arange(6, dtype=np.int32)

    assert made.pinned(every, limit=5).tolist() == [1, 3]
    assert made.pinned(every, limit=1).tolist() == [1]
    assert made.most_important(every, least=7, limit=3).tolist() == [5, 4, 0]
    assert made.most_important(every[:4], least=7, limit=30).tolist() == [0, 1]
