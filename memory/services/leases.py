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


def longest() -> timedelta:
    """No lease and no pause ends later from now than this: ten leases."""
    return timedelta(seconds=10 * settings.JOB_LEASE_SECONDS)


def pause_end(*, now: datetime, attempts: int) -> datetime:
    """Until when work rests after so many failures in a row: a pause that doubles."""
    return now + min(timedelta(seconds=2 ** min(attempts, 20)), longest() / 2)


def is_over(*, now: datetime, within: timedelta | None = None) -> Q:
    """Rows whose lease, or pause, has ended; none ends later than `within` (`longest`) from now.

    One that does was written while the clock was ahead: whoever holds it would have renewed it.
    """
    latest = now + (longest() if within is None else within)
    return Q(lease_until=None) | Q(lease_until__lt=now) | Q(lease_until__gt=latest)


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
