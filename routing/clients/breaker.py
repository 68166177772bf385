"""Circuit breakers that all processes share in Redis; each has its own while Redis is away."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache

import redis
from django.conf import settings

from routing.domain.circuits import (
    NEW,
    Circuit,
    Policy,
    Verdict,
    asked,
    failed,
    given_up,
    succeeded,
)

from .quick_redis import QuickRedis, quick_redis

# Attempts to change a circuit that other processes change at the same time.
_ATTEMPTS = 8

_Change = Callable[[Circuit], Circuit]


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
        self._own: dict[str, Circuit] = {}
        self._lock = threading.Lock()

    def ask(self, name: str) -> Permit:
        """Whether a call may be made now; when an open circuit is due, one caller may probe it."""
        known = self._shared.ask(lambda client: (client.get(_key(name)),))
        if known is not None and known[0] is None:
            return Permit(name, Verdict.CLOSED, is_unmarked=True)
        verdicts = [Verdict.CLOSED]

        def ask(circuit: Circuit) -> Circuit:
            after, verdicts[0] = asked(circuit, now=self._clock(), policy=self._policy)
            return after

        self._change(name, ask)
        return Permit(name, verdicts[0])

    def succeeded(self, permit: Permit) -> None:
        """The endpoint answered."""
        # Failures of other calls since then are counted by those calls.
        if not permit.is_unmarked:
            self._change(permit.name, lambda circuit: succeeded(circuit, is_probe=permit.is_probe))

    def failed(self, permit: Permit) -> None:
        """The endpoint did not answer as it should."""
        now, policy = self._clock(), self._policy
        self._change(
            permit.name,
            lambda circuit: failed(circuit, now=now, is_probe=permit.is_probe, policy=policy),
        )

    def given_up(self, permit: Permit) -> None:
        """The call was not made, or says nothing about the endpoint."""
        if permit.is_probe:
            self._change(permit.name, lambda circuit: given_up(circuit, is_probe=True))

    def _change(self, name: str, change: _Change) -> None:
        done = self._shared.ask(lambda client: self._change_in(client, name, change))
        if done is None:
            with self._lock:
                after = change(self._own.get(name, NEW))
                self._own.pop(name, None)
                if after != NEW:
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
                    if after == NEW:
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


def _decoded(value: object) -> Circuit:
    """The circuit of a stored value; an unreadable one is as none."""
    if not isinstance(value, bytes | str):
        return NEW
    try:
        failures, *times = json.loads(value)
        return Circuit(int(failures), *map(float, times))
    except (TypeError, ValueError):
        return NEW
