"""Extraction jobs and their leases: each message of a conversation belongs to exactly one job."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from memory.domain.audience import Viewer
from memory.models import Job
from memory.services import leases
from teams.errors import ConflictError, NotFoundError
from teams.models import Conversation, Message
from teams.services.conversations import lock_conversation
from teams.services.flags import flags_of_id, require_memory
from teams.tenancy import team_scope

RUN_JOB_TASK = "memory.tasks.run_extraction_job"
RUN_EPISODE_TASK = "memory.satellites.episodes.tasks.run_episode_job"
_TASKS = {Job.Kind.EXTRACT.value: RUN_JOB_TASK, Job.Kind.EPISODE.value: RUN_EPISODE_TASK}
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)
# Jobs that are done but for what the caps kept out.
LEFT = Q(state=Job.State.DONE, left_out__gt=0) & ~Q(waiting=[])
# They are not tried again unless somebody says so.
ENDED_BADLY = (Job.State.FAILED, Job.State.SET_ASIDE)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What every memory of a job is given: `tags` beside its own, and an end at the latest.

    Secrets in the tags are masked already; `valid_to` is aware, None for no end.
    """

    tags: tuple[str, ...] = ()
    valid_to: datetime | None = None


def queue_extraction(
    *,
    conversation: Conversation,
    is_capped: bool = True,
    last: int | None = None,
    annotations: Annotations | None = None,
) -> Job | None:
    """Give the messages without a job, all or those up to `last`, to a new one; None without any.

    `conversation` must be locked. The job is not published.
    """
    given = annotations or Annotations()
    first = conversation.extracted_position + 1
    last = conversation.last_position if last is None else last
    if first > last:
        return None
    job = Job.objects.create(
        team_id=conversation.team_id,
        conversation=conversation,
        from_position=first,
        to_position=last,
        is_capped=is_capped,
        tags=list(given.tags),
        valid_to=given.valid_to,
    )
    conversation.extracted_position = last
    conversation.save(update_fields=["extracted_position"])
    return job


def publish(job: Job) -> None:
    """Tell the workers of a job once the transaction commits; the sweep finds what gets lost."""

    def send() -> None:
        try:
            current_app.send_task(_TASKS[job.kind], args=[str(job.team_id), str(job.pk)])
        except Exception:
            # The broker's client raises many kinds; the row is there, so nothing is lost.
            logger.warning("Job %s was not published: the broker is away.", job.pk)

    transaction.on_commit(send)


def queue_again(*, job: Job) -> None:
    """Give a job that failed or was set aside all its attempts anew; call it in the team's scope.

    Raises ConflictError when it is neither.
    """
    if not _revive(Job.objects.filter(team_id=job.team_id, pk=job.pk, state__in=ENDED_BADLY)):
        raise ConflictError("Only a job that failed or was set aside can be run again.")
    publish(job)


def revive_failed(*, team_id: UUID, conversation_id: UUID) -> list[Job]:
    """Give the failed jobs of a conversation all their attempts anew, not those set aside.

    Call it without a lock on the conversation: a run locks its job first and that afterwards.
    """
    jobs = Job.objects.extractions().filter(team_id=team_id, conversation_id=conversation_id)
    with team_scope(team_ids=[team_id], actor="task:extract"):
        failed = list(jobs.filter(state=Job.State.FAILED).order_by("id"))
        _revive(jobs.filter(pk__in=[job.pk for job in failed], state=Job.State.FAILED))
    return failed


def start_extraction(*, viewer: Viewer, conversation_id: UUID) -> Job:
    """Queue what is left of a conversation and publish it, what had been given up included.

    Returns the job that reaches furthest among those under way, or the latest when all is done.
    Raises NotFoundError for an invisible conversation, ConflictError for one without messages and
    ForbiddenError where memory is switched off.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        require_memory(flags_of_id(team_id=viewer.team_id))
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        queue_and_publish(conversation=conversation)
    publish_failed_again(team_id=viewer.team_id, conversation_id=conversation_id)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        jobs = Job.objects.extractions().filter(
            team_id=viewer.team_id, conversation_id=conversation_id
        )
        furthest = jobs.order_by("-to_position")
        job = furthest.filter(state__in=UNFINISHED).first() or furthest.first()
    if job is None:
        raise ConflictError("The conversation has no messages to extract yet.")
    return job


def queue_and_publish(
    *, conversation: Conversation, annotations: Annotations | None = None
) -> None:
    """Queue what is left of a locked conversation for the workers."""
    job = queue_extraction(conversation=conversation, annotations=annotations)
    if job is not None:
        publish(job)


def queue_rested(*, team_id: UUID, now: datetime, limit: int = 100) -> None:
    """Queue what waits in conversations at rest: without a message for CONVERSATION_REST_MINUTES.

    At most so many conversations, the oldest first, each in a transaction of its own; the next call
    goes on. None where the team has memory switched off: they wait until it is on again.
    """
    before = now - timedelta(minutes=settings.CONVERSATION_REST_MINUTES)
    latest = Message.objects.filter(
        team_id=team_id, conversation=OuterRef("pk"), position=OuterRef("last_position")
    )
    with team_scope(team_ids=[team_id], actor="task:extract"):
        if not flags_of_id(team_id=team_id).memory:
            return
        at_rest = Conversation.objects.filter(
            Exists(latest.filter(received_at__lte=before)),
            team_id=team_id,
            extracted_position__lt=F("last_position"),
        )
        ids = list(at_rest.order_by("id").values_list("id", flat=True)[:limit])
    for conversation_id in ids:
        # Its person may have been erased in between.
        with suppress(NotFoundError), team_scope(team_ids=[team_id], actor="task:extract"):
            queue_and_publish(
                conversation=lock_conversation(team_id=team_id, conversation_id=conversation_id)
            )


def publish_failed_again(*, team_id: UUID, conversation_id: UUID) -> None:
    """Revive what had been given up of a conversation and tell the workers."""
    for job in revive_failed(team_id=team_id, conversation_id=conversation_id):
        publish(job)


def visible_conversation(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """The conversation, locked; NotFoundError when the viewer may not see it."""
    conversation = lock_conversation(team_id=viewer.team_id, conversation_id=conversation_id)
    is_own = viewer.agent_id in (None, conversation.agent_id)
    if not (is_own and viewer.has_project(conversation.project_id)):
        raise NotFoundError("There is no such conversation.")
    return conversation


def overdue_jobs(
    *, team_id: UUID, now: datetime, limit: int = 100, kind: Job.Kind = Job.Kind.EXTRACT
) -> list[UUID]:
    """Jobs that wait, have candidates that wait, or lost the lease of their run; call it in scope.

    Oldest first.

    None where the team has memory, or what they make, switched off: they wait until it is on again.
    """
    if not does_jobs(team_id=team_id, kind=kind):
        return []
    rows = Job.objects.filter(is_waiting(now=now), team_id=team_id, kind=kind).order_by("id")
    return list(rows.values_list("id", flat=True)[:limit])


def is_waiting(*, now: datetime) -> Q:
    """Jobs that wait and whose pause is over, or that lost the lease of their run."""
    return (Q(state__in=UNFINISHED) | LEFT) & leases.is_over(now=now)


def does_jobs(*, team_id: UUID, kind: Job.Kind) -> bool:
    """Whether the team has jobs of the kind done at present; call it in scope."""
    flags = flags_of_id(team_id=team_id)
    return flags.memory and (kind is not Job.Kind.EPISODE or flags.episodes)


def _revive(jobs: QuerySet[Job, Job]) -> int:
    return jobs.update(
        state=Job.State.QUEUED, attempts=0, lease_until=None, finished_at=None, queued_at=Now()
    )
