"""Waiting for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable

# Generous: it is the limit of a test that fails, on a machine that has other things to do.
PATIENCE_SECONDS = 60.0


def until(condition: Callable[[], object], *, seconds: float = PATIENCE_SECONDS) -> None:
    """Return once the condition holds, and fail when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
