"""Budgets of language-model calls: caps, their windows, what is left, and reservations.

Amounts are USD as Decimal with at most six places (`MICRO`). Seed 000 (CostGuard,
AgentModelConfig) names an end user's day and a team's month; an agent may have caps of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import ROUND_CEILING, Decimal
from enum import Enum
from typing import Literal, NamedTuple
from uuid import UUID

MICRO = Decimal("0.000001")
# The spend entry of a call can hold no more.
MOST_USD = Decimal("999999.999999")

Advice = Literal["go", "downgrade"]


class CapKind(Enum):
    """The kind of spender a cap limits, and its window."""

    USER_DAY = "user_day"
    TEAM_MONTH = "team_month"
    AGENT_DAY = "agent_day"
    AGENT_MONTH = "agent_month"

    @property
    def owner(self) -> str:
        """`end_user`, `team` or `agent`."""
        owner = self.value.partition("_")[0]
        return "end_user" if owner == "user" else owner

    @property
    def window(self) -> str:
        """`day` or `month`."""
        return self.value.partition("_")[2]

    @property
    def title(self) -> str:
        """The kind in words, such as "Team's month"."""
        owner = "Person" if self is CapKind.USER_DAY else self.owner.capitalize()
        return f"{owner}'s {self.window}"


@dataclass(frozen=True, slots=True)
class Account:
    """The spend of an end user, team or agent in the window that begins on that local date."""

    kind: CapKind
    owner_id: UUID
    begins_on: date


@dataclass(frozen=True, slots=True)
class Spender:
    """The owner of a call and its day in the team's time zone; without an agent, only the team."""

    team_id: UUID
    agent_id: UUID | None
    end_user_id: UUID | None
    day: date

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The accounts in which the cost of the call counts."""
        month = self.day.replace(day=1)
        found = [Account(CapKind.TEAM_MONTH, self.team_id, month)]
        if self.end_user_id is not None:
            found.insert(0, Account(CapKind.USER_DAY, self.end_user_id, self.day))
        if self.agent_id is not None:
            found.append(Account(CapKind.AGENT_DAY, self.agent_id, self.day))
            found.append(Account(CapKind.AGENT_MONTH, self.agent_id, month))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Balance:
    """Settled spend of an account, and what is held for calls in progress."""

    spent_usd: Decimal
    held_usd: Decimal


@dataclass(frozen=True, slots=True)
class Budget:
    """The limit of each account of a call, if any, and when the account's next window begins."""

    spender: Spender
    limits: Mapping[Account, Decimal | None]
    resets_at: Mapping[Account, datetime]


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit on an account, and its balance; the next window begins at `resets_at`."""

    account: Account
    limit_usd: Decimal
    resets_at: datetime
    balance: Balance

    @property
    def used_usd(self) -> Decimal:
        """Settled and held."""
        return self.balance.spent_usd + self.balance.held_usd

    @property
    def left_usd(self) -> Decimal:
        """The amount that may still be reserved, never below 0."""
        return max(Decimal(0), self.limit_usd - self.used_usd)


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """The amount left under each cap; from a share of `near_share` on, a cap is nearly used."""

    caps: tuple[Cap, ...]
    near_share: Decimal

    def of(self, kind: CapKind) -> Cap | None:
        """The cap of that kind, None if there is none."""
        return next((each for each in self.caps if each.account.kind is kind), None)

    def left_in(self, kind: CapKind) -> Decimal | None:
        """Returns the amount left under the cap of that kind, or None without such a cap."""
        cap = self.of(kind)
        return None if cap is None else cap.left_usd

    @property
    def tightest(self) -> Cap:
        """The cap with the least left; of equal ones the one that resets last."""
        return min(self.caps, key=lambda each: (each.left_usd, -each.resets_at.timestamp()))

    @property
    def left_usd(self) -> Decimal:
        """The most that one call may cost."""
        return self.tightest.left_usd

    @property
    def advice(self) -> Advice:
        """`downgrade` if any cap is nearly used up: a cheaper tier makes the rest last."""
        is_near = any(each.used_usd >= each.limit_usd * self.near_share for each in self.caps)
        return "downgrade" if is_near else "go"


def whole_micros(amount: Decimal) -> Decimal:
    """The amount rounded up to six places; ValueError unless it is between 0 and MOST_USD."""
    if not amount.is_finite() or amount < 0 or amount > MOST_USD:
        raise ValueError(f"An amount is between 0 and {MOST_USD} USD, not {amount}.")
    return amount.quantize(MICRO, rounding=ROUND_CEILING)


def cost_of(
    *, input_price: Decimal, output_price: Decimal, input_tokens: int, output_tokens: int
) -> Decimal:
    """USD of a call at prices per 1,000 tokens, rounded up to six places, at most MOST_USD."""
    paid = (input_price * input_tokens + output_price * output_tokens) / 1000
    return whole_micros(min(paid, MOST_USD))


class Window(NamedTuple):
    """A day or month of a time zone: its first date, and when (UTC) the next one begins."""

    begins_on: date
    resets_at: datetime


def day_window(*, now: datetime, zone: tzinfo) -> Window:
    """The day of `zone` that contains `now`, an aware time."""
    today = now.astimezone(zone).date()
    return Window(today, _midnight(today + timedelta(days=1), zone))


def month_window(*, now: datetime, zone: tzinfo) -> Window:
    """The month of `zone` that contains `now`, an aware time."""
    first = now.astimezone(zone).date().replace(day=1)
    return Window(first, _midnight((first + timedelta(days=31)).replace(day=1), zone))


def _midnight(day: date, zone: tzinfo) -> datetime:
    """The beginning of the day; if the clocks skip it, by the offset before (PEP 495)."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Hold:
    """Money held for one call of a spender until `expires_at`."""

    id: UUID
    spender: Spender
    amount_usd: Decimal
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money held until it is settled, released or expired, and the budget left after it."""

    hold: Hold
    left: BudgetLeft

    @property
    def estimated_usd(self) -> Decimal:
        """The amount held."""
        return self.hold.amount_usd


@dataclass(frozen=True, slots=True)
class Usage:
    """The model and tokens of a call, as counted by the provider."""

    model: str
    tier: str
    input_tokens: int
    output_tokens: int
