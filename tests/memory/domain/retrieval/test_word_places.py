"""Words are found where they stand, the rare ones weigh, and nobody outside the given counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.word_places import WordPlaces, Words

VOCABULARY = ("cat", "dog", "eel", "fox", "gnü")
texts = st.lists(st.sets(st.sampled_from(VOCABULARY)), min_size=1, max_size=40)
terms = st.lists(st.lists(st.sampled_from((*VOCABULARY, "yak", "")), max_size=2), max_size=5)


def places_of(texts: Sequence[set[str]]) -> WordPlaces:
    """Where the words of texts stand that are sets of words."""
    standing = {
        word: [place for place, text in enumerate(texts) if word in text] for word in VOCABULARY
    }
    return WordPlaces.of(
        (word, np.array(places, dtype=">i4").tobytes())
        for word, places in sorted(standing.items())
        if places
    )


def find(
    texts: Sequence[set[str]],
    terms: Sequence[Sequence[str]],
    *,
    among: set[int] | None = None,
    most: int = 1_000,
    limit: int = 1_000,
) -> Words:
    is_among = None
    if among is not None:
        is_among = np.array([place in among for place in range(len(texts))])
    total = len(texts) if among is None else len(among)
    return places_of(texts).find(terms, is_among=is_among, total=total, most=most, limit=limit)


def expected_counts(texts: Mapping[int, set[str]], terms: Sequence[Sequence[str]]) -> list[int]:
    return [sum(bool(term) and set(term) <= text for text in texts.values()) for term in terms]


@given(texts=texts, terms=terms, data=st.data())
def test_it_finds_what_holds_the_words_and_nothing_else(
    texts: list[set[str]], terms: list[list[str]], data: st.DataObject
) -> None:
    among = data.draw(st.none() | st.sets(st.integers(0, len(texts) - 1)))
    seen = {place: text for place, text in enumerate(texts) if among is None or place in among}
    found = find(texts, terms, among=among)
    # The last is one that does not stand anywhere.
    held = found.held.at(np.array([*range(len(texts)), -1], dtype=np.int32)).tolist()

    assert list(found.counts) == expected_counts(seen, terms)
    for place, text in enumerate(texts):
        bits = [bool(term) and set(term) <= text and place in seen for term in terms]
        assert [bool(held[place] >> number & 1) for number in range(len(terms))] == bits
    assert held[-1] == 0
    assert set(found.best.tolist()) == {place for place in seen if held[place]}
    assert all(0 < share <= 1 + 1e-9 for share in found.shares)
    assert list(found.shares) == sorted(found.shares, reverse=True)


@given(texts=texts, terms=terms, most=st.integers(1, 10))
def test_frequent_words_weigh_nothing_unless_all_are(
    texts: list[set[str]], terms: list[list[str]], most: int
) -> None:
    found = find(texts, terms, most=most)
    frequent = {number for number, seen in enumerate(found.counts) if seen >= most}
    rare = {number for number, seen in enumerate(found.counts) if 0 < seen < most}

    assert found.frequent == (frequent if rare else frozenset())
    if rare:
        assert not any(held & (1 << number) for held in found.held.terms for number in frequent)


@given(texts=texts, terms=terms, limit=st.integers(1, 10))
def test_of_many_the_best_are_those_of_all(
    texts: list[set[str]], terms: list[list[str]], limit: int
) -> None:
    assert find(texts, terms, limit=limit).best.tolist() == find(texts, terms).best[:limit].tolist()


def test_of_equal_ones_the_earliest_come_first() -> None:
    found = find([{"cat"}, {"cat"}, {"cat", "dog"}], [["cat"], ["dog"]], most=10, limit=2)

    assert found.best.tolist() == [2, 0]
