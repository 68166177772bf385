"""The laws of the cost guard, with many workers, crashes, and a Redis that comes and goes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from threading import Barrier, Lock

import pytest
import redis
from django.db import connections
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from routing.domain.budgets import MICRO, CapKind, Reservation
from routing.services.cost_guard import BudgetExceededError
from tests.support.budgets import OwnRedis, Till, make_till, no_redis, own_redis
from tests.support.examples import examples

CAP = Decimal(1)
FATES = ["settled", "settled", "settled", "settled twice", "released", "crashed", "late"]
TROUBLES = ["flushed", "flushed", "flushed", "killed", "stopped", "started", "cut off"]


@dataclass(frozen=True)
class Call:
    """A call that may cost `estimate`, costs a share of it, and ends in some way."""

    estimate: Decimal
    share: Decimal
    fate: str

    @property
    def cost(self) -> Decimal:
        """The final cost."""
        return (self.estimate * self.share).quantize(MICRO)


@dataclass
class Told:
    """The workers' own record of what they did, to be compared with the books."""

    settled: Decimal = Decimal(0)
    beyond: Decimal = Decimal(0)
    refused: int = 0


estimates = st.integers(1, 10).map(lambda twentieths: Decimal(twentieths) / 20)
calls = st.builds(
    Call,
    estimate=estimates,
    share=st.sampled_from([Decimal(1), Decimal(1), Decimal("0.3"), Decimal(0)]),
    fate=st.sampled_from(FATES),
)
wrong_calls = st.builds(
    Call,
    estimate=estimates,
    share=st.sampled_from([Decimal("1.5"), Decimal(20)]),
    fate=st.just("settled"),
)
workloads = st.lists(
    st.lists(st.one_of(calls, calls, st.sampled_from(TROUBLES)), min_size=3, max_size=7),
    min_size=3,
    max_size=5,
)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnRedis]:
    """The Redis that these tests ill-treat."""
    with own_redis() as running:
        yield running


class Office:
    """Workers of one team, each with its own way to Redis, and one Redis for all."""

    def __init__(self, server: OwnRedis) -> None:
        server.start()
        self.server = server
        self.till = make_till(server, month=str(CAP), user_day="1000")
        self.told = Told()
        self._lock = Lock()

    def work(self, workloads: list[list[Call | str]]) -> Told:
        """Let all workers work at the same time; then Redis is there again."""
        start = Barrier(len(workloads))

        def run(workload: list[Call | str]) -> None:
            till = replace(self.till, counters=self.server.counters())
            start.wait()
            try:
                for each in workload:
                    if isinstance(each, Call):
                        self.call(till, each)
                    elif each == "cut off":
                        till = replace(till, counters=no_redis())
                    else:
                        self.trouble(each)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(len(workloads)) as pool:
            for each in [pool.submit(run, workload) for workload in workloads]:
                each.result()
        self.server.start()
        return self.told

    def call(self, till: Till, call: Call) -> None:
        """One call from its reservation to its end."""
        try:
            reservation = till.reserve(str(call.estimate))
        except BudgetExceededError:
            with self._lock:
                self.told.refused += 1
            return
        if call.fate == "released":
            till.release(reservation)
        elif call.fate == "late":
            self.settle(till.later(minutes=10), call, reservation)
        elif call.fate != "crashed":
            self.settle(till, call, reservation)

    def settle(self, till: Till, call: Call, reservation: Reservation) -> None:
        """Once or twice."""
        till.settle(reservation, str(call.cost))
        if call.fate == "settled twice":
            till.settle(reservation, str(call.cost))
        with self._lock:
            self.told.settled += call.cost
            self.told.beyond += max(Decimal(0), call.cost - call.estimate)

    def trouble(self, kind: str) -> None:
        """Something happens to Redis."""
        with self._lock:
            if kind == "flushed":
                with suppress(redis.ConnectionError):
                    self.server.flush()
            elif kind == "stopped":
                self.server.stop()
            else:
                if kind == "killed":
                    self.server.kill()
                self.server.start()

    def check_the_books(self) -> None:
        """Checks the recorded spend, the budget left, and the budget once all has expired."""
        books = self.till.spent()
        later = replace(self.till.later(minutes=20), counters=self.server.counters())
        rest = max(Decimal(0), CAP - books)

        assert books == self.told.settled
        assert self.till.left().left_usd <= rest
        if rest:
            assert later.reserve(str(rest)).left.left_in(CapKind.TEAM_MONTH) == 0
            with pytest.raises(BudgetExceededError):
                later.reserve(str(MICRO))
        assert later.left().left_in(CapKind.TEAM_MONTH) == 0
        assert replace(later, counters=no_redis()).left().left_in(CapKind.TEAM_MONTH) == 0


@settings(
    max_examples=examples(5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(workloads=workloads, wrong=st.none() | wrong_calls, place=st.integers(0, 3))
def test_no_cap_is_passed_nothing_counts_twice_and_nothing_blocks_for_ever(
    committed_db: None,
    server: OwnRedis,
    workloads: list[list[Call | str]],
    wrong: Call | None,
    place: int,
) -> None:
    """With at most one wrong estimate, a cap is passed by no more than that one's error."""
    if wrong is not None:
        workloads[0].insert(place, wrong)
    office = Office(server)
    told = office.work(workloads)
    event("some were refused" if told.refused else "all were let through")
    event("one was wrong" if told.beyond else "none was wrong")

    assert told.settled <= CAP + told.beyond
    office.check_the_books()
