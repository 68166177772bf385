"""The caps of a call and what is left under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.conf import settings

from routing.clients.spend_counters import (
    AwayError,
    Seen,
    SpendCounters,
    StaleError,
    spend_counters,
)
from routing.domain.budgets import (
    Balance,
    Budget,
    BudgetLeft,
    Cap,
    CapKind,
    CapLeft,
    accounts_of,
    day_window,
    month_window,
)
from routing.models import SpendTotal
from routing.services.spend_record import ACTOR, balances_of, epoch_of, sum_of
from teams.models import Agent, EndUser, Team
from teams.services.agents import model_config_of
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class MonthSpend:
    """What models cost in the current month, and what they may cost; None where nothing bounds it.

    Money that is held for calls under way is not in it.
    """

    spent_usd: Decimal
    limit_usd: Decimal | None


def month_spend(*, teams: Sequence[Team], now: datetime) -> MonthSpend:
    """The spend and the budget of these teams together, each in the month of its own time zone.

    Call it in a scope that shows the teams.
    """
    begins = {team.pk: month_window(now=now, zone=team.zone).begins_on for team in teams}
    totals = SpendTotal.objects.filter(
        team_id__in=begins, kind=CapKind.TEAM_MONTH.value, begins_on__in=set(begins.values())
    ).values_list("team_id", "begins_on", "spent_usd")
    spent = sum((usd for team_id, day, usd in totals if begins[team_id] == day), Decimal(0))
    limits = [_limits(team, None)[CapKind.TEAM_MONTH] for team in teams]
    known = [limit for limit in limits if limit is not None]
    return MonthSpend(spent, sum(known, Decimal(0)) if len(known) == len(limits) else None)


def budget_of(
    *, team: Team, agent: Agent | None, end_user: EndUser | None, now: datetime
) -> Budget:
    """The accounts of a call at `now`, days and months being the team's, and their limits.

    Raises InvalidError for an agent whose model configuration cannot be read.
    """
    day = day_window(now=now, zone=team.zone)
    month = month_window(now=now, zone=team.zone)
    limits = _limits(team, agent)
    accounts = accounts_of(
        team_id=team.pk,
        agent_id=None if agent is None else agent.pk,
        end_user_id=None if end_user is None else end_user.pk,
        day=day.begins_on,
    )
    return Budget(
        day=day.begins_on,
        limits={account: limits[account.kind] for account in accounts},
        resets_at={
            account: month.resets_at if account.kind.is_of_a_month else day.resets_at
            for account in accounts
        },
    )


def budget_left(
    *,
    team: Team,
    agent: Agent,
    end_user: EndUser | None,
    now: datetime,
    counters: SpendCounters | None = None,
    is_checked: bool = True,
) -> BudgetLeft:
    """What is left under each cap at this moment; it holds nothing.

    The counters tell, and the durable record where they cannot or where somebody counted without
    them. Unless `is_checked` the counters' word is enough, one question fewer: for who reserves
    afterwards, which notices what a process without Redis has counted. Call it outside any
    transaction.
    """
    budget = budget_of(team=team, agent=agent, end_user=end_user, now=now)
    seen = seen_by_counters(team.pk, budget, now, counters or spend_counters())
    if seen is not None and not is_checked:
        return left_of(budget=budget, balances=seen.balances)
    with team_scope(team_ids=[team.pk], actor=ACTOR):
        if seen is not None and epoch_of(team_id=team.pk) <= seen.epoch:
            return left_of(budget=budget, balances=seen.balances)
        found = balances_of(team_id=team.pk, accounts=budget.accounts, now=now)
    balances = [Balance(spent, sum_of(holds)) for spent, holds in found.values()]
    return left_of(budget=budget, balances=balances)


def seen_by_counters(
    team_id: UUID, budget: Budget, now: datetime, counters: SpendCounters
) -> Seen | None:
    """What the counters hold for the budget's accounts; None where they cannot tell."""
    try:
        return counters.look(team_id=team_id, accounts=budget.accounts, now=now)
    except (AwayError, StaleError):
        return None


def left_of(*, budget: Budget, balances: Sequence[Balance]) -> BudgetLeft:
    """What the balances of the budget's accounts leave under its limits."""
    caps = tuple(
        CapLeft(Cap(account, limit, budget.resets_at[account]), balance)
        for (account, limit), balance in zip(budget.limits.items(), balances, strict=True)
        if limit is not None
    )
    return BudgetLeft(caps, settings.BUDGET_NEAR_SHARE)


def _limits(team: Team, agent: Agent | None) -> dict[CapKind, Decimal | None]:
    config = None if agent is None else model_config_of(agent)
    of_a_user, of_the_team = team.daily_user_budget_usd, team.monthly_budget_usd
    return {
        CapKind.USER_DAY: settings.DAILY_USER_BUDGET_USD if of_a_user is None else of_a_user,
        CapKind.TEAM_MONTH: settings.MONTHLY_TEAM_BUDGET_USD
        if of_the_team is None
        else of_the_team,
        CapKind.AGENT_DAY: config.daily_budget_usd if config else None,
        CapKind.AGENT_MONTH: config.monthly_budget_usd if config else None,
    }
