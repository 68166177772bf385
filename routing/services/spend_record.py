"""The durable record of the cost guard: entries, holds, totals and the team's lock.

Whoever holds or counts money shares a lock of the team; who makes the counters anew from the
record, or decides by it, has that lock alone. So no call is ever between the two when it matters:
what commits before is in what is read, what comes after finds the new counters or the new epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from uuid import UUID

from django.db import connection

from routing.domain.budgets import (
    Account,
    Balance,
    CapKind,
    Claimant,
    Hold,
    Usage,
    accounts_of,
)
from routing.models import SpendEpoch, SpendReservation
from teams.ids import new_id
from teams.prepared import run_prepared
from teams.tenancy import before_commit, team_scope

ACTOR = "cost_guard"
_MODEL_CHARS = 200
_TIER_CHARS = 40
_MOST_TOKENS = 2**31 - 1

_NOTE = """
WITH noted AS (
    INSERT INTO routing_spendreservation
        (team_id, agent_id, end_user_id, day, id, estimated_usd, reserved_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
)
SELECT coalesce((SELECT number FROM routing_spendepoch WHERE team_id = $1), 0)
"""
# Whoever counts shares the team's turn from here to the end of the transaction.
_COUNT = """
WITH turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($13)
), held AS (
    DELETE FROM routing_spendreservation WHERE team_id = $1 AND id = $6
)
INSERT INTO routing_spendentry
    (team_id, agent_id, end_user_id, day, id, reservation_id, model, tier, input_tokens,
     output_tokens, cost_usd, at)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::date, $5::uuid, $6::uuid, $7::text, $8::text, $9::int,
    $10::int, $11::numeric, $12::timestamptz
FROM turn
ON CONFLICT (team_id, reservation_id) DO NOTHING
RETURNING true
"""
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
_MOVE_EPOCH = """
INSERT INTO routing_spendepoch (id, team_id, number) VALUES (%s, %s, 1)
ON CONFLICT (team_id) DO UPDATE SET number = routing_spendepoch.number + 1
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost, what it used, and when that was known."""

    usd: Decimal
    usage: Usage
    at: datetime


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


@contextmanager
def shared_turn(team_id: UUID) -> Iterator[None]:
    """One transaction beside others that hold or count money of the team."""
    lock = _lock_of(team_id)
    # A cost counts whatever becomes of the request.
    with (
        before_commit(None),
        team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True, shared_lock=lock),
    ):
        yield


@contextmanager
def turn_alone(team_id: UUID) -> Iterator[None]:
    """One transaction during which nobody else holds or counts money of the team."""
    with before_commit(None), team_scope(team_ids=[team_id], actor=ACTOR):
        run_prepared("SELECT pg_advisory_xact_lock($1)", [_lock_of(team_id)])
        yield


def note_hold(*, claimant: Claimant, now: datetime, along: Callable[[], None] | None = None) -> int:
    """Write down what is about to be held, and say which epoch the counters must be of.

    `along` writes in the same transaction.
    """
    with shared_turn(claimant.team_id):
        if along is not None:
            along()
        return _note(claimant, now)


def drop_hold(*, team_id: UUID, reservation_id: UUID) -> None:
    """Forget what was held, if it still is."""
    with shared_turn(team_id):
        SpendReservation.objects.filter(team_id=team_id, pk=reservation_id).delete()


def count_spend(*, claimant: Claimant, cost: Cost) -> tuple[bool, Mapping[Account, Decimal]]:
    """Count the call's cost once and hold nothing for it any more; call it in the team's scope.

    Who makes the counters anew waits for the transaction from here on. Answers whether it was
    counted now, and what is spent in its accounts then.
    """
    counted = run_prepared(
        _COUNT,
        [
            *_who(claimant),
            new_id(),
            claimant.hold.reservation_id,
            cost.usage.model[:_MODEL_CHARS],
            cost.usage.tier[:_TIER_CHARS],
            _tokens(cost.usage.input_tokens),
            _tokens(cost.usage.output_tokens),
            cost.usd,
            cost.at,
            _lock_of(claimant.team_id),
        ],
    )
    is_counted = bool(counted)
    return is_counted, spent_in(team_id=claimant.team_id, accounts=claimant.accounts)


def drop_expired(*, team_id: UUID, now: datetime) -> None:
    """Forget what holds nothing any more; call it in a turn alone."""
    SpendReservation.objects.filter(team_id=team_id, expires_at__lte=now).delete()


def move_epoch(*, team_id: UUID) -> None:
    """Make all counters stale, wherever they are; call it in a turn alone."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_EPOCH, [new_id(), team_id])


def decide(
    *, claimant: Claimant, limits: Mapping[Account, Decimal | None], now: datetime
) -> tuple[bool, tuple[Balance, ...]]:
    """Hold the money by the record alone, with the counters away; see `SpendCounters.reserve`.

    Slower, as only one of the team decides at a time. The new epoch tells those who still reach
    the counters that these do not know of it.
    """
    own = claimant.hold
    with turn_alone(claimant.team_id):
        move_epoch(team_id=claimant.team_id)
        drop_expired(team_id=claimant.team_id, now=now)
        found = balances_of(team_id=claimant.team_id, accounts=list(limits), now=now)
        before = [
            Balance(spent, sum_of(h for h in holds if h.reservation_id != own.reservation_id))
            for spent, holds in found.values()
        ]
        fits = not own.amount_usd or all(
            limit is None or each.spent_usd + each.held_usd + own.amount_usd <= limit
            for each, limit in zip(before, limits.values(), strict=True)
        )
        rows = SpendReservation.objects.filter(team_id=claimant.team_id, pk=own.reservation_id)
        if not fits:
            rows.delete()
            return False, tuple(before)
        if not rows.exists():
            _note(claimant, now)
    return True, tuple(Balance(e.spent_usd, e.held_usd + own.amount_usd) for e in before)


def _note(claimant: Claimant, now: datetime) -> int:
    hold = claimant.hold
    given = [hold.reservation_id, hold.amount_usd, now, hold.expires_at]
    ((epoch,),) = run_prepared(_NOTE, [*_who(claimant), *given])
    return int(epoch)


def _who(claimant: Claimant) -> list[object]:
    return [claimant.team_id, claimant.agent_id, claimant.end_user_id, claimant.day]


def _tokens(number: int) -> int:
    """A provider's count as the table holds it; whatever it says, the cost must be written."""
    return max(0, min(number, _MOST_TOKENS))


@lru_cache(maxsize=1_024)
def _lock_of(team_id: UUID) -> int:
    digest = hashlib.sha256(f"spend|{team_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
