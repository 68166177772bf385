"""Who runs an extraction job: one claim at a time, under a lease that ends with its holder."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q

from audit.services.events import Event, record_events
from memory.models import Job
from memory.services import leases
from memory.services.extraction.jobs import LEFT, does_jobs, publish
from teams.tenancy import team_scope

ACTOR = "task:extract"

logger = logging.getLogger(__name__)


def claim_job(
    *, team_id: UUID, job_id: UUID, now: datetime, kind: Job.Kind = Job.Kind.EXTRACT
) -> UUID | None:
    """Take the job by one UPDATE that must change exactly one row, where the team has it done."""
    claim = uuid4()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    free |= LEFT & (Q(lease_until=None) | Q(lease_until__lt=now))
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not does_jobs(team_id=team_id, kind=kind):
            return None
        taken = Job.objects.filter(free, team_id=team_id, id=job_id, kind=kind).update(
            state=Job.State.RUNNING,
            claim=claim,
            lease_until=leases.lease_end(now=now),
            attempts=F("attempts") + 1,
        )
    return claim if taken else None


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
            mine.update(state=Job.State.QUEUED, claim=None, lease_until=None, attempts=0)
            publish(job)


def note_failure(
    *, team_id: UUID, job_id: UUID, claim: UUID, error: Exception, now: datetime
) -> None:
    """Queue the job again after a pause that doubles, or give it up after the last attempt."""
    logger.exception("Job %s failed.", job_id)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        job = Job.objects.filter(team_id=team_id, id=job_id, claim=claim).first()
        if job is None:
            return
        given_up = job.attempts >= settings.JOB_MAX_ATTEMPTS
        job.state = Job.State.FAILED if given_up else Job.State.QUEUED
        job.error = f"{type(error).__name__}: {error}"[:2000]
        job.claim = None
        job.lease_until = None if given_up else now + timedelta(seconds=2**job.attempts)
        job.finished_at = now if given_up else None
        job.save()
        failed = job_event(job, status="error", error=type(error).__name__, given_up=given_up)
        record_events(team_id=team_id, events=[failed])


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
