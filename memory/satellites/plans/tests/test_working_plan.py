"""The plan of work in progress: tiers by their shares, room handed on, pinned memories always."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.plan import Entry
from memory.domain.rendering import ESTIMATE, Line
from memory.domain.types import MemoryType
from memory.satellites.plans.placing import (
    DEFAULT_SHARES,
    Activity,
    ContextTier,
    Shares,
    shares_of,
    working_plan,
)
from tests.support.writing import NOON

CRITICAL, RELEVANT, BACKGROUND = list(ContextTier)[:3]
LINE = Line("", MemoryType.SEMANTIC, 5, 1.0, NOON, "active")


def entries(tier: str, count: int, first: int = 0) -> list[Entry]:
    """Returns so many memories that rules chose for a tier, each of about thirty tokens."""
    return [
        Entry(
            UUID(int=first + each),
            replace(LINE, content=f"The matter number {first + each} " + "is told at length " * 4),
            0.5,
            tier,
        )
        for each in range(count)
    ]


def told(*given: Entry, budget: int = 2_000, shares: Shares = DEFAULT_SHARES) -> Assembly:
    """The three tiers of these."""
    return assemble(
        plan=working_plan(shares=shares, token_budget=budget),
        entries=given,
        token_budget=int(budget * (1 - shares[3])),
        counter=ESTIMATE,
    )


@pytest.mark.parametrize("activity", [None, *Activity])
def test_shares_are_of_one_whole(activity: Activity | None) -> None:
    assert sum(shares_of(activity)) == pytest.approx(1)


def test_full_tiers_have_the_shares_of_the_activity() -> None:
    full = [
        *entries(CRITICAL, 200),
        *entries(RELEVANT, 200, 1_000),
        *entries(BACKGROUND, 200, 2_000),
    ]

    usual, deploying = (
        told(*full, shares=shares_of(each)).tokens for each in (None, Activity.DEPLOY)
    )

    assert deploying[RELEVANT] > usual[RELEVANT]
    assert deploying[CRITICAL] < usual[CRITICAL]


def test_full_tiers_have_their_shares() -> None:
    found = told(
        *entries(CRITICAL, 200), *entries(RELEVANT, 200, 1_000), *entries(BACKGROUND, 200, 2_000)
    )

    assert found.tokens_used <= 1_750
    # The headings and the frame are paid out of the last one's share.
    assert found.tokens[CRITICAL] == pytest.approx(500, abs=100)
    assert found.tokens[RELEVANT] == pytest.approx(750, abs=60)
    assert found.tokens[BACKGROUND] == pytest.approx(500, abs=130)


def test_room_that_a_tier_leaves_goes_to_the_next() -> None:
    found = told(
        *entries(CRITICAL, 2), *entries(RELEVANT, 200, 1_000), *entries(BACKGROUND, 200, 2_000)
    )

    assert found.tokens[RELEVANT] > 1_000
    assert found.tokens[BACKGROUND] > 300


def test_debugging_gives_more_to_what_is_critical() -> None:
    many = [
        *entries(CRITICAL, 200),
        *entries(RELEVANT, 200, 1_000),
        *entries(BACKGROUND, 200, 2_000),
    ]

    usual, debugging = told(*many), told(*many, shares=shares_of(Activity.DEBUGGING))

    assert debugging.tokens[CRITICAL] > usual.tokens[CRITICAL] + 150


def test_what_is_pinned_is_told_above_any_budget_and_says_so() -> None:
    pinned = [
        each._replace(line=replace(each.line, is_pinned=True)) for each in entries(CRITICAL, 20)
    ]

    found = told(*pinned, *entries(RELEVANT, 20, 1_000), budget=200)

    assert len(found.told) == 20
    assert found.warnings


def test_every_memory_stands_below_the_heading_of_its_tier() -> None:
    prompt = told(*entries(BACKGROUND, 1), *entries(CRITICAL, 1, 10)).prompt

    critical, background = prompt.index("## Critical"), prompt.index("## Background")
    assert critical < prompt.index("number 10 ") < background < prompt.index("number 0 ")
    assert "## Relevant" not in prompt
