"""Leaves an endpoint alone for a while when waiting for it has cost too much."""

from __future__ import annotations

import time
from collections.abc import Callable

from .protocol import FailureKind, ModelError


class EndpointRest:
    """Whether an endpoint is left alone; thread-safe, two threads may each ask it once more.

    When one call to an unavailable endpoint has cost more than `patience_seconds`, nobody asks it
    for `rest_seconds`.
    """

    def __init__(
        self,
        *,
        patience_seconds: float,
        rest_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience_seconds = patience_seconds
        self._rest_seconds = rest_seconds
        self._until = float("-inf")
        self._monotonic = monotonic

    def begin(self) -> float | None:
        """The moment at which a call begins; None while the endpoint is left alone."""
        now = self._monotonic()
        return None if now < self._until else now

    def note(self, error: ModelError, *, started: float) -> None:
        """Take note of a call that failed and began at `started`, as `begin` gave it."""
        now = self._monotonic()
        if error.kind is FailureKind.UNAVAILABLE and now - started > self._patience_seconds:
            self._until = now + self._rest_seconds
