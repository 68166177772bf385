"""Budget counters in Redis: fast, shared by all processes, rebuilt from the database when lost."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from redis.exceptions import NoScriptError

from routing.clients.quick_redis import QuickRedis, quick_redis
from routing.clients.spend_scripts import CLAIM, LOOK, REBUILD, RESERVE, SETTLE
from routing.domain.budgets import Account, Balance, Hold

_MICROS = 1_000_000
# A rebuild reads a few rows; one that takes longer has lost its turn.
_CLAIM = timedelta(seconds=5)
# Accounts are kept beyond the end of their window, for calls that began in it.
_AFTERWARDS = timedelta(days=1)
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """What the counters hold, in the order of the accounts asked for, as of `epoch`."""

    balances: tuple[Balance, ...]
    epoch: int


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the money is held now, and what the accounts then hold."""

    is_held: bool
    balances: tuple[Balance, ...]


class AwayError(Exception):
    """Redis does not answer; whether it carried out the last step is unknown."""


class StaleError(Exception):
    """The counters are missing or outdated; the record in the database must be read."""


class SpendCounters:
    """Steps on the counters of one team's accounts; each is one script, safe to repeat.

    Every step raises AwayError while Redis is away.
    """

    def __init__(self, redis: QuickRedis, *, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix

    def look(self, *, team_id: UUID, accounts: Sequence[Account], now: datetime) -> Seen:
        """What is spent and held; raises StaleError."""
        answer = self._run(LOOK, team_id, accounts, [_millis(now)])
        if not answer:
            raise StaleError
        return Seen(balances=_balances(answer[1:]), epoch=answer[0])

    def reserve(
        self,
        *,
        team_id: UUID,
        hold: Hold,
        limits: Mapping[Account, Decimal | None],
        epoch: int,
        now: datetime,
    ) -> Decision:
        """Hold the money in all accounts, or in none where a limit lacks it; raises StaleError.

        The balances do not count this reservation where it was refused.
        """
        given: list[int | str] = [_millis(now), epoch]
        given += [str(hold.reservation_id), _micros(hold.amount_usd), _millis(hold.expires_at)]
        given += ["" if limit is None else _micros(limit) for limit in limits.values()]
        answer = self._run(RESERVE, team_id, list(limits), given)
        if not answer:
            raise StaleError
        return Decision(is_held=answer[0] == 1, balances=_balances(answer[1:]))

    def settle(
        self,
        *,
        team_id: UUID,
        reservation_id: UUID,
        amount_usd: Decimal,
        spent: Mapping[Account, Decimal],
    ) -> None:
        """Hold `amount_usd` of the reservation no more, and know what the record says is spent."""
        given: list[int | str] = [str(reservation_id), _micros(amount_usd)]
        given += [_micros(each) for each in spent.values()]
        self._run(SETTLE, team_id, list(spent), given)

    def claim(
        self, *, team_id: UUID, accounts: Sequence[Account], epoch: int, token: str, now: datetime
    ) -> list[Account]:
        """Those of the accounts that are stale; who asked has to rebuild them within 5 seconds."""
        given: list[int | str] = [_millis(now), epoch, token, _whole_millis(_CLAIM)]
        return [accounts[place - 1] for place in self._run(CLAIM, team_id, accounts, given)]

    def rebuild(
        self,
        *,
        team_id: UUID,
        balances: Mapping[Account, tuple[Decimal, Sequence[Hold]]],
        kept_for: Mapping[Account, timedelta],
        epoch: int,
        token: str,
    ) -> bool:
        """Put in what the record says was spent and is held; False where the claim is gone.

        `kept_for` is how long each account's window still lasts.
        """
        given: list[int | str] = [epoch, token]
        for account, (spent, holds) in balances.items():
            kept = _whole_millis(kept_for[account] + _AFTERWARDS)
            given += [kept, _micros(spent), len(holds)]
            for hold in holds:
                given += [
                    str(hold.reservation_id),
                    _micros(hold.amount_usd),
                    _millis(hold.expires_at),
                ]
        return bool(self._run(REBUILD, team_id, list(balances), given))

    def keep_cost(self, line: str) -> None:
        """Keep what a call cost until the record can take it."""
        self._ask(lambda client: client.rpush(self._unsettled, line))

    def kept_costs(self) -> list[bytes]:
        """The oldest of the kept costs, up to 100."""
        return list(self._ask(lambda client: client.lrange(self._unsettled, 0, _BATCH - 1)))

    def forget_cost(self, line: bytes) -> None:
        """Remove a kept cost once the record holds it."""
        self._ask(lambda client: client.lrem(self._unsettled, 1, line))  # type: ignore[arg-type]

    @property
    def _unsettled(self) -> str:
        return f"{self._prefix}:spend:unsettled"

    def _run(
        self, script: str, team_id: UUID, accounts: Iterable[Account], given: Sequence[int | str]
    ) -> Any:  # Any: what the script answers, whole numbers or one
        keys = [key for account in accounts for key in self._keys(team_id, account)]
        digest = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()

        def command(client: redis.Redis) -> object:
            try:
                return client.evalsha(digest, len(keys), *keys, *given)
            except NoScriptError:
                return client.eval(script, len(keys), *keys, *given)

        return self._ask(command)

    def _ask(self, command: Callable[[redis.Redis], object]) -> Any:  # Any: what Redis answers
        answer = self._redis.ask(command)
        if answer is None:
            raise AwayError
        return answer

    def _keys(self, team_id: UUID, account: Account) -> tuple[str, str]:
        # In braces what a cluster spreads keys by: a team's accounts lie together.
        name = f"{account.kind.value}:{account.owner_id}:{account.begins_on.isoformat()}"
        key = f"{self._prefix}:spend:{{{team_id}}}:{name}"
        return key, f"{key}:holds"


@cache
def spend_counters() -> SpendCounters:
    """The counters of this installation, one a process."""
    return SpendCounters(quick_redis(), prefix=settings.REDIS_PREFIX)


def _balances(figures: Sequence[int]) -> tuple[Balance, ...]:
    pairs = zip(figures[::2], figures[1::2], strict=True)
    return tuple(
        Balance(Decimal(spent) / _MICROS, Decimal(held) / _MICROS) for spent, held in pairs
    )


def _micros(amount: Decimal) -> int:
    return int(amount * _MICROS)


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _whole_millis(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)
