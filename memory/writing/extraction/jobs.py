"""Extraction jobs as rows: made from a conversation's unread messages, found again when due."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from memory.domain.audience import Viewer
from memory.models import Job
from memory.writing.background import send_after_commit
from teams.errors import ConflictError, NotFoundError
from teams.models import Conversation, Message
from teams.services.conversations import lock_conversation
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import team_scope

ACTOR = "task:extract"
RUN_JOB_TASK = "memory.tasks.run_extraction_jobs"
# The task of each kind of job; satellites add theirs.
TASKS: dict[str, str] = {Job.Kind.EXTRACT.value: RUN_JOB_TASK}
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)
# They are not tried again unless somebody says so.
ENDED_BADLY = (Job.State.FAILED, Job.State.SET_ASIDE)
_NOT_ALL_DONE = Q(state__in=UNFINISHED) | Q(state=Job.State.DONE, left_out__gt=0)


@dataclass(frozen=True, slots=True)
class Annotations:
    """Additions to every memory of a job: `tags` beside its own, and an end at the latest.

    Secrets in the tags are masked already; `valid_to` is aware, None for no end.
    """

    tags: tuple[str, ...] = ()
    valid_to: datetime | None = None


# -- making jobs -----------------------------------------------------------------------------


def queue_extraction(
    *,
    conversation: Conversation,
    is_capped: bool = True,
    last: int | None = None,
    annotations: Annotations | None = None,
) -> Job | None:
    """Makes a job of the messages that have none, all or those up to `last`; None without any.

    `conversation` must be locked. The workers are not told.
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


def queue_and_publish(
    *, conversation: Conversation, annotations: Annotations | None = None
) -> None:
    """Queues the unread messages of a locked conversation for the workers."""
    if queue_extraction(conversation=conversation, annotations=annotations) is not None:
        publish(team_id=conversation.team_id)


def start_extraction(*, viewer: Viewer, conversation_id: UUID) -> Job:
    """Queues the unread messages of a conversation, and its failed jobs, for the workers.

    Returns the unfinished job that reaches furthest, or the latest when all are done. Raises
    NotFoundError for an invisible conversation, ConflictError for one without messages and
    ForbiddenError where memory is switched off.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        require_memory(flags_of_id(team_id=viewer.team_id))
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        queue_and_publish(conversation=conversation)
    revive_failed(team_id=viewer.team_id, conversation_id=conversation_id)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        jobs = Job.objects.extractions().filter(
            team_id=viewer.team_id, conversation_id=conversation_id
        )
        furthest = jobs.order_by("-to_position")
        job = furthest.filter(state__in=UNFINISHED).first() or furthest.first()
    if job is None:
        raise ConflictError("The conversation has no messages to extract yet.")
    return job


def queue_rested(*, team_id: UUID, now: datetime, limit: int = 100) -> None:
    """Queues the unread messages of conversations without one for CONVERSATION_REST_MINUTES.

    At most so many conversations, the oldest first, each in a transaction of its own; the next call
    goes on. None where the team has memory switched off.
    """
    before = now - timedelta(minutes=settings.CONVERSATION_REST_MINUTES)
    latest = Message.objects.filter(
        team_id=team_id, conversation=OuterRef("pk"), position=OuterRef("last_position")
    )
    with team_scope(team_ids=[team_id], actor=ACTOR):
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
        with suppress(NotFoundError), team_scope(team_ids=[team_id], actor=ACTOR):
            queue_and_publish(
                conversation=lock_conversation(team_id=team_id, conversation_id=conversation_id)
            )


def visible_conversation(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """Returns the conversation, locked; NotFoundError when the viewer may not see it."""
    conversation = lock_conversation(team_id=viewer.team_id, conversation_id=conversation_id)
    is_own = viewer.agent_id in (None, conversation.agent_id)
    if not (is_own and viewer.has_project(conversation.project_id)):
        raise NotFoundError("There is no such conversation.")
    return conversation


# -- once more -------------------------------------------------------------------------------


def queue_again(*, job: Job) -> None:
    """Gives a failed or skipped job all its attempts anew; call it in the team's scope.

    Raises ConflictError for any other job.
    """
    if not _revive(Job.objects.filter(team_id=job.team_id, pk=job.pk, state__in=ENDED_BADLY)):
        raise ConflictError("Only a job that failed or was skipped can be run again.")
    publish(team_id=job.team_id, kind=job.kind)


def revive_failed(*, team_id: UUID, conversation_id: UUID) -> None:
    """Gives the failed jobs of a conversation, not the skipped ones, all their attempts anew.

    Call it without a lock on the conversation: a run locks its job first and that afterwards.
    """
    jobs = Job.objects.extractions().filter(team_id=team_id, conversation_id=conversation_id)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if _revive(jobs.filter(state=Job.State.FAILED)):
            publish(team_id=team_id)


def _revive(jobs: QuerySet[Job, Job]) -> int:
    return jobs.update(state=Job.State.QUEUED, attempts=0, finished_at=None, due_at=Now())


# -- the queue -------------------------------------------------------------------------------


def publish(*, team_id: UUID, kind: str = Job.Kind.EXTRACT.value) -> None:
    """Gives the team a place in the workers' queue after the commit, unless it has one.

    So a team that queues much does not keep others waiting.
    """
    send_after_commit(TASKS[kind], team_id)


def due_jobs(
    *, team_id: UUID, now: datetime, kind: Job.Kind = Job.Kind.EXTRACT, limit: int = 100
) -> list[Job]:
    """Returns the due jobs, of each conversation the first unfinished one, the longest due first.

    A job that is under way counts as due: its worker may have died. None where the team has memory,
    or what the jobs make, switched off.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not does_jobs(team_id=team_id, kind=kind):
            return []
        rows = Job.objects.filter(is_due(now=now), team_id=team_id, kind=kind)
        return list(rows.order_by("due_at", "id")[:limit])


def is_due(*, now: datetime) -> Q:
    """Unfinished jobs, and candidates kept out by a cap, that may be worked on at `now`.

    Of one conversation and kind the earlier messages come first.
    """
    earlier = Job.objects.filter(
        team_id=OuterRef("team_id"),
        conversation_id=OuterRef("conversation_id"),
        kind=OuterRef("kind"),
        from_position__lt=OuterRef("from_position"),
        state__in=UNFINISHED,
    )
    return _NOT_ALL_DONE & Q(~Exists(earlier), due_at__lte=now)


def does_jobs(*, team_id: UUID, kind: str) -> bool:
    """Returns whether the team has jobs of the kind done at present; call it in scope."""
    flags = flags_of_id(team_id=team_id)
    return flags.memory and (kind != Job.Kind.EPISODE or flags.episodes)
