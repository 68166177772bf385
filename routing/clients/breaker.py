"""Circuit breakers, shared through Redis; while Redis is down each process has its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from django.conf import settings
from redis.client import Pipeline

from .quick_redis import QuickRedis, quick_redis


class Verdict(StrEnum):
    """The decision on a call: allowed, allowed as the one probe, or refused."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Policy:
    """Failures in a row (at most `memory_seconds` apart) that open a circuit, and its times."""

    failures: int = 3
    open_seconds: float = 30.0
    probe_seconds: float = 120.0
    memory_seconds: float = 300.0


class _Circuit(NamedTuple):
    """The state of one circuit; times are seconds since the epoch, 0 for never."""

    failures: float = 0
    failed_at: float = 0.0
    open_until: float = 0.0
    probe_until: float = 0.0

    def asked(self, now: float, policy: Policy) -> tuple[_Circuit, Verdict]:
        if not self.open_until:
            return self, Verdict.CLOSED
        if now < self.open_until or now < self.probe_until:
            return self, Verdict.OPEN
        return self._replace(probe_until=now + policy.probe_seconds), Verdict.HALF_OPEN

    def succeeded(self, *, is_probe: bool) -> _Circuit:
        return self if self.open_until and not is_probe else _NEW

    def failed(self, now: float, policy: Policy, *, is_probe: bool) -> _Circuit:
        if self.open_until and not is_probe:
            return self
        in_a_row = now - self.failed_at <= policy.memory_seconds
        failures = self.failures + 1 if in_a_row else 1
        opens = is_probe or failures >= policy.failures
        return _Circuit(failures, now, open_until=now + policy.open_seconds if opens else 0.0)


_NEW = _Circuit()


@dataclass(frozen=True, slots=True)
class Permit:
    """The verdict on a call to `name`; give it back to the breaker with the call's outcome."""

    name: str
    verdict: Verdict
    is_new: bool = False

    @property
    def is_granted(self) -> bool:
        """True where the call may be made."""
        return self.verdict is not Verdict.OPEN

    @property
    def is_probe(self) -> bool:
        """True where the call probes whether the endpoint has recovered."""
        return self.verdict is Verdict.HALF_OPEN


class Breaker:
    """The circuits of endpoints and models by name; thread-safe. `clock` returns seconds."""

    def __init__(
        self, *, shared: QuickRedis, policy: Policy, clock: Callable[[], float] = time.time
    ) -> None:
        self._shared = shared
        self._policy = policy
        self._clock = clock
        self._own: dict[str, _Circuit] = {}
        self._lock = threading.Lock()

    def ask(self, name: str) -> Permit:
        """Returns a permit for a call now; once an open circuit is due, one caller may probe it."""
        known = self._shared.ask(lambda client: (client.get(_key(name)),))
        if known == (None,):
            return Permit(name, Verdict.CLOSED, is_new=True)
        verdicts = [Verdict.CLOSED]

        def ask(circuit: _Circuit) -> _Circuit:
            after, verdicts[0] = circuit.asked(self._clock(), self._policy)
            return after

        self._change(name, ask)
        return Permit(name, verdicts[0])

    def succeeded(self, permit: Permit) -> None:
        """The endpoint answered."""
        # Failures of other calls since then are counted by those calls.
        if not permit.is_new:
            self._change(permit.name, lambda circuit: circuit.succeeded(is_probe=permit.is_probe))

    def failed(self, permit: Permit) -> None:
        """The endpoint failed."""
        now, is_probe = self._clock(), permit.is_probe
        self._change(permit.name, lambda each: each.failed(now, self._policy, is_probe=is_probe))

    def given_up(self, permit: Permit) -> None:
        """The call was not made, or says nothing about the endpoint."""
        if permit.is_probe:
            self._change(permit.name, lambda circuit: circuit._replace(probe_until=0.0))

    def _change(self, name: str, change: Callable[[_Circuit], _Circuit]) -> None:
        key, policy = _key(name), self._policy
        keep = max(policy.memory_seconds, policy.open_seconds + policy.probe_seconds)

        def write(pipe: Pipeline) -> None:
            before = _decoded(pipe.get(key))
            after = change(before)
            pipe.multi()
            if after == _NEW:
                pipe.delete(key)
            elif after != before:
                pipe.set(key, json.dumps(after), px=int(keep * 1000) + 1)

        if self._shared.ask(lambda client: client.transaction(write, key)) is None:
            with self._lock:
                after = change(self._own.pop(name, _NEW))
                if after != _NEW:
                    self._own[name] = after


@cache
def breaker() -> Breaker:
    """The breaker of the settings, one per process."""
    policy = Policy(failures=settings.BREAKER_FAILURES, open_seconds=settings.BREAKER_OPEN_SECONDS)
    return Breaker(shared=quick_redis(), policy=policy)


def _key(name: str) -> str:
    return f"{settings.REDIS_PREFIX}:circuit:{name}"


def _decoded(value: object) -> _Circuit:
    """A stored circuit; an unreadable one counts as new."""
    try:
        return _Circuit(*map(float, json.loads(value)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _NEW
