"""Budgets under test: a team, people who spend, and counters in a Redis of the tests' own."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import embedded
from config.embedded.redis import redis_pid
from routing.clients.quick_redis import QuickRedis
from routing.clients.spend_counters import SpendCounters
from routing.domain.budgets import BudgetLeft, Reservation, Usage
from routing.models import SpendEntry, SpendReservation
from routing.services.cost_guard import budget_left, release, reserve, settle
from teams.models import Agent, EndUser
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

NOON = datetime(2026, 5, 14, 12, tzinfo=UTC)
USAGE = Usage(model="test-model", tier="balanced", input_tokens=900, output_tokens=100)
PREFIX = "budget-test"


def no_redis() -> SpendCounters:
    """Counters whose Redis does not answer."""
    return SpendCounters(QuickRedis("unix:///nobody/listens/here", pause=0.0), prefix=PREFIX)


class OwnRedis:
    """A Redis server that a test may stop, kill, and empty."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.start()

    @property
    def client(self) -> redis.Redis:
        """A client of the server, which finds out at once that it is away."""
        socket = str(embedded.redis_socket(self.home))
        return redis.Redis(unix_socket_path=socket, retry=Retry(NoBackoff(), 0))

    def counters(self) -> SpendCounters:
        """Counters as another process would have them, which asks again at once after a failure."""
        url = f"unix://{embedded.redis_socket(self.home)}"
        return SpendCounters(QuickRedis(url, patience=2.0, pause=0.0), prefix=PREFIX)

    def start(self) -> None:
        """Start it, where it does not run."""
        embedded.start_redis(self.home)

    def stop(self) -> None:
        """Stop it; what it holds is kept in its file."""
        embedded.stop_redis(self.home)

    def kill(self) -> None:
        """End it as a crash does."""
        pid = redis_pid(self.home)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def flush(self) -> None:
        """Make it forget everything."""
        self.client.flushall()


@contextmanager
def own_redis() -> Iterator[OwnRedis]:
    """A server in a temporary home."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        server = OwnRedis(Path(folder) / "home")
        try:
            yield server
        finally:
            server.stop()


@dataclass(frozen=True)
class Till:
    """One process of a team that spends: its counters, and the time on its clock."""

    cast: Cast
    counters: SpendCounters
    now: datetime = NOON

    def at(self, now: datetime) -> Till:
        """The same at another time."""
        return replace(self, now=now)

    def later(self, **span: float) -> Till:
        """The same some time later."""
        return replace(self, now=self.now + timedelta(**span))

    def reserve(
        self,
        amount: str,
        *,
        agent: Agent | None = None,
        end_user: EndUser | None = None,
        nobody: bool = False,
        alternatives: Mapping[str, Decimal] | None = None,
    ) -> Reservation:
        """Hold money for Kyra and Sarah, or for others."""
        return reserve(
            team=self.cast.team,
            agent=agent or self.cast.kyra,
            end_user=None if nobody else end_user or self.cast.sarah,
            estimated_usd=Decimal(amount),
            now=self.now,
            alternatives=alternatives,
            counters=self.counters,
        )

    def settle(self, reservation: Reservation, amount: str) -> bool:
        """Count what it cost; whether it was counted now."""
        return settle(
            reservation=reservation,
            actual_usd=Decimal(amount),
            usage=USAGE,
            now=self.now,
            counters=self.counters,
        )

    def spend(self, amount: str, *, end_user: EndUser | None = None) -> None:
        """A whole call that costs what was reserved."""
        self.settle(self.reserve(amount, end_user=end_user), amount)

    def release(self, reservation: Reservation) -> None:
        """Give up."""
        release(reservation=reservation, counters=self.counters)

    def left(self, *, agent: Agent | None = None, end_user: EndUser | None = None) -> BudgetLeft:
        """Returns the budget left for Kyra and Sarah, or for others."""
        return budget_left(
            team=self.cast.team,
            agent=agent or self.cast.kyra,
            end_user=end_user or self.cast.sarah,
            now=self.now,
        )

    def entries(self) -> list[SpendEntry]:
        """Returns the recorded spend entries."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return list(SpendEntry.objects.order_by("id"))

    def spent(self) -> Decimal:
        """The sum of what is written down."""
        return sum((entry.cost_usd for entry in self.entries()), Decimal(0))

    def outstanding(self) -> int:
        """Returns the number of recorded reservations that are held."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return SpendReservation.objects.count()


def make_till(
    server: OwnRedis, *, month: str = "100", user_day: str = "5", zone: str = "UTC"
) -> Till:
    """A new team with these budgets in USD."""
    cast = make_cast(f"till-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        cast.team.monthly_budget_usd = Decimal(month)
        cast.team.daily_user_budget_usd = Decimal(user_day)
        cast.team.time_zone = zone
        cast.team.save()
    return Till(cast, server.counters())


def limit_agent(agent: Agent, *, day: float | None = None, month: float | None = None) -> None:
    """Give the agent caps of its own."""
    found = {"daily_budget_usd": day, "monthly_budget_usd": month}
    with team_scope(team_ids=[agent.team_id], actor="test"):
        agent.model_config = {name: value for name, value in found.items() if value is not None}
        agent.save()
