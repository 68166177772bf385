"""The cost guard: money is held before a model is called, and counted after (seed 000, CostGuard).

Three steps: `reserve`, then `settle` or `release`. The counters in Redis decide in one atomic step
over all caps. They are never the only copy of anything: what is about to be held is written down
first, so that a Redis that forgets it forgets nobody's call under way; what was spent is written
down and summed by the database, and the counters are told the sum, which only grows, so that no
order, repetition or crash can count a call twice or lose it. Counters that are gone, or that cannot
be relied on (`spend_scripts`), are made anew from the record by one process while the others wait.
With Redis away the record decides, for one caller of the team at a time.

What ends without a word holds its money for BUDGET_RESERVATION_SECONDS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from django.conf import settings

from routing.clients.spend_counters import (
    AwayError,
    Decision,
    SpendCounters,
    StaleError,
    spend_counters,
)
from routing.domain.budgets import (
    Budget,
    BudgetLeft,
    CapLeft,
    Claimant,
    Hold,
    Reservation,
    TierEstimate,
    suggested_tier,
    whole_micros,
)
from routing.services import budget_notices, spend_record
from routing.services.budgets import budget_left, budget_of, left_of, seen_by_counters
from routing.services.settling import count_along, drop, release, settle
from teams.errors import DomainError
from teams.ids import new_id
from teams.models import Agent, EndUser, Team
from teams.tenancy import team_scope

__all__ = [
    "BudgetExceededError",
    "budget_left",
    "count_along",
    "release",
    "reserve",
    "settle",
]

# Each attempt but the first follows a rebuild that something undid in between.
_ATTEMPTS = 5


class BudgetExceededError(DomainError):
    """The call may cost more than a cap has left; nothing is held (402).

    `tightest` is the cap with the least left, `suggested_tier` a tier that still fits, if any.
    """

    def __init__(
        self, *, tightest: CapLeft, estimated_usd: Decimal, suggested_tier: str | None
    ) -> None:
        self.tightest = tightest
        self.estimated_usd = estimated_usd
        self.suggested_tier = suggested_tier
        cap = tightest.cap
        if suggested_tier:
            advice = f" The tier '{suggested_tier}' still fits."
        else:
            shorter = " limit the answer (max_tokens)," if tightest.left_usd else ""
            advice = f" Wait until it begins anew,{shorter} or let a team admin raise the budget."
        super().__init__(
            f"The call may cost {_plain(estimated_usd)} USD, and the"
            f" {cap.account.kind.title.lower()} has {_plain(tightest.left_usd)} of"
            f" {_plain(cap.limit_usd)} USD left until {cap.resets_at.isoformat()}.{advice}"
        )


def reserve(
    *,
    team: Team,
    agent: Agent | None,
    end_user: EndUser | None,
    estimated_usd: Decimal,
    now: datetime,
    alternatives: Sequence[TierEstimate] = (),
    seen: BudgetLeft | None = None,
    along: Callable[[], None] | None = None,
    counters: SpendCounters | None = None,
) -> Reservation:
    """Hold `estimated_usd` under every cap at once, or raise BudgetExceededError and hold nothing.

    Give as the estimate the most the call can cost, its output limit at the model's price: what
    calls under way cost beyond their estimates is all that can go beyond a cap. `alternatives` are
    what other tiers would cost, for the suggestion. What costs nothing is always let through.
    `seen` is what was left a moment ago: where that was enough, it is not looked at before it is
    held. `along` is written in the transaction in which the hold is, whether it is granted then or
    not; not where a look refuses it. Call it outside any transaction, for others must see at once
    what is held. Raises ValueError for an estimate that is no amount.
    """
    counters = counters or spend_counters()
    budget = budget_of(team=team, agent=agent, end_user=end_user, now=now)
    expires_at = now + timedelta(seconds=settings.BUDGET_RESERVATION_SECONDS)
    claimant = Claimant(
        team_id=team.pk,
        agent_id=None if agent is None else agent.pk,
        end_user_id=None if end_user is None else end_user.pk,
        day=budget.day,
        hold=Hold(new_id(), whole_micros(estimated_usd), expires_at),
    )
    left = None
    if seen is None or claimant.hold.amount_usd > seen.left_usd:
        left = _used_up(claimant=claimant, budget=budget, now=now, counters=counters)
    if left is None:
        epoch = spend_record.note_hold(claimant=claimant, now=now, along=along)
        decision = _decide(
            claimant=claimant, budget=budget, epoch=epoch, now=now, counters=counters
        )
        left = left_of(budget=budget, balances=decision.balances)
        if decision.is_held:
            return Reservation(claimant, left)
    budget_notices.announce_refusal(team_id=team.pk, tightest=left.tightest)
    raise BudgetExceededError(
        tightest=left.tightest,
        estimated_usd=claimant.hold.amount_usd,
        suggested_tier=suggested_tier(left_usd=left.left_usd, alternatives=alternatives),
    )


def _used_up(
    *, claimant: Claimant, budget: Budget, now: datetime, counters: SpendCounters
) -> BudgetLeft | None:
    """What is left where it is too little for certain: who goes on asking costs no writing."""
    seen = seen_by_counters(claimant.team_id, budget, now, counters)
    if seen is None:
        return None
    left = left_of(budget=budget, balances=seen.balances)
    if claimant.hold.amount_usd <= left.left_usd:
        return None
    with team_scope(team_ids=[claimant.team_id], actor=spend_record.ACTOR):
        is_current = spend_record.epoch_of(team_id=claimant.team_id) <= seen.epoch
    return left if is_current else None


def _decide(
    *, claimant: Claimant, budget: Budget, epoch: int, now: datetime, counters: SpendCounters
) -> Decision:
    try:
        for _ in range(_ATTEMPTS):
            try:
                decision = counters.reserve(
                    team_id=claimant.team_id,
                    hold=claimant.hold,
                    limits=budget.limits,
                    epoch=epoch,
                    now=now,
                )
                if not decision.is_held:
                    drop(claimant=claimant, counters=counters)
                return decision
            except StaleError:
                _rebuild(team_id=claimant.team_id, budget=budget, now=now, counters=counters)
    except AwayError:
        pass
    is_held, balances = spend_record.decide(claimant=claimant, limits=budget.limits, now=now)
    return Decision(is_held=is_held, balances=balances)


def _rebuild(*, team_id: UUID, budget: Budget, now: datetime, counters: SpendCounters) -> None:
    """Make what is stale of the counters anew; who had to wait finds it done."""
    token = str(uuid4())
    with spend_record.turn_alone(team_id):
        epoch = spend_record.epoch_of(team_id=team_id)
        stale = counters.claim(
            team_id=team_id, accounts=budget.accounts, epoch=epoch, token=token, now=now
        )
        if not stale:
            return
        spend_record.drop_expired(team_id=team_id, now=now)
        counters.rebuild(
            team_id=team_id,
            balances=spend_record.balances_of(team_id=team_id, accounts=stale, now=now),
            kept_for={account: budget.resets_at[account] - now for account in stale},
            epoch=epoch,
            token=token,
        )


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
