"""Settles reservations: the cost of a call is counted once and its hold is released."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, InterfaceError, OperationalError, transaction

from routing.clients.spend_counters import AwayError, SpendCounters, spend_counters
from routing.domain.budgets import (
    Account,
    BudgetLeft,
    Claimant,
    Hold,
    Reservation,
    Usage,
    whole_micros,
)
from routing.services import budget_notices, spend_record
from routing.services.spend_record import Cost

logger = logging.getLogger(__name__)


def settle(
    *,
    reservation: Reservation,
    actual_usd: Decimal,
    usage: Usage,
    now: datetime,
    counters: SpendCounters | None = None,
) -> bool:
    """Count what the call cost, once however often it is said, and hold nothing for it any more.

    Returns whether it was counted now. It counts in the day and month of its reservation, also
    after that expired or was released. While the database is away the cost is kept in Redis, its
    reservation holds the money, and `settle_kept` counts it; raises the database's error where
    Redis is away as well. Call it outside any transaction: others of the team wait for the sums.
    Raises ValueError for a cost that is no amount.
    """
    counters = counters or spend_counters()
    claimant = reservation.claimant
    cost = Cost(usd=whole_micros(actual_usd), usage=usage, at=now)
    try:
        return _count(claimant, cost, counters, reservation.left)
    except (OperationalError, InterfaceError) as error:
        try:
            counters.keep_cost(_kept_cost(claimant, cost))
        except AwayError:
            raise error from None
        logger.warning("The database is away; the cost of a call waits in Redis.")
        return False


def count_along(
    *,
    reservation: Reservation,
    actual_usd: Decimal,
    usage: Usage,
    now: datetime,
) -> None:
    """Count what the call cost in the transaction under way, once, as `settle` does in its own.

    Make it the last act there: others of the team wait for the sums from then on. Where the
    transaction fails nothing is counted, and the caller settles. Raises ValueError for a cost
    that is no amount.
    """
    claimant = reservation.claimant
    cost = Cost(usd=whole_micros(actual_usd), usage=usage, at=now)
    _, spent = spend_record.count_spend(claimant=claimant, cost=cost)
    budget_notices.announce_spent(team_id=claimant.team_id, left=reservation.left, spent=spent)
    _tell(claimant, spent, spend_counters())


def settle_kept(*, counters: SpendCounters | None = None) -> int:
    """Count the costs that wait in Redis, each once, and say how many it were.

    What the database refuses is logged and goes on waiting. Raises AwayError while Redis is away,
    and the database's error while that is.
    """
    counters = counters or spend_counters()
    done = 0
    for line in counters.kept_costs():
        try:
            _count(*_read_cost(line), counters)
        except IntegrityError:
            logger.exception("A cost that waits in Redis is refused.")
            continue
        counters.forget_cost(line)
        done += 1
    return done


def release(*, reservation: Reservation, counters: SpendCounters | None = None) -> None:
    """Hold nothing for a call that cost nothing; harmless after a settlement, and twice."""
    drop(claimant=reservation.claimant, counters=counters or spend_counters())


def drop(*, claimant: Claimant, counters: SpendCounters) -> None:
    """Hold nothing: first in the record, or counters made anew of it would hold it again."""
    spend_record.drop_hold(team_id=claimant.team_id, reservation_id=claimant.hold.reservation_id)
    _tell(claimant, dict.fromkeys(claimant.accounts, Decimal(0)), counters)


def _count(
    claimant: Claimant, cost: Cost, counters: SpendCounters, left: BudgetLeft | None = None
) -> bool:
    with spend_record.shared_turn(claimant.team_id):
        is_counted, spent = spend_record.count_spend(claimant=claimant, cost=cost)
        if left is not None:
            budget_notices.announce_spent(team_id=claimant.team_id, left=left, spent=spent)
    _tell(claimant, spent, counters)
    return is_counted


def _tell(claimant: Claimant, spent: Mapping[Account, Decimal], counters: SpendCounters) -> None:
    """Let the counters know, once it is committed; else that they do not know makes them stale."""

    def tell() -> None:
        try:
            counters.settle(
                team_id=claimant.team_id,
                reservation_id=claimant.hold.reservation_id,
                amount_usd=claimant.hold.amount_usd,
                spent=spent,
            )
        except AwayError:
            with spend_record.turn_alone(claimant.team_id):
                spend_record.move_epoch(team_id=claimant.team_id)

    transaction.on_commit(tell)


def _kept_cost(claimant: Claimant, cost: Cost) -> str:
    """What a call cost, and for whom, as JSON."""
    hold, usage = claimant.hold, cost.usage
    return json.dumps(
        {
            "team": str(claimant.team_id),
            "agent": None if claimant.agent_id is None else str(claimant.agent_id),
            "user": None if claimant.end_user_id is None else str(claimant.end_user_id),
            "day": claimant.day.isoformat(),
            "reservation": str(hold.reservation_id),
            "held": str(hold.amount_usd),
            "until": hold.expires_at.isoformat(),
            "cost": str(cost.usd),
            "usage": [usage.model, usage.tier, usage.input_tokens, usage.output_tokens],
            "at": cost.at.isoformat(),
        }
    )


def _read_cost(line: bytes) -> tuple[Claimant, Cost]:
    """What `_kept_cost` wrote."""
    kept = json.loads(line)
    claimant = Claimant(
        team_id=UUID(kept["team"]),
        agent_id=None if kept["agent"] is None else UUID(kept["agent"]),
        end_user_id=None if kept["user"] is None else UUID(kept["user"]),
        day=date.fromisoformat(kept["day"]),
        hold=Hold(
            UUID(kept["reservation"]), Decimal(kept["held"]), datetime.fromisoformat(kept["until"])
        ),
    )
    cost = Cost(Decimal(kept["cost"]), Usage(*kept["usage"]), datetime.fromisoformat(kept["at"]))
    return claimant, cost
