"""Keeping a job while a long run of it is alive."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from memory.models import Job
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)


@contextmanager
def kept_lease(*, team_id: UUID, job_id: UUID, claim: UUID) -> Iterator[None]:
    """Renew the job's lease every third of it while the block runs.

    So a lease may be short: a run that was killed is taken over within JOB_LEASE_SECONDS, however
    long a live one waits for a model.
    """
    done = threading.Event()
    every = settings.JOB_LEASE_SECONDS / 3

    def renew() -> None:
        while not done.wait(every):
            try:
                _renew(team_id, job_id, claim)
            except DatabaseError:
                logger.warning("The lease of job %s was not renewed.", job_id)
            finally:
                connection.close()

    thread = threading.Thread(target=renew, name=f"lease-{job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew(team_id: UUID, job_id: UUID, claim: UUID) -> None:
    until = timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
    with team_scope(team_ids=[team_id], actor="task:extract"):
        Job.objects.filter(team_id=team_id, id=job_id, state=Job.State.RUNNING, claim=claim).update(
            lease_until=until
        )
