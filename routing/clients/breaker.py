"""Circuit breakers that all processes share in Redis; each has its own while Redis is away."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from functools import cache

import redis
from django.conf import settings

from .quick_redis import QuickRedis, quick_redis

# Attempts to change a circuit that other processes change at the same time.
_ATTEMPTS = 8


class Verdict(StrEnum):
    """Whether a call may be made: yes, yes as the one probe, or no."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Policy:
    """So many failures in a row open the circuit for so many seconds.

    A probe that has not come back after `probe_seconds` is given up; failures further apart than
    `memory_seconds` are not in a row.
    """

    failures: int = 3
    open_seconds: float = 30.0
    probe_seconds: float = 120.0
    memory_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class _Circuit:
    """What is known of one endpoint and model; times are seconds since the epoch, 0 for never."""

    failures: int = 0
    failed_at: float = 0.0
    open_until: float = 0.0
    probe_until: float = 0.0

    def asked(self, now: float, policy: Policy) -> tuple[_Circuit, Verdict]:
        """Whether a call may be made now; the circuit afterwards knows of the probe."""
        if not self.open_until:
            return self, Verdict.CLOSED
        if now < self.open_until or now < self.probe_until:
            return self, Verdict.OPEN
        return replace(self, probe_until=now + policy.probe_seconds), Verdict.HALF_OPEN

    def succeeded(self, *, is_probe: bool) -> _Circuit:
        """After an answer: a probe closes, a call from before the circuit opened does not."""
        return self if self.open_until and not is_probe else _NEW

    def failed(self, now: float, policy: Policy, *, is_probe: bool) -> _Circuit:
        """After a failure: a probe opens again, the last of a row opens."""
        if self.open_until and not is_probe:
            return self
        in_a_row = now - self.failed_at <= policy.memory_seconds
        failures = self.failures + 1 if in_a_row else 1
        opens = is_probe or failures >= policy.failures
        return _Circuit(failures, now, open_until=now + policy.open_seconds if opens else 0.0)


_NEW = _Circuit()
_Change = Callable[[_Circuit], _Circuit]


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a call to `name` may be made; hand it back with the outcome of the call."""

    name: str
    verdict: Verdict
    is_unmarked: bool = False

    @property
    def is_granted(self) -> bool:
        """Whether the call may be made."""
        return self.verdict is not Verdict.OPEN

    @property
    def is_probe(self) -> bool:
        """Whether the call is the probe that finds out if the endpoint is back."""
        return self.verdict is Verdict.HALF_OPEN


class Breaker:
    """The circuits of endpoints and models by name; thread-safe. `clock` gives seconds."""

    def __init__(
        self, *, shared: QuickRedis, policy: Policy, clock: Callable[[], float] = time.time
    ) -> None:
        self._shared = shared
        self._policy = policy
        self._clock = clock
        self._own: dict[str, _Circuit] = {}
        self._lock = threading.Lock()

    def ask(self, name: str) -> Permit:
        """Whether a call may be made now; when an open circuit is due, one caller may probe it."""
        known = self._shared.ask(lambda client: (client.get(_key(name)),))
        if known is not None and known[0] is None:
            return Permit(name, Verdict.CLOSED, is_unmarked=True)
        verdicts = [Verdict.CLOSED]

        def ask(circuit: _Circuit) -> _Circuit:
            after, verdicts[0] = circuit.asked(self._clock(), self._policy)
            return after

        self._change(name, ask)
        return Permit(name, verdicts[0])

    def succeeded(self, permit: Permit) -> None:
        """The endpoint answered."""
        # Failures of other calls since then are counted by those calls.
        if not permit.is_unmarked:
            self._change(permit.name, lambda circuit: circuit.succeeded(is_probe=permit.is_probe))

    def failed(self, permit: Permit) -> None:
        """The endpoint did not answer as it should."""
        now, policy = self._clock(), self._policy
        self._change(
            permit.name,
            lambda circuit: circuit.failed(now, policy, is_probe=permit.is_probe),
        )

    def given_up(self, permit: Permit) -> None:
        """The call was not made, or says nothing about the endpoint."""
        if permit.is_probe:
            self._change(permit.name, lambda circuit: replace(circuit, probe_until=0.0))

    def _change(self, name: str, change: _Change) -> None:
        done = self._shared.ask(lambda client: self._change_in(client, name, change))
        if done is None:
            with self._lock:
                after = change(self._own.get(name, _NEW))
                self._own.pop(name, None)
                if after != _NEW:
                    self._own[name] = after

    def _change_in(self, client: redis.Redis, name: str, change: _Change) -> bool:
        key, seconds = _key(name), self._policy
        keep = max(seconds.memory_seconds, seconds.open_seconds + seconds.probe_seconds)
        for _ in range(_ATTEMPTS):
            with client.pipeline() as pipe:
                try:
                    pipe.watch(key)  # type: ignore[no-untyped-call]
                    before = _decoded(pipe.get(key))
                    after = change(before)
                    if after == before:
                        return True
                    pipe.multi()
                    if after == _NEW:
                        pipe.delete(key)
                    else:
                        pipe.set(key, json.dumps(astuple(after)), px=int(keep * 1000) + 1)
                    pipe.execute()
                except redis.WatchError:
                    continue
                return True
        return True


@cache
def breaker() -> Breaker:
    """The breaker of the settings, one a process."""
    return Breaker(
        shared=quick_redis(),
        policy=Policy(
            failures=settings.BREAKER_FAILURES, open_seconds=settings.BREAKER_OPEN_SECONDS
        ),
    )


def _key(name: str) -> str:
    return f"{settings.REDIS_PREFIX}:circuit:{name}"


def _decoded(value: object) -> _Circuit:
    """The circuit of a stored value; an unreadable one is as none."""
    if not isinstance(value, bytes | str):
        return _NEW
    try:
        failures, *times = json.loads(value)
        return _Circuit(int(failures), *map(float, times))
    except (TypeError, ValueError):
        return _NEW
