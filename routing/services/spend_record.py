"""The durable record of the cost guard: entries, holds, totals and the team's lock.

Whoever holds or counts money shares a lock of the team; whoever rebuilds the counters from the
record, or decides by the record, has that lock alone. What committed before is in what they read;
what comes after finds the new counters or the new epoch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from uuid import UUID

from django.db.models import Q

from routing.clients.spend_counters import Decision
from routing.domain.budgets import Account, Balance, Budget, Hold, Spender, Usage
from routing.models import SpendEpoch, SpendReservation, SpendTotal
from teams.ids import new_id
from teams.prepared import run_prepared, sql_text
from teams.tenancy import before_commit, team_scope

ACTOR = "cost_guard"
_MODEL_CHARS = 200
_TIER_CHARS = 40
_MOST_TOKENS = 2**31 - 1

_NOTE, _COUNT = sql_text("routing", "note_hold"), sql_text("routing", "count_spend")
_MOVE_EPOCH = """
INSERT INTO routing_spendepoch (id, team_id, number) VALUES ($1, $2, 1)
ON CONFLICT (team_id) DO UPDATE SET number = routing_spendepoch.number + 1
"""

# What is spent in an account, and what is held.
Record = Mapping[Account, tuple[Decimal, tuple[Hold, ...]]]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a call, its usage, and when they were known."""

    usd: Decimal
    usage: Usage
    at: datetime


def record_of(*, spender: Spender, now: datetime) -> Record:
    """The spend and the holds of each account; call it in the team's scope."""
    spent = _spent_by(spender)
    holds: dict[Account, list[Hold]] = {account: [] for account in spent}
    for row in SpendReservation.objects.filter(team_id=spender.team_id, expires_at__gt=now):
        owner = Spender(row.team_id, row.agent_id, row.end_user_id, row.day)
        for account in owner.accounts:
            if account in holds:
                holds[account].append(Hold(row.pk, owner, row.estimated_usd, row.expires_at))
    return {account: (usd, tuple(holds[account])) for account, usd in spent.items()}


def balances_of(*, spender: Spender, now: datetime) -> tuple[Balance, ...]:
    """The balance of each account by the record; call it in the team's scope."""
    return tuple(
        Balance(spent, sum((hold.amount_usd for hold in holds), Decimal(0)))
        for spent, holds in record_of(spender=spender, now=now).values()
    )


def epoch_of(*, team_id: UUID) -> int:
    """The team's epoch; call it in the team's scope."""
    rows = SpendEpoch.objects.filter(team_id=team_id).values_list("number", flat=True)
    return rows.first() or 0


@contextmanager
def shared_turn(team_id: UUID) -> Iterator[None]:
    """One transaction beside others that hold or count money of the team."""
    # A cost counts whatever becomes of the request.
    with (
        before_commit(None),
        team_scope(
            team_ids=[team_id], actor=ACTOR, is_planned_once=True, shared_lock=_lock_of(team_id)
        ),
    ):
        yield


@contextmanager
def turn_alone(team_id: UUID) -> Iterator[None]:
    """One transaction during which nobody else holds or counts money of the team."""
    with before_commit(None), team_scope(team_ids=[team_id], actor=ACTOR):
        run_prepared("SELECT pg_advisory_xact_lock($1)", [_lock_of(team_id)])
        yield


def note_hold(*, hold: Hold, now: datetime, along: Callable[[], None] | None = None) -> int:
    """Records a hold, and what `along` writes, before it is decided on; returns the epoch."""
    with shared_turn(hold.spender.team_id):
        if along is not None:
            along()
        return _note(hold, now)


def drop_hold(*, hold: Hold) -> None:
    """Removes a hold, if it is there."""
    with shared_turn(hold.spender.team_id):
        SpendReservation.objects.filter(team_id=hold.spender.team_id, pk=hold.id).delete()


def drop_expired(*, team_id: UUID, now: datetime) -> None:
    """Removes expired holds; call it in a turn alone."""
    SpendReservation.objects.filter(team_id=team_id, expires_at__lte=now).delete()


def count_spend(*, hold: Hold, cost: Cost) -> tuple[bool, Mapping[Account, Decimal]]:
    """Counts a cost once and removes its hold; whether now, and the spend of its accounts."""
    usage, spender = cost.usage, hold.spender
    counted = run_prepared(
        _COUNT,
        [
            *_columns(spender),
            hold.id,
            new_id(),
            usage.model[:_MODEL_CHARS],
            usage.tier[:_TIER_CHARS],
            _tokens(usage.input_tokens),
            _tokens(usage.output_tokens),
            cost.usd,
            cost.at,
            _lock_of(spender.team_id),
        ],
    )
    return bool(counted), _spent_by(spender)


def move_epoch(*, team_id: UUID) -> None:
    """Makes all counters stale, wherever they are; call it in a turn alone."""
    run_prepared(_MOVE_EPOCH, [new_id(), team_id])


def decide(*, hold: Hold, budget: Budget, now: datetime) -> Decision:
    """Holds the money by the record alone, while Redis is down; see `SpendCounters.reserve`."""
    team_id, amount = hold.spender.team_id, hold.amount_usd
    with turn_alone(team_id):
        move_epoch(team_id=team_id)
        drop_expired(team_id=team_id, now=now)
        SpendReservation.objects.filter(team_id=team_id, pk=hold.id).delete()
        before = balances_of(spender=hold.spender, now=now)
        fits = not amount or all(
            limit is None or each.spent_usd + each.held_usd + amount <= limit
            for each, limit in zip(before, budget.limits.values(), strict=True)
        )
        if not fits:
            return False, before
        _note(hold, now)
    return True, tuple(Balance(each.spent_usd, each.held_usd + amount) for each in before)


def _spent_by(spender: Spender) -> dict[Account, Decimal]:
    windows, team_id = Q(), spender.team_id
    for account in spender.accounts:
        kind = account.kind
        owner = {"agent_id": None, "end_user_id": None, f"{kind.owner}_id": account.owner_id}
        windows |= Q(kind=kind.value, begins_on=account.begins_on, team_id=team_id) & Q(**owner)
    totals = SpendTotal.objects.filter(windows, team_id=team_id)
    spent = dict(totals.values_list("kind", "spent_usd"))
    return {each: spent.get(each.kind.value, Decimal(0)) for each in spender.accounts}


def _note(hold: Hold, now: datetime) -> int:
    given = [*_columns(hold.spender), hold.id, hold.amount_usd, now, hold.expires_at]
    ((epoch,),) = run_prepared(_NOTE, given)
    return int(epoch)


def _columns(spender: Spender) -> list[object]:
    return [spender.team_id, spender.agent_id, spender.end_user_id, spender.day]


def _tokens(number: int) -> int:
    return max(0, min(number, _MOST_TOKENS))


@lru_cache(maxsize=1_024)
def _lock_of(team_id: UUID) -> int:
    digest = hashlib.sha256(f"spend|{team_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
