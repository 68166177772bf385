"""Who runs an extraction job: one claim at a time, under a lease that ends with its holder."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.models.functions import Now

from audit.services.events import Event, record_events
from memory.models import Job
from memory.services import leases
from memory.services.extraction.jobs import does_jobs, is_waiting, publish
from memory.services.extraction.setting_aside import isolate
from routing.clients.protocol import FailureKind, ModelError
from teams.clock import database_now
from teams.errors import UnavailableError
from teams.tenancy import broke_off, team_scope

ACTOR = "task:extract"
_KILLED = "The worker was killed, lost PostgreSQL, or did not end in time."
# PostgreSQL may be back by then, as after a restart; later the lease tells of the failure.
_NOTE_PAUSES = (0.2, 1.0, 2.0)
# Statements beyond what PostgreSQL can do at all: the trouble is in them.
_BEYOND_LIMITS = "54"
_AWAY = (FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED)

logger = logging.getLogger(__name__)


def claim_job(
    *, team_id: UUID, job_id: UUID, now: datetime, kind: Job.Kind = Job.Kind.EXTRACT
) -> UUID | None:
    """Take the job for one run, where the team has it done, nobody is at work on it and its pause
    after a failure is over; `now` is the database's.

    The attempt is counted before any work, so that one whose worker was killed counts as well.
    """
    claim = uuid4()
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not does_jobs(team_id=team_id, kind=kind):
            return None
        rows = Job.objects.filter(team_id=team_id, id=job_id, kind=kind)
        job = rows.filter(is_waiting(now=now)).select_for_update().first()
        if job is None:
            return None
        if job.state == Job.State.RUNNING:
            # Nobody could note how that run failed.
            job.error = _KILLED
            if not isolate(job=job, now=now):
                job.save()
                return None
        job.state, job.claim = Job.State.RUNNING, claim
        job.lease_until = leases.lease_end(now=now)
        job.attempts += 1
        job.save()
    return claim


def kept_lease(*, team_id: UUID, job_id: UUID, claim: UUID) -> AbstractContextManager[None]:
    """Renew the job's lease while the block runs."""

    def renew(until: datetime) -> None:
        job = Job.objects.filter(team_id=team_id, id=job_id, claim=claim)
        job.filter(state=Job.State.RUNNING).update(lease_until=until)

    return leases.kept_lease(team_id=team_id, actor=ACTOR, name=f"job {job_id}", renew=renew)


def hand_on(*, team_id: UUID, job_id: UUID, claim: UUID) -> None:
    """Give the job back to the workers, who go on where it got to."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = Job.objects.filter(team_id=team_id, id=job_id, claim=claim)
        job = mine.first()
        if job is not None:
            mine.update(
                state=Job.State.QUEUED, claim=None, lease_until=None, attempts=0, queued_at=Now()
            )
            publish(job)


def note_failure(
    *,
    team_id: UUID,
    job_id: UUID,
    claim: UUID,
    error: Exception,
    clock: Callable[[], datetime] = database_now,
) -> None:
    """Queue the job again after a pause that doubles, narrowed to what fails (`isolate`).

    While a service that it needs, PostgreSQL too, is away nothing is narrowed: after the last
    attempt it is given up, and any later extraction of the conversation tries it again. Where
    the connection is lost it takes a new one, and where there is none it leaves the job to the end
    of its lease.
    """
    # Its text and traceback may hold what was said; the job keeps the text, in the database.
    logger.error("Job %s failed: %s.", job_id, type(error).__name__)
    for pause in _NOTE_PAUSES:
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        try:
            return _note(team_id, job_id, claim, error, clock())
        except DatabaseError:
            time.sleep(pause)
    logger.warning("That job %s failed could not be noted.", job_id)
    return None


def _note(team_id: UUID, job_id: UUID, claim: UUID, error: Exception, now: datetime) -> None:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = Job.objects.filter(team_id=team_id, id=job_id, claim=claim)
        job = rows.select_for_update().first()
        if job is None:
            return
        job.error = f"{type(error).__name__}: {error}"[:2000]
        job.claim = None
        if _is_away(error):
            goes_on = job.attempts < settings.JOB_MAX_ATTEMPTS
        else:
            goes_on = isolate(job=job, now=now)
        if goes_on:
            job.state, job.queued_at = Job.State.QUEUED, now
            job.lease_until = leases.pause_end(now=now, attempts=job.attempts)
        elif job.state == Job.State.RUNNING:
            job.state, job.lease_until, job.finished_at = Job.State.FAILED, None, now
        job.save()
        failed = job_event(job, status="error", error=type(error).__name__, given_up=not goes_on)
        record_events(team_id=team_id, events=[failed])


def _is_away(error: Exception) -> bool:
    """Whether it is a service that fails, and no message is to blame."""
    if isinstance(error, ModelError):
        return error.kind in _AWAY
    if isinstance(error, OperationalError):
        return not (getattr(error.__cause__, "sqlstate", "") or "").startswith(_BEYOND_LIMITS)
    return isinstance(error, InterfaceError | UnavailableError) or broke_off(error)


def job_event(job: Job, *, status: str = "ok", **meta: object) -> Event:
    """What happened to a job, for the operational events; `meta` holds no texts."""
    return Event(
        node="worker",
        op=job.kind,
        status=status,
        end_user_id=job.conversation.end_user_id,
        conversation_id=job.conversation_id,
        meta=meta,
    )
