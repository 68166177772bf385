"""Where a memory belongs by its use: the rules of tiers and of expiry, and what they never do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.tiers import (
    Standing,
    cold_because,
    expires_because,
    hot_because,
    ranked_tier,
    recent_accesses,
)
from memory.domain.types import MemoryType, Status, Tier

NOW = datetime(2026, 5, 2, 3, tzinfo=UTC)
PLAIN = Standing(
    memory_type="semantic",
    status="active",
    tier="warm",
    importance=2,
    is_pinned=False,
    created_at=NOW - timedelta(days=200),
)
MOMENTS = st.integers(-400, 30).map(lambda days: NOW + timedelta(days=days))
STANDINGS = st.builds(
    Standing,
    memory_type=st.sampled_from(MemoryType),
    status=st.sampled_from(Status),
    tier=st.sampled_from(Tier),
    importance=st.integers(1, 10),
    is_pinned=st.booleans(),
    created_at=MOMENTS,
    valid_to=st.none() | MOMENTS,
    last_accessed_at=st.none() | MOMENTS,
    accesses=st.integers(0, 30),
    recent=st.integers(0, 30),
)


def ranked(standing: Standing) -> Tier:
    return ranked_tier(standing, now=NOW)[0]


def cold(standing: Standing) -> str:
    return cold_because(standing, unused_days=90, now=NOW)


def expires(standing: Standing, *, below: int = 3) -> str:
    return expires_because(standing, below=below, days=60, now=NOW)


@pytest.mark.parametrize(
    ("changed", "tier"),
    [
        ({"recent": 11}, Tier.HOT),
        ({"recent": 10}, Tier.WARM),
        ({"importance": 9}, Tier.HOT),
        ({"importance": 8}, Tier.WARM),
        ({"is_pinned": True}, Tier.HOT),
        ({"tier": "hot", "recent": 10}, Tier.WARM),
        ({"tier": "hot", "recent": 11}, Tier.HOT),
        ({"tier": "cold", "recent": 1}, Tier.COLD),
        ({"tier": "cold", "recent": 2}, Tier.WARM),
        ({"tier": "cold", "importance": 8}, Tier.WARM),
        ({"tier": "cold", "recent": 30, "valid_to": NOW - timedelta(days=8)}, Tier.COLD),
        ({"tier": "cold", "recent": 30, "status": "superseded"}, Tier.COLD),
    ],
)
def test_use_importance_and_pins_decide_the_tier(changed: dict[str, object], tier: Tier) -> None:
    assert ranked(replace(PLAIN, **changed)) is tier  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "turns_cold"),
    [
        ({}, True),
        ({"accesses": 1}, True),
        ({"accesses": 2}, False),
        ({"importance": 3}, False),
        ({"created_at": NOW - timedelta(days=90)}, False),
        ({"status": "disputed"}, False),
        ({"importance": 5, "status": "superseded"}, True),
        ({"importance": 5, "valid_to": NOW - timedelta(days=8)}, True),
        ({"importance": 5, "valid_to": NOW - timedelta(days=6)}, False),
    ],
)
def test_what_is_superseded_outdated_or_unused_turns_cold(
    changed: dict[str, object], turns_cold: bool
) -> None:
    assert bool(cold(replace(PLAIN, **changed))) is turns_cold  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "goes"),
    [
        ({}, True),
        ({"last_accessed_at": NOW - timedelta(days=61)}, True),
        ({"last_accessed_at": NOW - timedelta(days=60)}, False),
        ({"created_at": NOW - timedelta(days=60)}, False),
        # An import may tell of a time after its last access.
        ({"created_at": NOW, "last_accessed_at": NOW - timedelta(days=61)}, False),
        ({"importance": 3}, False),
        ({"tier": "cold"}, True),
        ({"status": "disputed"}, False),
        ({"memory_type": "identity"}, False),
    ],
)
def test_what_nobody_asked_for_expires(changed: dict[str, object], goes: bool) -> None:
    assert bool(expires(replace(PLAIN, **changed))) is goes  # type: ignore[arg-type]


@given(standing=STANDINGS, below=st.integers(1, 8))
def test_what_is_pinned_important_or_an_identity_is_never_forgotten(
    standing: Standing, below: int
) -> None:
    kept = standing.is_pinned or standing.importance >= 8 or standing.memory_type == "identity"
    if kept:
        assert (cold(standing), expires(standing, below=below)) == ("", "")
        assert standing.status not in ("active", "disputed") or ranked(standing) is not Tier.COLD


@given(standing=STANDINGS)
def test_ranking_settles_at_once_and_never_makes_cold(standing: Standing) -> None:
    tier, why = ranked_tier(standing, now=NOW)

    assert bool(why) == (tier != standing.tier)
    assert ranked_tier(replace(standing, tier=tier), now=NOW) == (tier, "")
    assert tier is not Tier.COLD or standing.tier == Tier.COLD


@given(standing=STANDINGS)
def test_what_was_ranked_higher_does_not_turn_cold_again(standing: Standing) -> None:
    tier, why = ranked_tier(standing, now=NOW)
    # What was told lately was told in all its life.
    seen = replace(standing, accesses=max(standing.accesses, standing.recent), tier=tier)

    if why and standing.tier == Tier.COLD:
        assert cold(seen) == ""


@given(standing=STANDINGS, more=st.integers(0, 30))
def test_more_use_never_lowers_a_tier(standing: Standing, more: int) -> None:
    order = [Tier.COLD, Tier.WARM, Tier.HOT]
    used = replace(standing, recent=standing.recent + more, accesses=standing.accesses + more)

    assert order.index(ranked(used)) >= order.index(ranked(standing))
    assert cold(standing) or not cold(used)
    assert hot_because(used, now=NOW) or not hot_because(standing, now=NOW)


@given(standing=STANDINGS, later=st.integers(0, 100), below=st.integers(1, 8))
def test_time_alone_takes_no_expiry_back(standing: Standing, later: int, below: int) -> None:
    after = NOW + timedelta(days=later)
    if expires(standing, below=below):
        assert expires_because(standing, below=below, days=60, now=after)


def test_seven_days_count_and_the_eighth_does_not() -> None:
    daily = {"2026-04-25": 100, "2026-04-26": 4, "2026-05-02": 3}

    assert recent_accesses(daily, now=NOW) == 7
    assert recent_accesses({}, now=NOW) == 0
