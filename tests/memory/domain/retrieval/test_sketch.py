"""A sketch proposes what exact search finds: all that hold the words, nearly all that are near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.domain.retrieval.sketch import Places, Sketch

VOCABULARY = ("cat", "dog", "eel", "fox", "gnu")
texts = st.lists(st.sets(st.sampled_from(VOCABULARY)), min_size=1, max_size=40)
terms = st.lists(st.lists(st.sampled_from((*VOCABULARY, "yak")), max_size=2), max_size=5)


def sketch_of(
    texts: Sequence[set[str]] = (), *, vectors: NDArray[np.float32] | None = None
) -> Sketch:
    """The sketch of texts that are sets of words, or of vectors alone."""
    words: dict[str, Places] = {}
    for word in VOCABULARY:
        places = [place for place, text in enumerate(texts) if word in text]
        if places:
            words[word] = np.array(places, dtype=np.int32)
    if vectors is None:
        vectors = np.ones((len(texts), 64), dtype=np.float32)
    signs = np.packbits(vectors > 0, axis=1)
    return Sketch(
        ids=np.array([UUID(int=2 * number).bytes for number in range(len(vectors))], dtype="S16"),
        bits=np.ascontiguousarray(signs.view(np.uint64).T),
        audiences=np.zeros(len(vectors), dtype=np.int32),
        words=words,
    )


def expected_counts(texts: Mapping[int, set[str]], terms: Sequence[Sequence[str]]) -> list[int]:
    return [sum(bool(term) and set(term) <= text for text in texts.values()) for term in terms]


@given(texts=texts, terms=terms, data=st.data())
def test_it_finds_what_holds_the_words_and_nothing_else(
    texts: list[set[str]], terms: list[list[str]], data: st.DataObject
) -> None:
    places = data.draw(st.none() | st.sets(st.integers(0, len(texts) - 1)))
    among = None if places is None else np.array(sorted(places), dtype=np.int32)
    seen = {place: text for place, text in enumerate(texts) if places is None or place in places}
    found = sketch_of(texts).with_words(terms, among=among, most=1_000, limit=len(texts))

    assert list(found.counts) == expected_counts(seen, terms)
    for place, text in enumerate(texts):
        bits = [bool(term) and set(term) <= text and place in seen for term in terms]
        assert [bool(found.held[place] >> number & 1) for number in range(len(terms))] == bits
    assert set(found.best.tolist()) == {place for place in seen if found.held[place]}
    assert all(0 < share <= 1 + 1e-9 for share in found.shares)
    assert list(found.shares) == sorted(found.shares, reverse=True)


@given(texts=texts, terms=terms, most=st.integers(1, 10))
def test_frequent_words_weigh_nothing_unless_all_are(
    texts: list[set[str]], terms: list[list[str]], most: int
) -> None:
    found = sketch_of(texts).with_words(terms, among=None, most=most, limit=len(texts))
    frequent = {number for number, seen in enumerate(found.counts) if seen >= most}
    rare = {number for number, seen in enumerate(found.counts) if 0 < seen < most}

    assert found.frequent == (frequent if rare else frozenset())
    if rare:
        assert not any(held & (1 << number) for held in found.held for number in frequent)


def test_of_equal_ones_the_earliest_come_first() -> None:
    found = sketch_of([{"cat"}, {"cat"}, {"cat", "dog"}]).with_words(
        [["cat"], ["dog"]], among=None, most=10, limit=2
    )

    assert found.best.tolist() == [2, 0]


def test_it_finds_nearly_all_that_is_near() -> None:
    random = np.random.default_rng(7)
    topics = random.normal(size=(40, 256))
    near = topics[random.integers(40, size=4_000)] + random.normal(size=(4_000, 256))
    vectors = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    sketch, half = sketch_of(vectors=vectors), np.arange(0, 4_000, 2, dtype=np.int32)
    for vector in vectors[:20]:
        for among in (None, half):
            places = np.arange(4_000) if among is None else among
            nearest = places[np.argsort(-(vectors[places] @ vector))[:50]]
            found = sketch.nearest(vector, among=among, limit=150)
            assert len(set(found.tolist())) == 150
            assert set(found.tolist()) <= set(places.tolist())
            assert len(set(found.tolist()) & set(nearest.tolist())) >= 45


def test_where_few_are_asked_for_all_are_near() -> None:
    vectors = np.random.default_rng(1).normal(size=(30, 64)).astype(np.float32)

    found = sketch_of(vectors=vectors).nearest(vectors[0], among=None, limit=50)

    assert sorted(found.tolist()) == list(range(30))


def test_a_vector_may_have_any_number_of_dimensions() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 40)).astype(np.float32)
    padded = np.concatenate([vectors, -np.ones((200, 24), dtype=np.float32)], axis=1)

    found = sketch_of(vectors=padded).nearest(vectors[9], among=None, limit=5)

    assert 9 in found


def test_it_knows_where_an_id_stands_and_that_one_is_missing() -> None:
    sketch = sketch_of([set(), {"cat"}, set()])
    ids = np.array([UUID(int=number).bytes for number in (4, 3, 0, 99)], dtype="S16")

    assert sketch.places_of(ids).tolist() == [2, -1, 0, -1]
    assert sketch_of([]).places_of(ids).tolist() == [-1] * 4
