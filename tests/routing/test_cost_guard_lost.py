"""Redis forgets, comes back with less than it had, or is away: the budget stays what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import pytest
from django.db import OperationalError, connection, connections

from routing.domain.budgets import CapKind, Reservation
from routing.services.cost_guard import BudgetExceededError, settle_kept
from tests.support.budgets import PREFIX, OwnRedis, Till, make_till, no_redis, own_redis


@pytest.fixture(scope="module")
def server() -> Iterator[OwnRedis]:
    """The Redis of these tests, which they stop and kill."""
    with own_redis() as running:
        yield running


@pytest.fixture
def till(committed_db: None, server: OwnRedis) -> Till:
    """A team with 5 USD a day for each person, and 100 a month."""
    server.start()
    return make_till(server)


def flush(server: OwnRedis) -> None:
    """Everything is forgotten at once."""
    server.flush()


def restart(server: OwnRedis) -> None:
    """It goes on with what its file holds."""
    server.stop()
    server.start()


def kill(server: OwnRedis) -> None:
    """It crashes, and is started again."""
    server.kill()
    server.start()


Loss = Callable[[OwnRedis], None]
each_loss = pytest.mark.parametrize("lose", [flush, restart, kill], ids=lambda f: f.__name__)


@each_loss
def test_neither_spend_nor_calls_under_way_are_forgotten(
    lose: Loss, till: Till, server: OwnRedis
) -> None:
    till.spend("1")
    under_way = till.reserve("3")
    lose(server)
    with pytest.raises(BudgetExceededError) as refusal:
        till.reserve("1.5")
    till.settle(under_way, "2")

    assert refusal.value.tightest.left_usd == Decimal(1)
    assert till.left().left_in(CapKind.USER_DAY) == Decimal(2)
    assert till.reserve("2").left.left_in(CapKind.USER_DAY) == 0


@each_loss
def test_what_was_settled_before_the_loss_is_not_held_after_it(
    lose: Loss, till: Till, server: OwnRedis
) -> None:
    first, second = till.reserve("2"), till.reserve("2")
    till.settle(first, "0.5")
    till.release(second)
    lose(server)

    assert till.reserve("4.5").left.left_in(CapKind.USER_DAY) == 0


def test_a_server_that_comes_back_with_an_older_state_is_not_believed(
    till: Till, server: OwnRedis
) -> None:
    """As after a power cut, or when a replica takes over that was behind."""
    till.spend("1")
    older = {key: server.client.dump(key) for key in server.client.scan_iter(f"{PREFIX}:*")}
    till.spend("1")
    till.reserve("2")
    server.stop()
    server.start()
    server.flush()
    for key, value in older.items():
        assert isinstance(value, bytes)
        server.client.restore(key, 60_000, value, replace=True)

    with pytest.raises(BudgetExceededError) as refusal:
        till.reserve("1.5")
    assert refusal.value.tightest.left_usd == Decimal(1)


def test_spend_settled_while_redis_is_away_is_known_when_it_is_back(
    till: Till, server: OwnRedis
) -> None:
    """It comes back by itself with what it had, and that is the state of before."""
    first, second = till.reserve("1"), till.reserve("1")
    away = replace(till, counters=no_redis())
    away.settle(first, "2")
    away.release(second)

    assert till.reserve("3").left.left_in(CapKind.USER_DAY) == 0


def test_who_reaches_redis_knows_what_others_hold_who_do_not(till: Till) -> None:
    """One process is cut off from Redis, the other one is not."""
    cut_off = replace(till, counters=no_redis())
    till.reserve("1")
    there = cut_off.reserve("2")
    here = till.reserve("1")
    with pytest.raises(BudgetExceededError) as refused_there:
        cut_off.reserve("1.5")
    with pytest.raises(BudgetExceededError) as refused_here:
        till.reserve("1.5")
    cut_off.settle(there, "0.5")

    assert here.left.left_in(CapKind.USER_DAY) == Decimal(1)
    assert refused_there.value.tightest.left_usd == Decimal(1)
    assert refused_here.value.tightest.left_usd == Decimal(1)
    assert till.reserve("2.5").left.left_in(CapKind.USER_DAY) == 0


def test_what_is_left_counts_what_was_spent_without_redis(till: Till) -> None:
    till.spend("1")
    cut_off = replace(till, counters=no_redis())
    cut_off.spend("1.5")

    assert till.left().left_in(CapKind.USER_DAY) == Decimal("2.5")
    cut_off.reserve("0.5")
    assert till.left().left_in(CapKind.USER_DAY) == Decimal(2)
    assert till.reserve("2").left.left_in(CapKind.USER_DAY) == 0
    assert till.left().left_in(CapKind.USER_DAY) == 0


def test_a_refusal_of_one_who_is_cut_off_holds_nothing_for_the_others(till: Till) -> None:
    cut_off = replace(till, counters=no_redis())
    till.reserve("1")
    with pytest.raises(BudgetExceededError):
        cut_off.reserve("4.5")

    assert till.reserve("4").left.left_in(CapKind.USER_DAY) == 0


def at_once(tills: list[Till], act: Callable[[Till], Reservation | None]) -> list[Reservation]:
    """Returns the error with which the reservation is refused."""
    start = Barrier(len(tills))

    def run(till: Till) -> Reservation | None:
        start.wait()
        try:
            return act(till)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(tills)) as pool:
        done = [pool.submit(run, each) for each in tills]
        return [found for each in done if (found := each.result()) is not None]


def one_dollar(till: Till) -> Reservation | None:
    """A reservation of 1 USD, or None where it is refused."""
    try:
        return till.reserve("1")
    except BudgetExceededError:
        return None


@pytest.mark.parametrize("is_lost", [False, True], ids=["as usual", "just flushed"])
def test_of_many_at_once_only_as_many_as_fit_are_let_through(
    is_lost: bool, till: Till, server: OwnRedis
) -> None:
    """Check, then increment: all of them would pass the check."""
    processes = [replace(till, counters=server.counters()) for _ in range(8)]
    if is_lost:
        till.spend("0.000001")
        server.flush()
    held = at_once(processes, one_dollar)

    assert len(held) == (4 if is_lost else 5)
    assert till.left().left_usd == Decimal(5) - len(held) - till.spent()


def test_processes_that_rebuild_at_the_same_moment_multiply_nothing(
    till: Till, server: OwnRedis
) -> None:
    till.spend("1")
    till.reserve("1")
    processes = [replace(till, counters=server.counters()) for _ in range(6)]
    for _ in range(3):
        server.flush()
        for each in at_once(processes, lambda till: till.reserve("0.1")):
            till.release(each)

    assert till.reserve("3").left.left_in(CapKind.USER_DAY) == 0


def test_settlements_during_a_rebuild_are_neither_lost_nor_doubled(
    till: Till, server: OwnRedis
) -> None:
    under_way = {index: till.reserve("0.5") for index in range(6)}
    processes = [replace(till, counters=server.counters()) for _ in under_way]
    order = iter(under_way.values())
    calls = dict(zip(map(id, processes), order, strict=True))
    server.flush()

    def settle_or_look(process: Till) -> Reservation | None:
        process.settle(calls[id(process)], "0.25")
        return process.reserve("0.000001")

    for each in at_once(processes, settle_or_look):
        till.release(each)

    assert till.spent() == Decimal("1.5")
    assert till.left().left_in(CapKind.USER_DAY) == Decimal("3.5")
    server.flush()
    assert till.reserve("3.5").left.left_in(CapKind.USER_DAY) == 0


def test_with_redis_away_many_at_once_are_decided_one_by_one(till: Till) -> None:
    processes = [replace(till, counters=no_redis()) for _ in range(6)]
    held = at_once([*processes, replace(till, counters=no_redis())], one_dollar)

    assert len(held) == 5
    assert till.left().left_in(CapKind.USER_DAY) == 0


def test_some_with_redis_and_some_without_stay_below_the_cap_together(
    till: Till, server: OwnRedis
) -> None:
    near = [replace(till, counters=server.counters()) for _ in range(4)]
    far = [replace(till, counters=no_redis()) for _ in range(4)]
    held = at_once([*near, *far], one_dollar)
    held += [found for _ in range(5) if (found := one_dollar(till)) is not None]

    assert len(held) == 5
    assert till.left().left_in(CapKind.USER_DAY) == 0


# -- PostgreSQL goes away --------------------------------------------------------------------


def lose_the_database() -> None:
    """The server ends this test's connection, as when it is started anew."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_cost_that_the_database_cannot_take_waits_and_counts_once(till: Till) -> None:
    reservation = till.reserve("3")
    other = till.reserve("0.5", nobody=True)
    kept = []
    for call, cost in [(reservation, "2"), (other, "0.25"), (other, "0.25")]:
        lose_the_database()
        kept.append(till.settle(call, cost))
    with pytest.raises(BudgetExceededError) as refusal:
        till.reserve("2.5")
    counted = [settle_kept(counters=till.counters) for _ in range(2)]

    assert not any(kept)
    assert refusal.value.tightest.left_usd == Decimal(2)
    assert counted == [3, 0]
    assert till.spent() == Decimal("2.25")
    assert till.left().left_in(CapKind.USER_DAY) == Decimal(3)
    assert till.outstanding() == 0


def test_with_redis_away_as_well_the_caller_is_told(till: Till) -> None:
    reservation = till.reserve("3")
    lose_the_database()
    with pytest.raises(OperationalError):
        replace(till, counters=no_redis()).settle(reservation, "2")
    till.settle(reservation, "2")

    assert till.spent() == Decimal(2)


def test_accounts_of_past_windows_do_not_stay_in_redis(till: Till, server: OwnRedis) -> None:
    till.spend("1")
    till.reserve("1")
    ends = {
        key.decode().split(":")[3]: server.client.pttl(key)
        for key in server.client.scan_iter(f"{PREFIX}:budget:{{{till.cast.team.id}}}:*")
    }

    day = timedelta(days=1)
    for kind, milliseconds in ends.items():
        longest = day + (timedelta(hours=12) if kind.endswith("day") else timedelta(days=17.5))
        assert day < timedelta(milliseconds=milliseconds) <= longest
    assert set(ends) == {"user_day", "team_month", "agent_day", "agent_month"}
