"""Feedback moves importance a little and within its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.judgements import (
    HIGHEST,
    IGNORED_PER_STEP,
    LOWEST,
    Feedback,
    adjusted_importance,
)

IMPORTANCES = st.integers(1, HIGHEST)
SIGNALS = st.sampled_from(Feedback)
COUNTS = st.integers(0, 10_000)


@given(IMPORTANCES, SIGNALS, COUNTS)
def test_importance_stays_in_its_range_and_moves_by_one_at_most(
    importance: int, signal: Feedback, ignored: int
) -> None:
    after = adjusted_importance(importance=importance, signal=signal, ignored=ignored)

    assert 1 <= after <= HIGHEST
    assert abs(after - importance) <= 1


@given(IMPORTANCES, st.lists(st.tuples(SIGNALS, COUNTS), max_size=60))
def test_no_history_leaves_the_range(importance: int, history: list[tuple[Feedback, int]]) -> None:
    lowest = min(importance, LOWEST)
    for signal, ignored in history:
        importance = adjusted_importance(importance=importance, signal=signal, ignored=ignored)

        assert lowest <= importance <= HIGHEST


@given(IMPORTANCES, COUNTS)
def test_being_helpful_never_lowers_and_being_ignored_never_raises(
    importance: int, ignored: int
) -> None:
    helped = adjusted_importance(importance=importance, signal=Feedback.HELPFUL, ignored=ignored)
    skipped = adjusted_importance(importance=importance, signal=Feedback.IGNORED, ignored=ignored)

    assert skipped <= importance <= helped


@given(IMPORTANCES, IMPORTANCES, SIGNALS, COUNTS)
def test_the_order_of_two_memories_is_kept(
    one: int, other: int, signal: Feedback, ignored: int
) -> None:
    low, high = sorted((one, other))

    assert adjusted_importance(
        importance=low, signal=signal, ignored=ignored
    ) <= adjusted_importance(importance=high, signal=signal, ignored=ignored)


@given(IMPORTANCES, st.sampled_from([Feedback.CITED, Feedback.WRONG]), COUNTS)
def test_a_citation_and_an_objection_leave_importance_alone(
    importance: int, signal: Feedback, ignored: int
) -> None:
    after = adjusted_importance(importance=importance, signal=signal, ignored=ignored)

    assert after == importance


@pytest.mark.parametrize(
    ("importance", "times", "after"),
    [(5, 4, 5), (5, 5, 4), (5, 9, 4), (5, 10, 3), (5, 100, 3), (3, 50, 3), (2, 50, 2), (1, 50, 1)],
)
def test_every_fifth_time_it_is_ignored_costs_one_down_to_three(
    importance: int, times: int, after: int
) -> None:
    assert IGNORED_PER_STEP == 5
    for ignored in range(1, times + 1):
        importance = adjusted_importance(
            importance=importance, signal=Feedback.IGNORED, ignored=ignored
        )

    assert importance == after
