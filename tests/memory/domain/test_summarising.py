"""A summary without a model: never over its room, never empty, continuing what was before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.summarising import SUMMARY_TOKENS, RulesSummariser, summarise
from memory.domain.tokens import estimate_tokens
from memory.domain.types import Point, Role, SourceMessage

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TEXTS = st.text(min_size=1, max_size=400)
POINTS = st.lists(st.builds(Point, text=TEXTS, importance=st.integers(1, 10)), max_size=30)
WORDS = st.sampled_from(["lives", "in", "Berlin", "3.50", "[1]", "Earlier", "nothing", "a"])
SENTENCES = st.lists(
    st.lists(WORDS, min_size=1, max_size=9).map(lambda words: f"Sarah {' '.join(words)}."),
    max_size=9,
)


def summed_up(*points: tuple[str, int], previous: str = "", days: int = 0) -> str:
    """A summary of these points."""
    return summarise(
        points=[Point(text, importance) for text, importance in points],
        previous=previous,
        since=NOON,
        until=NOON + days * DAY,
    )


@given(POINTS, st.text(max_size=2000), st.integers(0, 400))
def test_a_summary_is_never_over_its_room(points: list[Point], previous: str, days: int) -> None:
    text = summarise(points=points, previous=previous, since=NOON, until=NOON + days * DAY)

    assert estimate_tokens(text) <= SUMMARY_TOKENS
    assert text.startswith("[2026-05-01")


@given(POINTS, SENTENCES, st.integers(20, 120))
def test_a_smaller_room_is_kept_too(points: list[Point], previous: list[str], room: int) -> None:
    text = summarise(
        points=points, previous=" ".join(previous), since=NOON, until=NOON, max_tokens=room
    )

    assert estimate_tokens(text) <= room


@given(st.lists(SENTENCES, min_size=1, max_size=6))
def test_any_number_of_rounds_stays_one_summary(rounds: list[list[str]]) -> None:
    text = ""
    for number, sentences in enumerate(rounds):
        text = summarise(
            points=[Point(each, 5) for each in sentences],
            previous=text,
            since=NOON + number * DAY,
            until=NOON + number * DAY,
        )

    assert estimate_tokens(text) <= SUMMARY_TOKENS
    assert text.count("[2026") == 1
    assert text.count("Earlier: ") <= 1


@given(SENTENCES)
def test_the_same_input_gives_the_same_summary(sentences: list[str]) -> None:
    points = [(each, 5) for each in sentences]

    assert summed_up(*points) == summed_up(*points)


def test_points_stand_in_the_order_they_were_said() -> None:
    text = summed_up(("First thing.", 3), ("Second thing.", 9), ("Third thing.", 5))

    assert text == "[2026-05-01] First thing. Second thing. Third thing."


def test_what_matters_most_is_kept_when_room_is_short() -> None:
    small = [(f"Small thing number {number} was said at some length.", 4) for number in range(60)]
    points = [*small, ("Sarah is allergic to peanuts.", 10)]

    assert "Sarah is allergic to peanuts." in summed_up(*points)


def test_one_that_does_not_fit_leaves_room_to_shorter_ones() -> None:
    text = summed_up(("x" * 2000, 10), ("Short.", 1))

    assert text == "[2026-05-01] Short."


def test_the_period_is_named() -> None:
    assert summed_up(("A.", 5), days=3).startswith("[2026-05-01 to 2026-05-04] ")


def test_without_anything_worth_keeping_it_says_so() -> None:
    assert summed_up() == "[2026-05-01] Nothing worth keeping was said."


def test_what_was_before_is_continued() -> None:
    first = summed_up(("Sarah lives in Berlin.", 5), ("Sarah has a dog.", 5))

    second = summed_up(("Sarah plays the violin.", 5), previous=first, days=1)

    assert second == (
        "[2026-05-01 to 2026-05-02] Earlier: Sarah lives in Berlin. Sarah has a dog."
        " Sarah plays the violin."
    )


def test_what_was_before_survives_a_range_without_points() -> None:
    first = summed_up(("Sarah lives in Berlin.", 5))

    second = summed_up(previous=first)

    assert "Sarah lives in Berlin." in second


def test_nothing_worth_keeping_is_not_kept() -> None:
    first = summed_up()

    second = summed_up(("Sarah lives in Berlin.", 5), previous=first)

    assert second == "[2026-05-01] Sarah lives in Berlin."


def test_of_much_that_was_before_the_latest_stays_and_the_new_has_room() -> None:
    previous = " ".join(f"Earlier fact number {number} was noted here." for number in range(40))

    text = summed_up(("Sarah moved to Paris.", 1), previous=previous)

    assert "Sarah moved to Paris." in text
    assert "number 39 " in text
    assert "number 0 " not in text


@pytest.mark.parametrize(
    "sentence",
    [
        "Sarah pays 3.50 euros a day.",
        "Is Sarah in Berlin?",
        "Sarah wrote [see above] in the margin.",
        "Sarah uses a[0] in her code.",
        "Sarah reads Dr. Who and Mr. Bean.",
        "Sarah said: stop!",
    ],
)
def test_a_sentence_is_continued_to_the_letter(sentence: str) -> None:
    first = summed_up((sentence, 5), ("Sarah has a dog.", 5))

    second = summed_up(("New.", 5), previous=first)

    assert f"Earlier: {sentence} Sarah has a dog. New." in second


def test_the_rules_take_the_period_from_the_messages() -> None:
    messages = [SourceMessage(UUID(int=n), n, Role.USER, "Hi.", NOON + n * DAY) for n in (3, 1, 2)]

    text = RulesSummariser().summarise(points=[], messages=messages, previous="")

    assert text.startswith("[2026-05-02 to 2026-05-04]")
