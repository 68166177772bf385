"""The cost guard: money is held before a model is called, and counted after (seed 000, CostGuard).

Three steps: `reserve`, then `settle` or `release`. The counters in Redis decide in one atomic step
over all caps. They are never the only copy of anything: a hold is recorded before it is decided on,
so a Redis that loses it loses no call in progress; spend is recorded and summed by the database,
and the counters take over the sum, which only grows, so no order, repetition or crash counts a call
twice or loses it. Stale counters (see `SpendCounters`) are rebuilt from the record by one process
while the others wait. While Redis is down the record decides, for one caller of the team at a time.

A call that never ends holds its money for BUDGET_RESERVATION_SECONDS.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    transaction,
)
from psycopg.errors import ReadOnlySqlTransaction
from pydantic import TypeAdapter

from routing.clients.spend_counters import (
    AwayError,
    Decision,
    SpendCounters,
    StaleError,
    spend_counters,
)
from routing.domain.budgets import (
    Account,
    Balance,
    Budget,
    BudgetLeft,
    Cap,
    CapKind,
    Hold,
    Reservation,
    Spender,
    Usage,
    day_window,
    month_window,
    whole_micros,
)
from routing.models import SpendTotal
from routing.services import spend_record
from routing.services.spend_record import ACTOR, Cost
from teams.errors import DomainError
from teams.ids import new_id
from teams.models import Agent, EndUser, Team
from teams.services.agents import model_config_of
from teams.services.people import frozen_team_ids
from teams.tenancy import before_commit, team_scope

logger = logging.getLogger(__name__)

# Each attempt but the first follows a rebuild that something undid in between.
_ATTEMPTS = 5
_KEPT = TypeAdapter(tuple[Hold, Cost])


# Each receives `team_id`, `event`, `subject_id`, `data` and `once`, which names the event however
# often it is announced, in the team's scope.
LISTENERS: list[Callable[..., None]] = []


class BudgetExceededError(DomainError):
    """The call may cost more than the `tightest` cap has left; nothing is held (402)."""

    def __init__(
        self, *, tightest: Cap, estimated_usd: Decimal, alternatives: Mapping[str, Decimal]
    ) -> None:
        left = tightest.left_usd
        payable = {tier: usd for tier, usd in alternatives.items() if usd <= left}
        self.tightest = tightest
        self.estimated_usd = estimated_usd
        self.suggested_tier = max(payable, key=payable.__getitem__, default=None)
        if self.suggested_tier:
            advice = f" The tier '{self.suggested_tier}' still fits."
        else:
            shorter = " limit the answer (max_tokens)," if left else ""
            advice = f" Wait until it begins anew,{shorter} or let a team admin raise the budget."
        super().__init__(
            f"The call may cost {_plain(estimated_usd)} USD, and the"
            f" {tightest.account.kind.title.lower()} has {_plain(left)} of"
            f" {_plain(tightest.limit_usd)} USD left until {tightest.resets_at.isoformat()}."
            f"{advice}"
        )


@dataclass(frozen=True, slots=True)
class MonthSpend:
    """Settled spend of the current month and its limit, None if there is none."""

    spent_usd: Decimal
    limit_usd: Decimal | None


def month_spend(*, teams: Sequence[Team], now: datetime) -> MonthSpend:
    """The spend and budget of these teams together, each in the month of its own time zone."""
    spends = _month_spends(teams, now).values()
    known = [each.limit_usd for each in spends if each.limit_usd is not None]
    return MonthSpend(
        sum((each.spent_usd for each in spends), Decimal(0)),
        sum(known, Decimal(0)) if len(known) == len(spends) else None,
    )


def installation_spend(*, now: datetime) -> tuple[Decimal, float]:
    """Returns the month's spend of the scope's teams, and the greatest share of a team's budget."""
    spends = _month_spends(Team.objects.all(), now).values()
    shares = [
        float(each.spent_usd / each.limit_usd) if each.limit_usd else float(each.spent_usd > 0)
        for each in spends
        if each.limit_usd is not None
    ]
    return sum((each.spent_usd for each in spends), Decimal(0)), max(shares, default=0.0)


def _month_spends(teams: Iterable[Team], now: datetime) -> dict[UUID, MonthSpend]:
    """The settled spend and budget of each team's month."""
    known = {team.pk: team for team in teams}
    begins = {pk: month_window(now=now, zone=team.zone).begins_on for pk, team in known.items()}
    totals = SpendTotal.objects.filter(
        team_id__in=begins, kind=CapKind.TEAM_MONTH.value, begins_on__in=set(begins.values())
    ).values_list("team_id", "begins_on", "spent_usd")
    spent = {team_id: usd for team_id, day, usd in totals if begins[team_id] == day}
    return {
        pk: MonthSpend(spent.get(pk, Decimal(0)), _limits(team, None)[CapKind.TEAM_MONTH])
        for pk, team in known.items()
    }


def budget_left(*, team: Team, agent: Agent, end_user: EndUser | None, now: datetime) -> BudgetLeft:
    """Returns the recorded amount left under each cap now, without reserving any."""
    budget = _budget_of(team, agent, end_user, now)
    with team_scope(team_ids=[team.pk], actor=ACTOR):
        return _left_of(budget, spend_record.balances_of(spender=budget.spender, now=now))


def reserve(
    *,
    team: Team,
    agent: Agent | None,
    end_user: EndUser | None,
    estimated_usd: Decimal,
    now: datetime,
    alternatives: Mapping[str, Decimal] | None = None,
    along: Callable[[], None] | None = None,
    counters: SpendCounters | None = None,
) -> Reservation:
    """Holds `estimated_usd` under every cap at once, or holds nothing.

    Give the most that the call can cost: a cap is only exceeded by costs beyond the estimates.
    `alternatives` are the most that it can cost on other tiers. A free call is always allowed.
    `along` writes in the transaction that records the hold, granted or not. Call it outside any
    transaction. Raises BudgetExceededError, and ValueError for an invalid estimate.
    """
    counters = counters or spend_counters()
    budget = _budget_of(team, agent, end_user, now)
    expires_at = now + timedelta(seconds=settings.BUDGET_RESERVATION_SECONDS)
    hold = Hold(new_id(), budget.spender, whole_micros(estimated_usd), expires_at)
    epoch = spend_record.note_hold(hold=hold, now=now, along=along)
    is_held, balances = _decide(hold, budget, epoch, now, counters)
    left = _left_of(budget, balances)
    if is_held:
        return Reservation(hold, left)
    with before_commit(None), team_scope(team_ids=[team.pk], actor=ACTOR):
        _announce("budget.exhausted", left.tightest, left.tightest.balance.spent_usd, team.pk)
    raise BudgetExceededError(
        tightest=left.tightest, estimated_usd=hold.amount_usd, alternatives=alternatives or {}
    )


def settle(
    *,
    reservation: Reservation,
    actual_usd: Decimal,
    usage: Usage,
    now: datetime,
    counters: SpendCounters | None = None,
) -> bool:
    """Counts the cost of a call once, however often it is called, and removes the hold.

    Returns whether it was counted now. The cost counts in the day and month of its reservation,
    even after that expired or was released. While the database is down or the team is being moved,
    the cost is kept in Redis for `settle_kept`; if Redis is down as well, the database's error is
    raised. Call it outside any transaction: others of the team wait for the sums. Raises ValueError
    for an invalid cost.
    """
    counters = counters or spend_counters()
    cost = Cost(whole_micros(actual_usd), usage, now)
    try:
        return _count(reservation.hold, cost, counters, reservation.left)
    except (OperationalError, InterfaceError, InternalError) as error:
        is_frozen = isinstance(error.__cause__, ReadOnlySqlTransaction)
        if isinstance(error, InternalError) and not is_frozen:
            raise
        try:
            counters.keep_cost(_KEPT.dump_json((reservation.hold, cost)))
        except AwayError:
            raise error from None
        logger.warning(
            "%s; the cost of a call waits in Redis.",
            "The team is being moved" if is_frozen else "The database is away",
        )
        return False


def count_along(
    *, reservation: Reservation, actual_usd: Decimal, usage: Usage, now: datetime
) -> None:
    """Counts the cost as the last statement of the caller's transaction, as `settle` in its own."""
    cost = Cost(whole_micros(actual_usd), usage, now)
    _count_here(reservation.hold, cost, spend_counters(), reservation.left)


def settle_kept(*, counters: SpendCounters | None = None) -> int:
    """Counts the costs that are kept in Redis, each once; returns their number."""
    counters = counters or spend_counters()
    done = 0
    frozen = frozen_team_ids()
    for line in counters.kept_costs():
        hold, cost = _KEPT.validate_json(line)
        if hold.spender.team_id in frozen:
            continue
        try:
            _count(hold, cost, counters)
        except IntegrityError:
            logger.exception("A cost that waits in Redis is refused.")
            continue
        counters.forget_cost(line)
        done += 1
    return done


def release(*, reservation: Reservation, counters: SpendCounters | None = None) -> None:
    """Removes the hold of a call that cost nothing; harmless after a settlement, and twice."""
    _drop(reservation.hold, counters or spend_counters())


def _drop(hold: Hold, counters: SpendCounters) -> None:
    # First in the record, or counters rebuilt from it would hold it again.
    spend_record.drop_hold(hold=hold)
    _tell(hold, dict.fromkeys(hold.spender.accounts, Decimal(0)), counters)


def _decide(
    hold: Hold, budget: Budget, epoch: int, now: datetime, counters: SpendCounters
) -> Decision:
    try:
        for _ in range(_ATTEMPTS):
            try:
                is_held, balances = counters.reserve(budget=budget, hold=hold, epoch=epoch, now=now)
            except StaleError:
                _rebuild(budget, now, counters)
                continue
            if not is_held:
                _drop(hold, counters)
            return is_held, balances
    except AwayError:
        pass
    return spend_record.decide(hold=hold, budget=budget, now=now)


def _rebuild(budget: Budget, now: datetime, counters: SpendCounters) -> None:
    """Replaces stale counters; whoever had to wait for the lock finds it done."""
    spender = budget.spender
    try:
        with spend_record.turn_alone(spender.team_id):
            spend_record.drop_expired(team_id=spender.team_id, now=now)
            record = spend_record.record_of(spender=spender, now=now)
            epoch = spend_record.epoch_of(team_id=spender.team_id)
            counters.rebuild(budget=budget, record=record, epoch=epoch, now=now)
    except DatabaseError:
        # The lock may have been lost before the counters were written.
        counters.forget(budget=budget)
        raise


def _count(hold: Hold, cost: Cost, counters: SpendCounters, left: BudgetLeft | None = None) -> bool:
    with spend_record.shared_turn(hold.spender.team_id):
        return _count_here(hold, cost, counters, left)


def _count_here(hold: Hold, cost: Cost, counters: SpendCounters, left: BudgetLeft | None) -> bool:
    is_counted, spent = spend_record.count_spend(hold=hold, cost=cost)
    # By the sum and not by the step: the next settlement announces what one could not.
    for each in left.caps if left else ():
        usd, limit = spent.get(each.account, Decimal(0)), each.limit_usd
        if usd and usd >= limit:
            _announce("budget.exhausted", each, usd, hold.spender.team_id)
        elif usd and usd >= limit * settings.BUDGET_NEAR_SHARE:
            _announce("budget.near", each, usd, hold.spender.team_id)
    _tell(hold, spent, counters)
    return is_counted


def _tell(hold: Hold, spent: Mapping[Account, Decimal], counters: SpendCounters) -> None:
    """Updates the counters after the commit; if that fails, a new epoch makes them stale."""

    def tell() -> None:
        try:
            counters.settle(hold=hold, spent=spent)
        except AwayError:
            with spend_record.turn_alone(hold.spender.team_id):
                spend_record.move_epoch(team_id=hold.spender.team_id)

    transaction.on_commit(tell)


def _announce(event: str, cap: Cap, spent_usd: Decimal, team_id: UUID) -> None:
    account = cap.account
    whose = (
        {} if account.kind is CapKind.TEAM_MONTH else {f"{account.kind.owner}_id": account.owner_id}
    )
    window = f"{account.kind.value}:{account.owner_id}:{account.begins_on}:{cap.limit_usd}"
    for listener in LISTENERS:
        listener(
            team_id=team_id,
            event=event,
            subject_id=account.owner_id,
            data={
                "cap": account.kind.value,
                "limit_usd": str(cap.limit_usd),
                "spent_usd": str(spent_usd),
                "begins_on": account.begins_on,
                "resets_at": cap.resets_at,
                **whose,
            },
            once=f"{event}:{window}",
        )


def _budget_of(team: Team, agent: Agent | None, end_user: EndUser | None, now: datetime) -> Budget:
    day = day_window(now=now, zone=team.zone)
    resets = {"day": day.resets_at, "month": month_window(now=now, zone=team.zone).resets_at}
    limits = _limits(team, agent)
    spender = Spender(
        team.pk, agent.pk if agent else None, end_user.pk if end_user else None, day.begins_on
    )
    return Budget(
        spender,
        limits={each: limits[each.kind] for each in spender.accounts},
        resets_at={each: resets[each.kind.window] for each in spender.accounts},
    )


def _left_of(budget: Budget, balances: Sequence[Balance]) -> BudgetLeft:
    caps = tuple(
        Cap(account, limit, budget.resets_at[account], balance)
        for (account, limit), balance in zip(budget.limits.items(), balances, strict=True)
        if limit is not None
    )
    return BudgetLeft(caps, settings.BUDGET_NEAR_SHARE)


def _limits(team: Team, agent: Agent | None) -> dict[CapKind, Decimal | None]:
    config = model_config_of(agent) if agent else None
    user_day, team_month = team.daily_user_budget_usd, team.monthly_budget_usd
    return {
        CapKind.USER_DAY: settings.DAILY_USER_BUDGET_USD if user_day is None else user_day,
        CapKind.TEAM_MONTH: settings.MONTHLY_TEAM_BUDGET_USD if team_month is None else team_month,
        CapKind.AGENT_DAY: config.daily_budget_usd if config else None,
        CapKind.AGENT_MONTH: config.monthly_budget_usd if config else None,
    }


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
