"""Callers take turns, whatever each of them sends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from config.turns import PROBE, Turns


def test_callers_take_turns() -> None:
    turns: Turns[int] = Turns(places=10, of_one=10, most_waiting=10)
    for number in range(3):
        turns.join("greedy", number)
    turns.join("other", 9)

    assert [turns.next() for _ in range(5)] == [
        ("greedy", 0),
        ("other", 9),
        ("greedy", 1),
        ("greedy", 2),
        None,
    ]


def test_what_is_given_up_is_not_served() -> None:
    turns: Turns[int] = Turns(places=1, of_one=1, most_waiting=10)
    turns.join("kyra", 1)
    turns.join("kyra", 2)
    turns.give_up("kyra", 1)

    assert turns.waiting() == [("kyra", 2)]
    assert turns.next() == ("kyra", 2)


@given(
    steps=st.lists(st.sampled_from(["a", "b", "c", PROBE, "serve", "leave"]), max_size=60),
    places=st.integers(1, 5),
    of_one=st.integers(1, 3),
)
def test_nobody_has_more_places_than_allowed_and_none_stays_empty(
    steps: list[str], places: int, of_one: int
) -> None:
    turns: Turns[int] = Turns(places=places, of_one=of_one, most_waiting=4)
    served: list[str] = []
    waiting: list[str] = []
    for step in steps:
        if step == "serve":
            turn = turns.next()
            if turn is not None:
                served.append(str(turn[0]))
                waiting.remove(str(turn[0]))
            else:
                full = sum(each != PROBE for each in served) >= places
                assert PROBE not in waiting or PROBE in served
                assert all(
                    full or served.count(each) >= of_one for each in waiting if each != PROBE
                )
        elif step == "leave":
            if served:
                turns.leave(served.pop(0))
        elif turns.join(step, 0):
            waiting.append(step)
        else:
            assert waiting.count(step) == 4
        assert sum(each != PROBE for each in served) <= places
        assert served.count(PROBE) <= 1
        assert all(served.count(each) <= of_one for each in "abc")
