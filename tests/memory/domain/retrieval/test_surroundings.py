"""Score that a memory gains from its neighbours in its conversation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.fusion import REACH, SHARES, find_surroundings

PLACES = st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 12)), min_size=1, max_size=30)


def strongest(places: list[tuple[int, int]], values: list[float]) -> list[float]:
    conversation, position = (np.array(column) for column in zip(*places, strict=True))
    around = find_surroundings(conversation=conversation, position=position)
    return [float(value) for value in around.strongest(np.array(values))]


def test_a_neighbour_lends_less_the_further_it_is() -> None:
    places = [(0, position) for position in range(5)]

    assert strongest(places, [1.0, 0, 0, 0, 0]) == [1.0, *SHARES[1:], 0.0]


def test_the_order_of_the_rows_does_not_matter() -> None:
    assert strongest([(0, 3), (0, 2)], [0.0, 1.0]) == [SHARES[1], 1.0]


def test_statements_of_one_message_share_least_of_all_neighbours_within_reach() -> None:
    assert strongest([(0, 7), (0, 7)], [1.0, 0.0]) == [1.0, SHARES[0]]


def test_other_conversations_and_none_lend_nothing() -> None:
    assert strongest([(0, 1), (1, 2)], [1.0, 0.0]) == [1.0, 0.0]
    assert strongest([(-1, 1), (-1, 2)], [1.0, 0.0]) == [1.0, 0.0]


def test_a_memory_keeps_what_is_its_own() -> None:
    assert strongest([(0, 1), (0, 2)], [0.95, 1.0]) == [0.95, 1.0]


def test_every_column_spreads_by_itself() -> None:
    around = find_surroundings(conversation=np.array([0, 0]), position=np.array([1, 2]))

    spread = around.strongest(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert spread.tolist() == [[1.0, SHARES[1]], [SHARES[1], 1.0]]


@given(PLACES, st.data())
def test_what_is_lent_is_never_more_than_what_is_there(
    places: list[tuple[int, int]], data: st.DataObject
) -> None:
    values = data.draw(
        st.lists(st.floats(0, 1), min_size=len(places), max_size=len(places)), label="values"
    )

    spread = strongest(places, values)
    for (conversation, position), own, got in zip(places, values, spread, strict=True):
        near = [
            value
            for (other, where), value in zip(places, values, strict=True)
            if other == conversation != -1 and abs(where - position) <= REACH
        ]
        assert own <= got <= max([own, *near])
