"""Money held for one call, what the call used of it, and what it would cost on other tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from .budgets import Advice, BudgetLeft


@dataclass(frozen=True, slots=True)
class TierEstimate:
    """What the call would cost at most on another tier."""

    tier: str
    estimated_usd: Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call used, as the provider counted it."""

    model: str
    tier: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money held for one call until it is settled, released, or `expires_at` has come.

    `day` is the team's day in which it was made; the call's cost counts in that day and its month.
    `left` is the budget after it.
    """

    id: UUID
    team_id: UUID
    agent_id: UUID
    end_user_id: UUID | None
    estimated_usd: Decimal
    day: date
    reserved_at: datetime
    expires_at: datetime
    left: BudgetLeft

    @property
    def advice(self) -> Advice:
        """`downgrade` where a cap is nearly used up, this call included."""
        return self.left.advice


@dataclass(frozen=True, slots=True)
class Settled:
    """What was counted; `is_counted` is False where the reservation had been counted before.

    With `is_kept` the database was away, and the cost waits in Redis to be counted.
    """

    reservation_id: UUID
    cost_usd: Decimal
    is_counted: bool
    is_kept: bool = False


def suggested_tier(*, left_usd: Decimal, alternatives: Sequence[TierEstimate]) -> str | None:
    """The dearest of the alternatives that what is left still pays for; None where none is."""
    payable = [each for each in alternatives if each.estimated_usd <= left_usd]
    best = max(payable, key=lambda each: each.estimated_usd, default=None)
    return None if best is None else best.tier
