"""Reads the durable record: spend, holds and the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from routing.domain.budgets import Account, CapKind, Hold, accounts_of
from routing.models import SpendEpoch, SpendReservation
from teams.prepared import run_prepared

# Branch by branch, so that each finds its row by the index.
_SPENT = """
SELECT kind, spent_usd FROM routing_spendtotal
WHERE team_id = $1 AND kind = 'user_day' AND begins_on = $2
    AND agent_id IS NULL AND end_user_id = $3
UNION ALL SELECT kind, spent_usd FROM routing_spendtotal
WHERE team_id = $1 AND kind = 'team_month' AND begins_on = $4
    AND agent_id IS NULL AND end_user_id IS NULL
UNION ALL SELECT kind, spent_usd FROM routing_spendtotal
WHERE team_id = $1 AND kind = 'agent_day' AND begins_on = $5
    AND agent_id = $6 AND end_user_id IS NULL
UNION ALL SELECT kind, spent_usd FROM routing_spendtotal
WHERE team_id = $1 AND kind = 'agent_month' AND begins_on = $7
    AND agent_id = $8 AND end_user_id IS NULL
"""


def spent_in(*, team_id: UUID, accounts: Sequence[Account]) -> dict[Account, Decimal]:
    """What is spent in each of the accounts of one call; call it in the team's scope."""
    of: dict[CapKind, Account] = {account.kind: account for account in accounts}

    def window(kind: CapKind) -> tuple[date | None, UUID | None]:
        return (of[kind].begins_on, of[kind].owner_id) if kind in of else (None, None)

    month, _ = window(CapKind.TEAM_MONTH)
    given = [*window(CapKind.USER_DAY), month]
    given += [*window(CapKind.AGENT_DAY), *window(CapKind.AGENT_MONTH)]
    found = dict(run_prepared(_SPENT, [team_id, *given]))
    return {account: found.get(account.kind.value, Decimal(0)) for account in accounts}


def balances_of(
    *, team_id: UUID, accounts: Sequence[Account], now: datetime
) -> Mapping[Account, tuple[Decimal, tuple[Hold, ...]]]:
    """What is spent in each account, and what is held; call it in the team's scope."""
    spent = spent_in(team_id=team_id, accounts=accounts)
    holds: dict[Account, list[Hold]] = {account: [] for account in accounts}
    live = SpendReservation.objects.filter(team_id=team_id, expires_at__gt=now)
    for row_id, agent_id, end_user_id, day, amount, end in live.values_list(
        "id", "agent_id", "end_user_id", "day", "estimated_usd", "expires_at"
    ):
        for account in accounts_of(
            team_id=team_id, agent_id=agent_id, end_user_id=end_user_id, day=day
        ):
            if account in holds:
                holds[account].append(Hold(row_id, amount, end))
    return {account: (spent[account], tuple(holds[account])) for account in accounts}


def epoch_of(*, team_id: UUID) -> int:
    """The team's epoch; call it in the team's scope."""
    rows = SpendEpoch.objects.filter(team_id=team_id).values_list("number", flat=True)
    return rows.first() or 0


def sum_of(holds: Iterable[Hold]) -> Decimal:
    """What they hold together."""
    return sum((hold.amount_usd for hold in holds), Decimal(0))
