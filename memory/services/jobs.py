"""Extraction jobs: each message of a conversation belongs to exactly one, which finishes once."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q
from django.utils import timezone

from audit.services.events import record_events
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Job
from memory.services import extraction
from memory.services.extraction import ExtractionCounts
from memory.services.leases import kept_lease
from memory.services.screening import most_important, room_today, screen, store_events
from memory.services.write_path import prepare, store
from teams.errors import ConflictError, NotFoundError
from teams.models import Conversation
from teams.services.conversations import lock_conversation
from teams.tenancy import team_scope

RUN_JOB_TASK = "memory.tasks.run_extraction_job"

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
_UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)


def queue_extraction(*, conversation: Conversation, is_capped: bool = True) -> Job | None:
    """Give all messages that have no job yet to a new one; None when there are none.

    `conversation` must be locked; the job is published when the transaction commits.
    """
    first, last = conversation.extracted_position + 1, conversation.last_position
    if first > last:
        return None
    job = Job.objects.create(
        team_id=conversation.team_id,
        conversation=conversation,
        from_position=first,
        to_position=last,
        is_capped=is_capped,
    )
    conversation.extracted_position = last
    conversation.save(update_fields=["extracted_position"])
    return job


def publish(job: Job) -> None:
    """Tell the workers of a job once the transaction commits; the sweep finds what gets lost."""

    def send() -> None:
        try:
            current_app.send_task(RUN_JOB_TASK, args=[str(job.team_id), str(job.pk)])
        except Exception:
            # The broker's client raises many kinds; the row is there, so nothing is lost.
            logger.warning("Job %s was not published: the broker is away.", job.pk)

    transaction.on_commit(send)


def queue_again(*, job: Job) -> None:
    """Give a failed job all its attempts anew; call it in the team's scope.

    Raises ConflictError when it has not failed.
    """
    failed = Job.objects.filter(team_id=job.team_id, pk=job.pk, state=Job.State.FAILED)
    if not failed.update(state=Job.State.QUEUED, attempts=0, lease_until=None, finished_at=None):
        raise ConflictError("Only a failed job can be run again.")
    publish(job)


def run_job(*, team_id: UUID, job_id: UUID, tools: Tools) -> bool:
    """Run a job unless somebody else does or did; returns whether this call finished it.

    The memories and the job's end are one transaction, guarded by the claim: a run that lost its
    lease to another writes nothing.
    """
    claim = _claim(team_id=team_id, job_id=job_id)
    if claim is None:
        return False
    try:
        return _run_claimed(team_id=team_id, job_id=job_id, claim=claim, tools=tools)
    except DatabaseError:
        # The lease ends by itself and the sweep tries again.
        raise
    except Exception as error:
        _note_failure(team_id=team_id, job_id=job_id, claim=claim, error=error)
        raise


def extract_now(
    *, viewer: Viewer, conversation_id: UUID, tools: Tools, is_capped: bool = True
) -> ExtractionCounts:
    """Extract what is left of a conversation and wait for what others are extracting.

    The answer covers every extraction of this conversation that no earlier call has reported,
    those that began by themselves included. Raises NotFoundError for an invisible conversation
    and ConflictError when others are still at work after EXTRACT_WAIT_SECONDS.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        queue_extraction(conversation=conversation, is_capped=is_capped)
        Job.objects.filter(
            team_id=viewer.team_id, conversation=conversation, state=Job.State.FAILED
        ).update(state=Job.State.QUEUED, attempts=0, lease_until=None)
    deadline = time.monotonic() + settings.EXTRACT_WAIT_SECONDS
    while True:
        unfinished = _unfinished_jobs(viewer.team_id, conversation_id)
        if not unfinished:
            return _report(viewer, conversation_id, tools)
        ran = [run_job(team_id=viewer.team_id, job_id=job_id, tools=tools) for job_id in unfinished]
        if not any(ran):
            if time.monotonic() > deadline:
                raise ConflictError("The extraction is still running; ask again in a moment.")
            time.sleep(_POLL_SECONDS)


def start_extraction(*, viewer: Viewer, conversation_id: UUID) -> Job:
    """Queue what is left of a conversation and return its job, or the latest when nothing is left.

    Raises NotFoundError for an invisible conversation and ConflictError for one without messages.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        job = queue_extraction(conversation=conversation)
        if job is not None:
            publish(job)
            return job
        latest = Job.objects.filter(team_id=viewer.team_id, conversation_id=conversation_id).first()
        if latest is None:
            raise ConflictError("The conversation has no messages to extract yet.")
        return latest


def visible_conversation(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """The conversation, locked; NotFoundError when the viewer may not see it."""
    conversation = lock_conversation(team_id=viewer.team_id, conversation_id=conversation_id)
    if viewer.agent_id is not None and conversation.agent_id != viewer.agent_id:
        raise NotFoundError("There is no such conversation.")
    return conversation


def overdue_jobs(*, team_id: UUID, now: datetime, limit: int = 100) -> list[UUID]:
    """Jobs that wait or whose run has lost its lease, oldest first; call it in scope."""
    waiting = Q(state=Job.State.QUEUED) & (Q(lease_until=None) | Q(lease_until__lt=now))
    lost = Q(state=Job.State.RUNNING, lease_until__lt=now)
    rows = Job.objects.filter(waiting | lost, team_id=team_id).order_by("id")
    return list(rows.values_list("id", flat=True)[:limit])


def _claim(*, team_id: UUID, job_id: UUID) -> UUID | None:
    """Take the job by one UPDATE that must change exactly one row."""
    now = timezone.now()
    claim = uuid4()
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    with team_scope(team_ids=[team_id], actor="task:extract"):
        taken = Job.objects.filter(free, team_id=team_id, id=job_id).update(
            state=Job.State.RUNNING,
            claim=claim,
            lease_until=now + timedelta(seconds=settings.JOB_LEASE_SECONDS),
            attempts=F("attempts") + 1,
        )
    return claim if taken else None


def _run_claimed(*, team_id: UUID, job_id: UUID, claim: UUID, tools: Tools) -> bool:
    with team_scope(team_ids=[team_id], actor="task:extract"):
        job = Job.objects.select_related("conversation__agent", "conversation__end_user").get(
            team_id=team_id, id=job_id
        )
        source = extraction.load_range(
            conversation=job.conversation, first=job.from_position, last=job.to_position
        )
    with kept_lease(team_id=team_id, job_id=job_id, claim=claim):
        candidates = extraction.find_candidates(source=source, tools=tools)
        screened = screen(source=source, candidates=candidates, capped=job.is_capped)
        drafts = extraction.drafts_of(
            source=source, candidates=screened.candidates, extractor=tools.extractor.name
        )
        prepared = prepare(drafts=drafts, tools=tools)
    viewer = Viewer(team_id=team_id, actor="task:extract")
    with team_scope(
        team_ids=[team_id],
        actor=viewer.actor,
        reason=f"extracted from messages {job.from_position} to {job.to_position}",
        conversation_id=job.conversation_id,
    ):
        mine = Job.objects.select_for_update().filter(
            team_id=team_id, id=job_id, state=Job.State.RUNNING, claim=claim
        )
        if not mine.exists():
            return False
        written = prepared
        if job.is_capped:
            room = room_today(
                team_id=team_id, end_user_id=job.conversation.end_user_id, now=timezone.now()
            )
            written = most_important(prepared, room)
        results = store(viewer=viewer, prepared=written, tools=tools)
        record_events(
            team_id=team_id,
            events=[*screened.events, *store_events(prepared=prepared, results=results)],
        )
        counts = extraction.count_results(
            candidates=candidates, results=results, extractor=tools.extractor.name
        )
        Job.objects.filter(team_id=team_id, id=job_id).update(
            state=Job.State.DONE,
            result=counts.as_json(),
            error="",
            claim=None,
            lease_until=None,
            finished_at=timezone.now(),
        )
    return True


def _note_failure(*, team_id: UUID, job_id: UUID, claim: UUID, error: Exception) -> None:
    """Queue the job again after a pause that doubles, or give it up after the last attempt."""
    logger.exception("Extraction job %s failed.", job_id)
    now = timezone.now()
    with team_scope(team_ids=[team_id], actor="task:extract"):
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


def _unfinished_jobs(team_id: UUID, conversation_id: UUID) -> list[UUID]:
    with team_scope(team_ids=[team_id], actor="task:extract"):
        rows = Job.objects.filter(
            team_id=team_id, conversation_id=conversation_id, state__in=_UNFINISHED
        )
        return list(rows.order_by("id").values_list("id", flat=True))


def _report(viewer: Viewer, conversation_id: UUID, tools: Tools) -> ExtractionCounts:
    total = ExtractionCounts(extractor=tools.extractor.name)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        jobs = Job.objects.select_for_update().filter(
            team_id=viewer.team_id,
            conversation_id=conversation_id,
            state=Job.State.DONE,
            reported_at=None,
        )
        for job in jobs.order_by("id"):
            total = extraction.add_counts(total, extraction.counts_from_json(job.result))
            job.reported_at = timezone.now()
            job.save(update_fields=["reported_at"])
    return total
