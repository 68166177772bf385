"""Scores: bounded, monotone in every signal, and under the policies of the seed."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.domain.scoring import (
    LEAST_BEST,
    PINNED_FLOOR,
    PREFETCH_SHARE,
    USAGE_SHARE,
    Signals,
    SignalTable,
    Weights,
    final_scores,
    relative_to_best,
    usage_signal,
    weighted_means,
)
from memory.domain.scoring import importance_signal as importance_signals
from memory.domain.scoring import recency as recencies
from memory.domain.types import MemoryType, Status


def final_score(
    signals: Signals, *, weights: Weights, memory_type: str, is_pinned: bool, status: str
) -> float:
    """The score of one memory."""
    scores = final_scores(
        table_of(signals),
        weights=weights,
        is_identity=np.array([memory_type == MemoryType.IDENTITY]),
        is_pinned=np.array([is_pinned]),
        is_disputed=np.array([status == Status.DISPUTED]),
    )
    return float(scores[0])


def table_of(signals: Signals) -> SignalTable:
    columns = {item.name for item in fields(SignalTable)} - {"parts"}
    return SignalTable(**{name: np.array([getattr(signals, name)]) for name in columns})


def weighted_mean(signals: Signals, *, weights: Weights) -> float:
    return float(weighted_means(table_of(signals), weights=weights)[0])


def recency(hours: float) -> float:
    return float(recencies(np.array([hours]))[0])


def importance_signal(*, importance: int, is_pinned: bool) -> float:
    found = importance_signals(
        importance=np.array([float(importance)]), is_pinned=np.array([is_pinned])
    )
    return float(found[0])


UNIT = st.floats(0, 1)
ANY = st.floats(-5, 5)
NAMES = ("semantic", "recency", "importance", "continuity", "relation")
SIGNALS = st.builds(Signals, **dict.fromkeys(NAMES, UNIT))
WILD_SIGNALS = st.builds(Signals, **dict.fromkeys((*NAMES, "usage", "prefetched"), ANY))
COUNTS = st.integers(0, 10**9)
WEIGHTS = st.builds(Weights, **{name: st.floats(0, 10) for name in NAMES}).filter(
    lambda weights: sum(getattr(weights, name) for name in NAMES) > 0.001
)
TYPES = st.sampled_from([kind.value for kind in MemoryType])
STATUSES = st.sampled_from([status.value for status in Status])


@given(WILD_SIGNALS, WEIGHTS, TYPES, st.booleans(), STATUSES)
def test_a_score_is_between_0_and_1(
    signals: Signals, weights: Weights, kind: str, is_pinned: bool, status: str
) -> None:
    score = final_score(
        signals, weights=weights, memory_type=kind, is_pinned=is_pinned, status=status
    )

    assert 0.0 <= score <= 1.0


@given(SIGNALS, WEIGHTS, st.sampled_from(NAMES), UNIT, TYPES, st.booleans(), STATUSES)
def test_a_stronger_signal_never_lowers_a_score(
    signals: Signals,
    weights: Weights,
    name: str,
    value: float,
    kind: str,
    is_pinned: bool,
    status: str,
) -> None:
    stronger = replace(signals, **{name: max(value, getattr(signals, name))})
    rules = {"weights": weights, "memory_type": kind, "is_pinned": is_pinned, "status": status}

    assert final_score(stronger, **rules) >= final_score(signals, **rules) - 1e-12  # type: ignore[arg-type]


@given(SIGNALS, WEIGHTS)
def test_a_mean_lies_between_its_weakest_and_strongest_signal(
    signals: Signals, weights: Weights
) -> None:
    values = [getattr(signals, name) for name in NAMES]

    assert min(values) - 1e-9 <= weighted_mean(signals, weights=weights) <= max(values) + 1e-9


@given(SIGNALS, WEIGHTS, st.floats(0.1, 10))
def test_only_the_proportions_of_the_weights_count(
    signals: Signals, weights: Weights, factor: float
) -> None:
    scaled = Weights(**{name: getattr(weights, name) * factor for name in NAMES})

    assert weighted_mean(signals, weights=scaled) == pytest.approx(
        weighted_mean(signals, weights=weights)
    )


@given(SIGNALS, WEIGHTS, st.sampled_from(NAMES))
def test_a_signal_without_weight_does_not_count(
    signals: Signals, weights: Weights, name: str
) -> None:
    blind = replace(weights, **{name: 0.0})
    assume(sum(getattr(blind, each) for each in NAMES) > 0.001)

    ends: list[dict[str, Any]] = [{name: 0.0}, {name: 1.0}]

    low, high = (weighted_mean(replace(signals, **end), weights=blind) for end in ends)
    assert low == high


@given(SIGNALS, WEIGHTS, STATUSES, st.booleans())
def test_identity_scores_one(
    signals: Signals, weights: Weights, status: str, is_pinned: bool
) -> None:
    assert final_score(
        signals, weights=weights, memory_type="identity", is_pinned=is_pinned, status=status
    ) == pytest.approx(1.0)


@given(SIGNALS, WEIGHTS, STATUSES, TYPES)
def test_a_pinned_memory_scores_at_least_its_floor(
    signals: Signals, weights: Weights, status: str, kind: str
) -> None:
    assert (
        final_score(signals, weights=weights, memory_type=kind, is_pinned=True, status=status)
        >= PINNED_FLOOR
        == 0.95
    )


@given(SIGNALS, WEIGHTS)
def test_a_disputed_memory_counts_half(signals: Signals, weights: Weights) -> None:
    def score(status: str) -> float:
        return final_score(
            signals, weights=weights, memory_type="semantic", is_pinned=False, status=status
        )

    assert score("disputed") == pytest.approx(score("active") / 2)


@given(st.floats(0, 100_000), st.floats(0, 100_000))
def test_recency_falls_with_time(one: float, other: float) -> None:
    assert (recency(one) >= recency(other)) == (one <= other or recency(one) == recency(other))
    assert 0.0 <= recency(one) <= 1.0


def test_recency_is_one_now_and_a_half_after_69_hours() -> None:
    assert recency(0) == 1.0
    assert recency(69.3) == pytest.approx(0.5, abs=0.001)
    assert recency(-1000) == 1.0


@given(st.integers(1, 10), st.integers(1, 10))
def test_importance_grows_from_a_tenth_to_one(one: int, other: int) -> None:
    first, second = (importance_signal(importance=n, is_pinned=False) for n in (one, other))

    assert (first <= second) == (one <= other)
    assert 0.1 <= first <= 1.0
    assert importance_signal(importance=one, is_pinned=True) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_relative_relevance_keeps_the_order_and_gives_the_best_one(found: list[float]) -> None:
    relevance = np.array(found)

    relative = relative_to_best(relevance)

    assert ((relative >= 0) & (relative <= 1)).all()
    assert (np.diff(relative[np.argsort(relevance)]) >= 0).all()
    assert (relative.max() == 1) == (relevance.max() >= LEAST_BEST)


def usage(cited: int, ignored: int) -> float:
    """The signal of one memory."""
    return float(
        usage_signal(cited=np.array([float(cited)]), ignored=np.array([float(ignored)]))[0]
    )


@given(COUNTS, COUNTS)
def test_use_is_bounded_and_zero_where_nobody_said(cited: int, ignored: int) -> None:
    assert -1 < usage(cited, ignored) < 1 or max(cited, ignored) > 10**6
    assert -1 <= usage(cited, ignored) <= 1
    assert usage(0, 0) == 0


@given(COUNTS, COUNTS, st.integers(1, 1000))
def test_a_citation_raises_the_use_and_an_ignore_lowers_it(
    cited: int, ignored: int, more: int
) -> None:
    now = usage(cited, ignored)

    assert usage(cited + more, ignored) >= now >= usage(cited, ignored + more)
    if max(cited, ignored) < 10**5:
        assert usage(cited + more, ignored) > now > usage(cited, ignored + more)


def test_one_citation_outweighs_a_few_ignores_and_not_many() -> None:
    assert usage(1, 4) > 0 > usage(1, 6)
    assert abs(usage(0, 1)) < usage(1, 0) / 3


@given(SIGNALS, WEIGHTS, st.floats(-1, 1), UNIT)
def test_use_and_prefetching_move_a_score_by_no_more_than_their_shares(
    signals: Signals, weights: Weights, used: float, chance: float
) -> None:
    plain = weighted_mean(signals, weights=weights)
    by_use = weighted_mean(replace(signals, usage=used), weights=weights)
    by_chance = weighted_mean(replace(signals, prefetched=chance), weights=weights)

    assert abs(by_use - plain) <= abs(used) * USAGE_SHARE + 1e-12
    assert (by_use - plain) * used >= 0
    assert 0 <= by_chance - plain <= chance * PREFETCH_SHARE + 1e-12


@given(SIGNALS, WEIGHTS, st.sampled_from(("usage", "prefetched")), UNIT, UNIT)
def test_more_use_or_a_higher_chance_never_lowers_a_score(
    signals: Signals, weights: Weights, name: str, one: float, other: float
) -> None:
    ends: list[dict[str, Any]] = [{name: value} for value in sorted((one, other))]

    low, high = (weighted_mean(replace(signals, **end), weights=weights) for end in ends)

    assert low <= high
