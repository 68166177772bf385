"""Laws of the choice of a tier, whatever the models, rules and budgets are."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from routing.domain.choices import (
    CALLS_TO_SPARE,
    Expected,
    ModelChoice,
    at_most,
    choose_way,
    expected_output,
    holding,
)
from routing.domain.complexity import Tier

ORDER = tuple(Tier)
PRICES = st.decimals(min_value=0, max_value=1, places=6)
SOME_TIER = st.none() | st.sampled_from(ORDER)


def model(tier: Tier, **fields: object) -> ModelChoice:
    """A model of the tier."""
    plain = ModelChoice(
        provider="local",
        name=tier.value,
        tier=tier,
        base_url="https://models.example/v1",
        input_price=Decimal("0.001"),
        output_price=Decimal("0.002"),
        context_window=100_000,
        max_output_tokens=1_000,
        timeout_seconds=10.0,
        circuit=tier.value,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


@st.composite
def ladders(draw: st.DrawFn) -> dict[Tier, list[ModelChoice]]:
    """One to three tiers with one or two models each, at any prices."""
    tiers = draw(st.sets(st.sampled_from(ORDER), min_size=1))
    return {
        tier: [
            model(tier, input_price=draw(PRICES), output_price=draw(PRICES))
            for _ in range(draw(st.integers(1, 2)))
        ]
        for tier in ORDER
        if tier in tiers
    }


EXPECTED = st.builds(
    Expected,
    input_tokens=st.integers(0, 50_000),
    output_tokens=st.integers(0, 4_000),
    output_limit=st.none() | st.integers(1, 2_000),
)
RULES = st.fixed_dictionaries(
    {"force_tier": SOME_TIER, "wished_tier": SOME_TIER, "max_tier": SOME_TIER}
)


@given(
    ladder=ladders(),
    score=st.floats(0, 10),
    rules=RULES,
    left_usd=st.decimals(min_value=0, max_value=100, places=6),
    is_nearly_gone=st.booleans(),
    expected=EXPECTED,
)
def test_a_choice_is_of_the_ladder_under_the_highest_tier_and_within_what_was_said(
    ladder: dict[Tier, list[ModelChoice]],
    score: float,
    rules: dict[str, Tier | None],
    left_usd: Decimal,
    is_nearly_gone: bool,
    expected: Expected,
) -> None:
    max_tier = rules["max_tier"]
    allowed = at_most(ladder, max_tier)
    if not allowed:
        return
    way = choose_way(
        ladder=allowed,
        score=score,
        expected=expected,
        left_usd=left_usd,
        is_nearly_gone=is_nearly_gone,
        **rules,
    )
    tiers = [ORDER.index(choice.tier) for choice in way.choices]
    start = ORDER.index(way.tier)

    assert way.choices[0].tier is way.tier
    assert len(set(map(id, way.choices))) == len(way.choices)
    assert max_tier is None or max(tiers) <= ORDER.index(max_tier)
    # Cheaper tiers come before dearer ones, each nearest first.
    assert tiers == sorted(tiers, key=lambda tier: (tier > start, abs(tier - start)))
    wished = rules["force_tier"] or rules["wished_tier"]
    if wished:
        assert max(tiers) == start
    else:
        for choice in way.choices:
            if ORDER.index(choice.tier) > start:
                assert expected.most(choice) * CALLS_TO_SPARE <= left_usd
    if not wished and is_nearly_gone:
        assert way.tier is next(iter(allowed))
    assert way.reason.endswith(".")


@given(ladder=ladders(), scores=st.tuples(st.floats(0, 10), st.floats(0, 10)), expected=EXPECTED)
def test_a_harder_query_never_gets_a_lower_tier(
    ladder: dict[Tier, list[ModelChoice]], scores: tuple[float, float], expected: Expected
) -> None:
    low, high = (
        choose_way(
            ladder=ladder,
            score=score,
            expected=expected,
            left_usd=Decimal(1_000_000),
            is_nearly_gone=False,
        )
        for score in sorted(scores)
    )

    assert ORDER.index(low.tier) <= ORDER.index(high.tier)


@given(ladder=ladders(), expected=EXPECTED, window=st.integers(1_024, 60_000))
def test_only_models_that_hold_the_call_are_left_unless_none_does(
    ladder: dict[Tier, list[ModelChoice]], expected: Expected, window: int
) -> None:
    first = next(iter(ladder))
    mixed = {**ladder, first: [replace(each, context_window=window) for each in ladder[first]]}

    left = holding(mixed, expected)

    kept = [choice for choices in left.values() for choice in choices]
    assert kept
    if any(expected.fits(choice) for choices in mixed.values() for choice in choices):
        assert all(map(expected.fits, kept))
    else:
        assert left == mixed


@given(
    tokens=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    prices=st.tuples(PRICES, PRICES),
)
def test_a_cost_is_never_below_what_is_paid_and_less_than_a_millionth_above(
    tokens: tuple[int, int], prices: tuple[Decimal, Decimal]
) -> None:
    choice = model(Tier.FAST, input_price=prices[0], output_price=prices[1])
    exact = (prices[0] * tokens[0] + prices[1] * tokens[1]) / 1000

    cost = choice.cost(input_tokens=tokens[0], output_tokens=tokens[1])

    assert 0 <= cost - exact < Decimal("0.000001")


@given(expected=EXPECTED)
def test_what_is_expected_is_at_most_what_can_be(expected: Expected) -> None:
    choice = model(Tier.POWERFUL)

    assert expected.cost(choice) <= expected.most(choice)


def test_a_longer_answer_is_expected_where_the_score_says_so() -> None:
    lengths = [expected_output(step / 2) for step in range(21)]

    assert lengths == sorted(lengths)
    assert lengths[0] == 60
    assert 3_000 < lengths[-1] < 4_000
    assert expected_output(99.0) == lengths[-1]
