"""Leases of background work: a row that one task may work on until its lease ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Q

from teams.clock import database_now
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)


def lease_end(*, now: datetime) -> datetime:
    """Until when who takes or renews a lease now may go on."""
    return now + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def pause_end(*, now: datetime, attempts: int) -> datetime:
    """Returns the end of a pause that doubles with each failure in a row, up to five leases."""
    return now + timedelta(seconds=min(2 ** min(attempts, 20), 5 * settings.JOB_LEASE_SECONDS))


def is_over(*, now: datetime) -> Q:
    """Rows whose lease, or pause, has ended."""
    return Q(lease_until=None) | Q(lease_until__lt=now)


@contextmanager
def kept_lease(
    *, team_id: UUID, actor: str, name: str, renew: Callable[[datetime], object]
) -> Iterator[None]:
    """Call `renew` with a new end of the lease every third of it while the block runs.

    So a lease may be short: a run that was killed is taken over within JOB_LEASE_SECONDS, however
    long a live one waits for a model. `renew` is called in the team's scope, by another thread.
    """
    done = threading.Event()
    every = settings.JOB_LEASE_SECONDS / 3

    def keep() -> None:
        while not done.wait(every):
            try:
                with team_scope(team_ids=[team_id], actor=actor):
                    renew(lease_end(now=database_now()))
            except DatabaseError:
                logger.warning("The lease of %s was not renewed.", name)
            finally:
                connection.close()

    thread = threading.Thread(target=keep, name=f"lease-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
