"""A connection to a replica, which nobody waits for long."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg
from django.conf import settings


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that breaks when its server is silent for longer than a statement may run.

    A server that hangs, with its sockets open, would hold its readers for ever.
    """

    @property
    def patience_seconds(self) -> float:
        """A little more than a statement of a read may take before the server ends it."""
        return settings.READ_STATEMENT_SECONDS + 1.0

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:  # Any: as the base class has it
        """Raises OperationalError when it takes too long."""
        return super().wait(self._within(gen), *args, **kwargs)

    def _within(self, gen: Any) -> Generator[Any, Any, Any]:
        deadline = time.monotonic() + self.patience_seconds
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the replica gives no answer")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
