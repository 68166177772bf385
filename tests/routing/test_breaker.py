"""The circuit breaker: closed, open, one probe; the same in Redis and without it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.conf import settings
from django_redis import get_redis_connection
from hypothesis import given
from hypothesis import strategies as st

from routing.clients.breaker import Breaker, Permit, Policy, Verdict
from routing.clients.quick_redis import QuickRedis

pytestmark = pytest.mark.usefixtures("redis_server")

POLICY = Policy(failures=3, open_seconds=30, probe_seconds=60, memory_seconds=300)
NOWHERE = "redis://127.0.0.1:1/0"


class Clock:
    """A time that moves when told to; far enough from now that nothing in Redis expires."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["shared", "alone"])
def make(request: pytest.FixtureRequest, clock: Clock) -> Callable[[], Breaker]:
    """Breakers at the tests' Redis, or at one that is away."""
    url = settings.REDIS_URL if request.param == "shared" else NOWHERE

    def build() -> Breaker:
        return Breaker(shared=QuickRedis(url), policy=POLICY, clock=clock)

    return build


@pytest.fixture
def circuits(make: Callable[[], Breaker]) -> Breaker:
    return make()


def fail(circuits: Breaker, times: int = 1, name: str = "a") -> None:
    for _ in range(times):
        circuits.failed(circuits.ask(name))


def test_failures_in_a_row_open_a_circuit_and_no_other(circuits: Breaker) -> None:
    fail(circuits, 2)
    assert circuits.ask("a").verdict is Verdict.CLOSED
    fail(circuits)

    assert circuits.ask("a").verdict is Verdict.OPEN
    assert circuits.ask("b").verdict is Verdict.CLOSED


def test_a_success_ends_a_row(circuits: Breaker) -> None:
    fail(circuits, 2)
    circuits.succeeded(circuits.ask("a"))
    fail(circuits, 2)

    assert circuits.ask("a").verdict is Verdict.CLOSED


def test_failures_far_apart_are_no_row(circuits: Breaker, clock: Clock) -> None:
    for _ in range(5):
        fail(circuits)
        clock.now += 301

    assert circuits.ask("a").verdict is Verdict.CLOSED


def test_after_its_time_one_probe_is_let_through(circuits: Breaker, clock: Clock) -> None:
    fail(circuits, 3)
    clock.now += 30

    probe = circuits.ask("a")

    assert probe.verdict is Verdict.HALF_OPEN
    assert circuits.ask("a").verdict is Verdict.OPEN
    circuits.succeeded(probe)
    assert circuits.ask("a").verdict is Verdict.CLOSED


def test_a_probe_that_fails_opens_again_for_as_long(circuits: Breaker, clock: Clock) -> None:
    fail(circuits, 3)
    clock.now += 30
    circuits.failed(circuits.ask("a"))

    clock.now += 29
    assert circuits.ask("a").verdict is Verdict.OPEN
    clock.now += 1
    assert circuits.ask("a").verdict is Verdict.HALF_OPEN


def test_a_probe_that_never_comes_back_does_not_block_for_ever(
    circuits: Breaker, clock: Clock
) -> None:
    fail(circuits, 3)
    clock.now += 30
    circuits.ask("a")

    clock.now += 59
    assert circuits.ask("a").verdict is Verdict.OPEN
    clock.now += 1
    assert circuits.ask("a").verdict is Verdict.HALF_OPEN


def test_a_probe_that_says_nothing_makes_room_for_another(circuits: Breaker, clock: Clock) -> None:
    fail(circuits, 3)
    clock.now += 30
    circuits.given_up(circuits.ask("a"))

    assert circuits.ask("a").verdict is Verdict.HALF_OPEN


def test_an_answer_from_before_does_not_close_an_open_circuit(circuits: Breaker) -> None:
    early = circuits.ask("a")
    fail(circuits, 3)
    circuits.succeeded(early)
    circuits.succeeded(Permit("a", Verdict.CLOSED))

    assert circuits.ask("a").verdict is Verdict.OPEN


def test_processes_share_a_circuit_through_redis(clock: Clock) -> None:
    one, two = (
        Breaker(shared=QuickRedis(settings.REDIS_URL), policy=POLICY, clock=clock) for _ in "ab"
    )
    fail(one, 2)
    fail(two)

    assert one.ask("a").verdict is two.ask("a").verdict is Verdict.OPEN


def test_of_many_that_ask_at_once_one_probes(make: Callable[[], Breaker], clock: Clock) -> None:
    circuits = make()
    fail(circuits, 3)
    clock.now += 30

    with ThreadPoolExecutor(8) as pool:
        verdicts = [each.verdict for each in pool.map(lambda _: circuits.ask("a"), range(24))]

    assert verdicts.count(Verdict.HALF_OPEN) == 1
    assert verdicts.count(Verdict.OPEN) == 23


def test_failures_at_once_are_all_counted(make: Callable[[], Breaker]) -> None:
    circuits = make()
    permits = [circuits.ask("a") for _ in range(3)]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(circuits.failed, permits))

    assert circuits.ask("a").verdict is Verdict.OPEN


@pytest.mark.parametrize("kept", [b"nonsense", b"[]", b'{"a": 1}', b"[1, null]", b"\xff"])
def test_what_cannot_be_read_counts_as_closed(kept: bytes, clock: Clock) -> None:
    circuits = Breaker(shared=QuickRedis(settings.REDIS_URL), policy=POLICY, clock=clock)
    get_redis_connection("default").set(f"{settings.REDIS_PREFIX}:circuit:a", kept)

    assert circuits.ask("a").verdict is Verdict.CLOSED
    fail(circuits, 3)
    assert circuits.ask("a").verdict is Verdict.OPEN


STEPS = st.lists(
    st.tuples(st.sampled_from(["ok", "fail", "give up"]), st.integers(0, 90)), max_size=40
)


@given(steps=STEPS)
def test_redis_and_the_process_alone_agree_and_no_circuit_stays_open(
    steps: list[tuple[str, int]],
) -> None:
    clock, name = Clock(), str(uuid4())
    both = [
        Breaker(shared=QuickRedis(url), policy=POLICY, clock=clock)
        for url in (settings.REDIS_URL, NOWHERE)
    ]
    for result, seconds in steps:
        permits = [each.ask(name) for each in both]
        assert permits[0].verdict is permits[1].verdict
        for circuits, permit in zip(both, permits, strict=True):
            if permit.is_granted:
                end = {
                    "ok": circuits.succeeded,
                    "fail": circuits.failed,
                    "give up": circuits.given_up,
                }[result]
                end(permit)
        clock.now += seconds

    clock.now += POLICY.open_seconds + POLICY.probe_seconds
    for circuits in both:
        permit = circuits.ask(name)
        assert permit.is_granted
        circuits.succeeded(permit)
        assert circuits.ask(name).verdict is Verdict.CLOSED
