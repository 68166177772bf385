"""A summary without a model: never over its room, never empty, what matters most in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.rendering import estimate_tokens
from memory.domain.talk import (
    MAX_POINTS,
    SUMMARY_TOKENS,
    RulesSummariser,
    WrittenSummary,
    most_important,
    sentences_of,
    summarise,
)
from memory.domain.types import Asker, Point

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TEXTS = st.text(min_size=1, max_size=400)
POINTS = st.lists(
    st.builds(
        Point,
        text=TEXTS,
        importance=st.integers(1, 10),
        said_at=st.integers(0, 9).map(lambda days: NOON + days * DAY),
    ),
    max_size=30,
)


def said(*points: tuple[str, int]) -> list[Point]:
    """Points that were said one a day."""
    return [
        Point(text, importance, NOON + day * DAY) for day, (text, importance) in enumerate(points)
    ]


def summed_up(*points: tuple[str, int], days: int = 0) -> str:
    """A summary of these points."""
    return summarise(points=said(*points), since=NOON, until=NOON + days * DAY)


@given(POINTS, st.integers(0, 400))
def test_a_summary_is_never_over_its_room(points: list[Point], days: int) -> None:
    text = summarise(points=points, since=NOON, until=NOON + days * DAY)

    assert estimate_tokens(text) <= SUMMARY_TOKENS
    assert text.startswith("[2026-05-01")


@given(POINTS, st.integers(20, 120))
def test_a_smaller_room_is_kept_too(points: list[Point], room: int) -> None:
    text = summarise(points=points, since=NOON, until=NOON, max_tokens=room)

    assert estimate_tokens(text) <= room


@given(POINTS)
def test_the_same_input_gives_the_same_summary(points: list[Point]) -> None:
    once = summarise(points=points, since=NOON, until=NOON)

    assert summarise(points=points, since=NOON, until=NOON) == once


@given(POINTS, TEXTS)
def test_what_matters_more_than_all_else_is_never_the_one_left_out(
    points: list[Point], text: str
) -> None:
    vital = Point(text, 11, NOON)

    assert text in summarise(points=[*points, vital], since=NOON, until=NOON)


def test_points_stand_in_the_order_they_were_said() -> None:
    text = summed_up(("First thing.", 3), ("Second thing.", 9), ("Third thing.", 5))

    assert text == "[2026-05-01] First thing. Second thing. Third thing."


def test_what_matters_most_is_kept_when_room_is_short() -> None:
    small = [(f"Small thing number {number} was said at some length.", 4) for number in range(60)]

    assert "Sarah is allergic to peanuts." in summed_up(
        ("Sarah is allergic to peanuts.", 10), *small
    )


def test_of_what_matters_the_same_the_latest_is_kept() -> None:
    same = [(f"Thing number {number} was said at some length.", 5) for number in range(60)]

    text = summed_up(*same)

    assert "number 59 " in text
    assert "number 0 " not in text


def test_one_that_does_not_fit_leaves_room_to_shorter_ones() -> None:
    assert summed_up(("x" * 2000, 10), ("Short.", 1)) == "[2026-05-01] Short."


def test_the_period_is_named() -> None:
    assert summed_up(("A.", 5), days=3).startswith("[2026-05-01 to 2026-05-04] ")


def test_without_anything_worth_keeping_it_says_so() -> None:
    assert summed_up() == "[2026-05-01] Nothing worth keeping was said."


def test_the_rules_sum_up_by_importance() -> None:
    written = RulesSummariser().summarise(
        points=said(("A.", 5)), since=NOON, until=NOON + DAY, asker=Asker(uuid4())
    )

    assert written == WrittenSummary("[2026-05-01 to 2026-05-02] A.", "rules")


# -- what is kept for the next summary -------------------------------------------------------


@given(POINTS, st.integers(0, 40))
def test_kept_points_are_the_most_important_in_the_order_of_time(
    points: list[Point], limit: int
) -> None:
    kept = most_important(points=points, limit=limit)

    assert len(kept) == min(limit, len(points))
    assert [each.said_at for each in kept] == sorted(each.said_at for each in kept)
    dropped = list(points)
    for each in kept:
        dropped.remove(each)
    least = min(((each.importance, each.said_at) for each in kept), default=None)
    if least is not None:
        assert all((each.importance, each.said_at) <= least for each in dropped)


def test_a_bounded_number_of_points_is_kept() -> None:
    many = said(*[(f"Thing {number}.", 5) for number in range(3 * MAX_POINTS)])

    assert most_important(points=many) == many[-MAX_POINTS:]


# -- a summary that a person wrote -----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("[2026-05-01] Sarah has a dog. It is old.", ["Sarah has a dog.", "It is old."]),
        ("[2026-05-01 to 2026-05-04] Sarah has a dog.", ["Sarah has a dog."]),
        ("[2026-05-01] Nothing worth keeping was said.", []),
        ("Sarah pays 3.50 euros. [Really] so?", ["Sarah pays 3.50 euros.", "[Really] so?"]),
        ("No full stop", ["No full stop"]),
        (" \n ", []),
    ],
)
def test_a_summary_is_taken_apart_by_its_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


@given(st.lists(st.sampled_from(["Sarah is in Berlin.", "Is she?", "Yes!", "It is 3.50."])))
def test_no_word_of_it_is_lost(sentences: list[str]) -> None:
    text = summarise(
        points=said(*[(each, 5) for each in sentences]), since=NOON, until=NOON, max_tokens=10_000
    )

    assert sentences_of(text) == sentences
