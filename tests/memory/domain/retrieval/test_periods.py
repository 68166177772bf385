"""Closeness of memories to the times that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.question import TOLD_DAYS, Period, closeness

MAY = Period(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC))
ANY_MAY = Period(datetime(2000, 5, 1, tzinfo=UTC), datetime(2000, 6, 1, tzinfo=UTC), yearly=True)


def near(period: Period, *days: str) -> list[float]:
    seconds = np.array(
        [datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() for day in days]
    )
    return [float(value) for value in closeness((period,), since=seconds, until=seconds)]


def test_within_is_one_and_further_away_is_less() -> None:
    within, week, month = near(MAY, "2023-05-09", "2023-06-08", "2023-07-08")

    assert within == 1.0
    assert 1 > week > month > 0


def test_what_lies_just_outside_is_clearly_further_than_what_lies_inside() -> None:
    last, next_day = near(MAY, "2023-05-31T23:00", "2023-06-01T01:00")

    assert last == 1.0
    assert next_day <= 0.6


def test_beside_a_longer_time_it_is_near_for_longer() -> None:
    day = Period(MAY.end - timedelta(days=1), MAY.end)

    assert near(MAY, "2023-06-11")[0] > 10 * near(day, "2023-06-11")[0]


def test_what_was_told_may_be_told_later_than_what_happened() -> None:
    day = Period(MAY.end - timedelta(days=1), MAY.end)
    moment = np.array([(MAY.end + timedelta(days=4)).timestamp()])

    told = closeness((day,), since=moment, until=moment, least_days=TOLD_DAYS)
    assert told > closeness((day,), since=moment, until=moment)


def test_looking_back_counts_more_than_looking_ahead() -> None:
    before, after = near(MAY, "2023-04-28", "2023-06-04")

    assert after > before


def test_a_span_that_meets_the_period_is_in_it() -> None:
    since = np.array([datetime(2023, 3, 1, tzinfo=UTC).timestamp()])
    until = np.array([datetime(2023, 9, 1, tzinfo=UTC).timestamp()])

    assert closeness((MAY,), since=since, until=until) == [1.0]


def test_a_month_of_any_year_is_near_in_every_year() -> None:
    assert near(ANY_MAY, "2021-05-09", "2025-05-30") == [1.0, 1.0]
    assert near(ANY_MAY, "2021-11-09")[0] < 0.01


def test_the_turn_of_the_year_is_no_border() -> None:
    december = Period(
        datetime(2000, 12, 1, tzinfo=UTC), datetime(2001, 1, 1, tzinfo=UTC), yearly=True
    )

    assert near(december, "2024-01-02")[0] > 0.5


def test_an_unknown_time_is_near_nothing() -> None:
    unknown = np.array([np.nan])

    assert closeness((MAY, ANY_MAY), since=unknown, until=unknown) == [0.0]


@given(st.integers(0, 400), st.integers(1, 400))
def test_further_away_is_never_nearer(days: int, more: int) -> None:
    one = MAY.end + timedelta(days=days)
    other = one + timedelta(days=more)

    nearer, further = near(MAY, one.isoformat(), other.isoformat())
    assert 1 >= nearer >= further >= 0
