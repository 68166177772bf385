"""A context is cut only where a user begins to speak, and keeps what was said last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.chat.placing import (
    Piece,
    after_position,
    first_that_stays,
    is_full,
    position_before,
    room_for_talk,
)

talks = st.lists(st.tuples(st.integers(1, 50), st.booleans()), min_size=1, max_size=20).map(
    lambda each: [
        Piece(tokens, is_start, position)
        for position, (tokens, is_start) in enumerate(each, start=1)
    ]
)


@given(talks, st.integers(0, 400))
def test_what_stays_fits_or_is_the_last_turn(talk: list[Piece], room: int) -> None:
    first = first_that_stays(talk, room=room)
    starts = [index for index, piece in enumerate(talk) if piece.is_start or not index]

    assert first in starts
    if first:
        assert sum(each.tokens for each in talk[first:]) <= room or first == starts[-1]
        assert position_before(talk, first) == first
    for earlier in starts:
        if earlier < first:
            assert sum(each.tokens for each in talk[earlier:]) > room


@given(talks, st.integers(0, 25))
def test_nothing_that_is_not_summed_up_is_left_out(talk: list[Piece], position: int) -> None:
    first = after_position(talk, position=position)

    assert first == 0 or talk[first].is_start
    left = talk[:first]
    is_last = not any(each.is_start for each in talk[first + 1 :])
    assert is_last or all((each.position or 0) <= position for each in left)


def test_a_context_is_full_before_its_window_is() -> None:
    assert not is_full(tokens=800, answer_tokens=100, window=1000)
    assert is_full(tokens=801, answer_tokens=100, window=1000)


def test_the_talk_gets_half_of_what_prompt_and_answer_leave() -> None:
    assert room_for_talk(window=1000, other_tokens=100, answer_tokens=100) == 350
    assert room_for_talk(window=1000, other_tokens=700, answer_tokens=100) == 50
    assert room_for_talk(window=1000, other_tokens=1200, answer_tokens=100) == 0


@given(st.integers(1_000, 200_000), st.integers(0, 5_000), st.integers(0, 5_000))
def test_what_stays_leaves_room_for_turns_that_follow(window: int, other: int, answer: int) -> None:
    room = room_for_talk(window=window, other_tokens=other, answer_tokens=answer)

    twice = other + 2 * room
    assert not room or not is_full(tokens=twice, answer_tokens=answer, window=window)
