"""Budget counters in Redis: fast, shared by all processes, rebuilt from the database when lost.

An account is a hash: the `spent` micro-dollars, the `run` of the server and the `epoch` under which
it was built, and a field `amount:end` for each hold, in micro-dollars and milliseconds. It is stale
if it is missing, was built under another run (a restarted server or a replica may have lost the
last writes) or an earlier epoch than the caller knows, or has a hold that expired: only the
database knows how that call ended. Each step is one atomic script (`routing/lua/`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import redis
from django.conf import settings

from routing.domain.budgets import Account, Balance, Budget, Hold

from .quick_redis import QuickRedis, quick_redis

_MICROS = 1_000_000
# Accounts are kept beyond the end of their window, for calls that began in it.
_AFTERWARDS = timedelta(days=1)
_BATCH = 100
_LUA = Path(__file__).parent.parent / "lua"
_READ, _RESERVE, _SETTLE, _REBUILD = (
    (_LUA / f"{name}.lua").read_text() for name in ("read", "reserve", "settle", "rebuild")
)
# Whether the money is held, and the balance of each account.
Decision = tuple[bool, tuple[Balance, ...]]


class AwayError(Exception):
    """Redis does not answer; whether it carried out the last step is unknown."""


class StaleError(Exception):
    """The counters are missing or outdated; read the record in the database."""


class SpendCounters:
    """Repeatable steps on the counters of accounts; each raises AwayError while Redis is down."""

    def __init__(self, redis: QuickRedis, *, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix

    def reserve(self, *, budget: Budget, hold: Hold, epoch: int, now: datetime) -> Decision:
        """Holds the money in all accounts, or in none if a limit forbids it. Raises StaleError."""
        given: list[int | str] = [_millis(now), epoch, str(hold.id), *_amount_and_end(hold)]
        limits = budget.limits.values()
        given += ["" if limit is None else _micros(limit) for limit in limits]
        answer = self._run(_READ + _RESERVE, hold.spender.team_id, budget.limits, given)
        if not answer:
            raise StaleError
        is_held, *figures = (Decimal(each) / _MICROS for each in answer)
        pairs = zip(figures[::2], figures[1::2], strict=True)
        return bool(is_held), tuple(Balance(spent, held) for spent, held in pairs)

    def settle(self, *, hold: Hold, spent: Mapping[Account, Decimal]) -> None:
        """Removes the hold, and takes over the recorded spend of each account."""
        given: list[int | str] = [str(hold.id), *map(_micros, spent.values())]
        self._run(_SETTLE, hold.spender.team_id, spent, given)

    def rebuild(
        self,
        *,
        budget: Budget,
        record: Mapping[Account, tuple[Decimal, Sequence[Hold]]],
        epoch: int,
        now: datetime,
    ) -> None:
        """Replaces stale accounts by the recorded spend and holds of each."""
        given: list[int | str] = [_millis(now), epoch]
        for account, (spent, holds) in record.items():
            ends = budget.resets_at[account] + _AFTERWARDS
            fields = {str(each.id): "{}:{}".format(*_amount_and_end(each)) for each in holds}
            kept = _millis(ends) - _millis(now)
            given.append(json.dumps({"spent": str(_micros(spent)), "holds": fields, "kept": kept}))
        self._run(_READ + _REBUILD, budget.spender.team_id, record, given)

    def forget(self, *, budget: Budget) -> None:
        """Removes the accounts."""
        keys = self._keys(budget.spender.team_id, budget.limits)
        self._ask(lambda client: client.delete(*keys))

    def keep_cost(self, line: bytes) -> None:
        """Keeps the cost of a call until the database can take it."""
        self._ask(lambda client: client.rpush(self._unsettled, line))

    def kept_costs(self) -> list[bytes]:
        """The oldest of the kept costs, up to 100."""
        return list(self._ask(lambda client: client.lrange(self._unsettled, 0, _BATCH - 1)))

    def forget_cost(self, line: bytes) -> None:
        """Removes a kept cost."""
        self._ask(lambda client: client.lrem(self._unsettled, 1, line))  # type: ignore[arg-type]

    @property
    def _unsettled(self) -> str:
        return f"{self._prefix}:budget:unsettled"

    def _run(
        self, script: str, team_id: UUID, accounts: Iterable[Account], given: Sequence[int | str]
    ) -> Any:  # Any: the script's answer, whole numbers or one
        keys = self._keys(team_id, accounts)
        return self._ask(lambda client: client.register_script(script)(keys, given))

    def _keys(self, team_id: UUID, accounts: Iterable[Account]) -> list[str]:
        # In braces what a cluster spreads keys by: a team's accounts lie together.
        team = f"{self._prefix}:budget:{{{team_id}}}"
        return [f"{team}:{each.kind.value}:{each.owner_id}:{each.begins_on}" for each in accounts]

    def _ask(self, command: Callable[[redis.Redis], object]) -> Any:  # Any: Redis's answer
        answer = self._redis.ask(command)
        if answer is None:
            raise AwayError
        return answer


@cache
def spend_counters() -> SpendCounters:
    """The counters of this installation, one per process."""
    return SpendCounters(quick_redis(), prefix=settings.REDIS_PREFIX)


def _amount_and_end(hold: Hold) -> tuple[int, int]:
    return _micros(hold.amount_usd), _millis(hold.expires_at)


def _micros(amount: Decimal) -> int:
    return int(amount * _MICROS)


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
