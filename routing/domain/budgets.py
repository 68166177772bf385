"""Caps on what models may cost, their windows, what is left of them, and reservations.

Money is USD as Decimal with at most six places (`MICRO`). Seed 000 (CostGuard, AgentModelConfig)
names the caps: an end user's day and a team's month; an agent's own day and month come beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import ROUND_CEILING, Decimal
from enum import Enum
from typing import Literal
from uuid import UUID

MICRO = Decimal("0.000001")
# What the durable record can hold of one call.
MOST_USD = Decimal("999999.999999")

Advice = Literal["go", "downgrade"]


class CapKind(Enum):
    """Whose spend of which window a cap bounds."""

    USER_DAY = "user_day"
    TEAM_MONTH = "team_month"
    AGENT_DAY = "agent_day"
    AGENT_MONTH = "agent_month"

    @property
    def title(self) -> str:
        """In words, for people."""
        return _TITLES[self]

    @property
    def is_of_a_month(self) -> bool:
        """Whether its window is a month; else it is a day."""
        return self in {CapKind.TEAM_MONTH, CapKind.AGENT_MONTH}


_TITLES = {
    CapKind.USER_DAY: "End user's day",
    CapKind.TEAM_MONTH: "Team's month",
    CapKind.AGENT_DAY: "Agent's day",
    CapKind.AGENT_MONTH: "Agent's month",
}


@dataclass(frozen=True, slots=True)
class Account:
    """What a call's cost counts in: the spend of an end user, team or agent in one window.

    `begins_on` is the first date of the window in the team's time zone.
    """

    kind: CapKind
    owner_id: UUID
    begins_on: date


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit on an account; `resets_at` is the instant its next window begins."""

    account: Account
    limit_usd: Decimal
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class Balance:
    """What counts against an account: settled spend, and what is held for calls under way."""

    spent_usd: Decimal
    held_usd: Decimal


@dataclass(frozen=True, slots=True)
class Hold:
    """What a reservation holds, and until when."""

    reservation_id: UUID
    amount_usd: Decimal
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Budget:
    """All accounts that a call on `day` counts in: each with its limit, None for none.

    `resets_at` is when the next window of each begins.
    """

    day: date
    limits: Mapping[Account, Decimal | None]
    resets_at: Mapping[Account, datetime]

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The accounts, in one order everywhere."""
        return tuple(self.limits)


@dataclass(frozen=True, slots=True)
class CapLeft:
    """A cap and what counts against it."""

    cap: Cap
    balance: Balance

    @property
    def left_usd(self) -> Decimal:
        """What may still be reserved, never below 0."""
        return max(Decimal(0), self.cap.limit_usd - self._used_usd)

    @property
    def used_share(self) -> Decimal:
        """The share of the cap that is spent or held; a cap of 0 is used up."""
        return self._used_usd / self.cap.limit_usd if self.cap.limit_usd else Decimal(1)

    @property
    def _used_usd(self) -> Decimal:
        return self.balance.spent_usd + self.balance.held_usd


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """What is left under each cap that holds; `near_share` is where its end is called near."""

    caps: tuple[CapLeft, ...]
    near_share: Decimal

    def of(self, kind: CapKind) -> CapLeft | None:
        """The cap of that kind, None where none holds."""
        return next((each for each in self.caps if each.cap.account.kind is kind), None)

    def left_in(self, kind: CapKind) -> Decimal | None:
        """What the cap of that kind has left, None where none holds."""
        cap = self.of(kind)
        return None if cap is None else cap.left_usd

    @property
    def tightest(self) -> CapLeft:
        """The cap with the least left; of equal ones that which resets last."""
        return min(self.caps, key=lambda each: (each.left_usd, -each.cap.resets_at.timestamp()))

    @property
    def left_usd(self) -> Decimal:
        """What one call may cost at most: what the tightest cap has left."""
        return self.tightest.left_usd

    @property
    def advice(self) -> Advice:
        """`downgrade` where any cap is nearly used up: a cheaper tier makes the rest last."""
        is_near = any(each.used_share >= self.near_share for each in self.caps)
        return "downgrade" if is_near else "go"


def whole_micros(amount: Decimal) -> Decimal:
    """The amount rounded up to six places, so that no part of a cost is lost.

    Raises ValueError for what is negative, no number, or more than one call can cost.
    """
    if not amount.is_finite() or amount < 0 or amount > MOST_USD:
        raise ValueError(f"An amount is between 0 and {MOST_USD} USD, not {amount}.")
    return amount.quantize(MICRO, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Window:
    """A day or month of a zone: its first date, and the instant (UTC) at which the next begins."""

    begins_on: date
    resets_at: datetime


def day_window(*, now: datetime, zone: tzinfo) -> Window:
    """The day of `zone` that holds `now`, an aware time."""
    today = now.astimezone(zone).date()
    return Window(today, _midnight(today + timedelta(days=1), zone))


def month_window(*, now: datetime, zone: tzinfo) -> Window:
    """The month of `zone` that holds `now`, an aware time."""
    first = now.astimezone(zone).date().replace(day=1)
    return Window(first, _midnight((first + timedelta(days=31)).replace(day=1), zone))


def _midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins; one that the clocks skip counts from the time before it (PEP 495)."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def accounts_of(
    *, team_id: UUID, agent_id: UUID | None, end_user_id: UUID | None, day: date
) -> tuple[Account, ...]:
    """The accounts that a call of the agent, for the end user, counts in on that day."""
    month = day.replace(day=1)
    found = [Account(CapKind.TEAM_MONTH, team_id, month)]
    if end_user_id is not None:
        found.insert(0, Account(CapKind.USER_DAY, end_user_id, day))
    if agent_id is not None:
        found.append(Account(CapKind.AGENT_DAY, agent_id, day))
        found.append(Account(CapKind.AGENT_MONTH, agent_id, month))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who wants to hold money for which call, and how much of it.

    `day` is the team's day in which it is held; the call's cost counts in that day and its month.
    """

    team_id: UUID
    agent_id: UUID | None
    end_user_id: UUID | None
    day: date
    hold: Hold

    @property
    def accounts(self) -> tuple[Account, ...]:
        """All that its cost will count in."""
        return accounts_of(
            team_id=self.team_id,
            agent_id=self.agent_id,
            end_user_id=self.end_user_id,
            day=self.day,
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money held until it is settled, released or expired; `left` is the budget after it."""

    claimant: Claimant
    left: BudgetLeft

    @property
    def id(self) -> UUID:
        """What the hold is known by."""
        return self.claimant.hold.reservation_id

    @property
    def estimated_usd(self) -> Decimal:
        """What is held."""
        return self.claimant.hold.amount_usd


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call used, as the provider counted it."""

    model: str
    tier: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class TierEstimate:
    """What the call would cost at most on another tier."""

    tier: str
    estimated_usd: Decimal


def suggested_tier(*, left_usd: Decimal, alternatives: Sequence[TierEstimate]) -> str | None:
    """The dearest of the alternatives that what is left still pays for; None where none is."""
    payable = [each for each in alternatives if each.estimated_usd <= left_usd]
    best = max(payable, key=lambda each: each.estimated_usd, default=None)
    return None if best is None else best.tier
