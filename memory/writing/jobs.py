"""Extraction jobs as rows: made from unread messages, run one at a time, retried on failure."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from audit.services.events import record_events
from memory.domain.audience import Viewer
from memory.models import Job
from memory.writing.background import exclusively, leave_queue, pause_after, send_after_commit
from memory.writing.outcomes import job_event
from memory.writing.windows import window_end
from routing.clients.protocol import FailureKind, ModelError
from teams.errors import ConflictError, NotFoundError, UnavailableError
from teams.models import Conversation, Message
from teams.services.conversations import lock_conversation
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import broke_off, database_now, team_scope

ACTOR = "task:extract"
RUN_JOB_TASK = "memory.tasks.run_extraction_jobs"
# The task of each kind of job; satellites add theirs.
TASKS: dict[str, str] = {Job.Kind.EXTRACT.value: RUN_JOB_TASK}
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)
# Retried on request alone.
ENDED_BADLY = (Job.State.FAILED, Job.State.SET_ASIDE)
_NOT_ALL_DONE = Q(state__in=UNFINISHED) | Q(state=Job.State.DONE, left_out__gt=0)
_KILLED = "The worker was killed, lost PostgreSQL, or did not end in time."
_AWAY = " (A service was away.)"
# Attempts of a window before its messages are read one by one.
_WINDOW_ATTEMPTS = 2
# PostgreSQL may be back by then, as after a restart; later the next run finds the failure.
_NOTE_PAUSES = (0.2, 1.0, 2.0)
# The class of SQLSTATE for statements beyond PostgreSQL's limits: the messages are to blame.
_BEYOND_LIMITS = "54"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Annotations:
    """Tags and an end for every memory of a job, beside its own.

    Secrets in the tags are masked already; `valid_to` is aware, None for no end.
    """

    tags: tuple[str, ...] = ()
    valid_to: datetime | None = None


# -- making jobs -----------------------------------------------------------------------------


def visible_conversation(*, viewer: Viewer, conversation_id: UUID) -> Conversation:
    """Returns the conversation, locked; NotFoundError when the viewer may not see it."""
    conversation = lock_conversation(team_id=viewer.team_id, conversation_id=conversation_id)
    is_own = viewer.agent_id in (None, conversation.agent_id)
    if not (is_own and viewer.has_project(conversation.project_id)):
        raise NotFoundError("There is no such conversation.")
    return conversation


def queue_extraction(
    *,
    conversation: Conversation,
    is_capped: bool = True,
    last: int | None = None,
    annotations: Annotations | None = None,
) -> Job | None:
    """Makes a job of the messages that have none, up to `last` if given; None without any.

    `conversation` must be locked. The workers are not notified.
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

    At most `limit` conversations, oldest first, each in a transaction of its own; none where the
    team has memory switched off.
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
    return jobs.update(state=Job.State.QUEUED, attempts=0, error="", finished_at=None, due_at=Now())


# -- the queue -------------------------------------------------------------------------------


def publish(*, team_id: UUID, kind: str = Job.Kind.EXTRACT.value) -> None:
    """Gives the team a place in the workers' queue after the commit, unless it has one.

    So a team that queues many jobs does not delay others.
    """
    send_after_commit(TASKS[kind], team_id)


def due_jobs(
    *, team_id: UUID, now: datetime, kind: Job.Kind = Job.Kind.EXTRACT, limit: int = 100
) -> list[Job]:
    """Returns the due jobs, of each conversation the first unfinished one, the longest due first.

    A running job counts as due: its worker may have died. None where the team has memory, or the
    kind of job, switched off.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not does_jobs(team_id=team_id, kind=kind):
            return []
        rows = Job.objects.filter(is_due(now=now), team_id=team_id, kind=kind)
        return list(rows.order_by("due_at", "id")[:limit])


def is_due(*, now: datetime) -> Q:
    """Returns the condition of unfinished jobs, and of jobs with candidates that a cap left out.

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
    """Returns whether the team has jobs of the kind switched on; call it in scope."""
    flags = flags_of_id(team_id=team_id)
    return flags.memory and (kind != Job.Kind.EPISODE or flags.episodes)


# -- runs ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """A run of a job that holds its lock; `job` is the row as this run wrote it last."""

    job: Job


def work_for_team(
    *, team_id: UUID, kind: Job.Kind, run: Callable[[Run, float], object], seconds: float
) -> None:
    """Runs due jobs of the team for `seconds`, then gives it a new place in the queue.

    `run` also gets the time of `time.monotonic` by which to end. While there is more than one job,
    the team has a place for another worker too.
    """
    leave_queue(TASKS[kind.value], team_id)
    until = time.monotonic() + seconds
    while True:
        jobs = due_jobs(team_id=team_id, kind=kind, now=database_now())
        if len(jobs) > 1:
            publish(team_id=team_id, kind=kind)
        if not any(_run_if_free(job, run, until) for job in jobs):
            return None
        if time.monotonic() >= until:
            return publish(team_id=team_id, kind=kind)


def _run_if_free(job: Job, run: Callable[[Run, float], object], until: float) -> bool:
    with taken(job=job) as mine:
        if mine is not None:
            run(mine, until)
    return mine is not None


@contextmanager
def taken(*, job: Job, clock: Callable[[], datetime] = database_now) -> Iterator[Run | None]:
    """Yields a run of the job; None where it is not due or its conversation has another run.

    The attempt is counted before any work, so that a killed worker's counts as well. An error in
    the block is noted in the job and raised.
    """
    with exclusively(f"job|{job.kind}|{job.conversation_id}") as is_free:
        begun = _begin(job, clock()) if is_free else None
        run = Run(begun) if begun else None
        try:
            yield run
        except Exception as error:
            if run is not None:
                _note_failure(run.job, error, clock)
            raise


def _begin(job: Job, now: datetime) -> Job | None:
    with team_scope(team_ids=[job.team_id], actor=ACTOR):
        if not does_jobs(team_id=job.team_id, kind=job.kind):
            return None
        rows = _locked(Job.objects.filter(is_due(now=now), team_id=job.team_id, pk=job.pk))
        mine = rows.first()
        if mine is None:
            return None
        if mine.state == Job.State.RUNNING:
            # Nobody holds its lock, so nobody could note how that run failed.
            was_away = mine.error.endswith(_AWAY)
            mine.error = _KILLED + (_AWAY if was_away else "")
            # A run that waits for a service is killed by a restart of the worker, too.
            is_spared = was_away and mine.attempts < settings.JOB_MAX_ATTEMPTS
            if not (is_spared or _narrow(mine, now)):
                mine.save()
                return None
        mine.state, mine.finished_at = Job.State.RUNNING, None
        mine.attempts += 1
        mine.save()
        return mine


def unchanged(*, job: Job) -> Job | None:
    """Returns the job, locked, if no other run began it or went on with it; call it in scope.

    So each message is extracted once, should the lock of a run be lost before the run ends.
    """
    return _locked(
        Job.objects.filter(
            team_id=job.team_id,
            pk=job.pk,
            state=Job.State.RUNNING,
            attempts=job.attempts,
            done_position=job.done_position,
            left_out=job.left_out,
        )
    ).first()


def _locked(rows: QuerySet[Job, Job]) -> QuerySet[Job, Job]:
    related = rows.select_related("conversation__agent", "conversation__end_user")
    return related.select_for_update(of=("self",))


# -- failures --------------------------------------------------------------------------------


def _note_failure(job: Job, error: Exception, clock: Callable[[], datetime]) -> None:
    """Queues the job again after a pause that doubles, narrowed to the messages that fail.

    While a service that it needs is away, PostgreSQL among them, nothing is narrowed: after the
    last attempt it fails, and any later extraction of the conversation retries it.
    """
    # Its text and traceback may hold what was said; the job keeps the text, in the database.
    logger.error("Job %s failed: %s.", job.pk, type(error).__name__)
    for pause in _NOTE_PAUSES:
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        try:
            return _note(job, error, clock())
        except DatabaseError:
            time.sleep(pause)
    logger.warning("That job %s failed could not be noted.", job.pk)
    return None


def _note(job: Job, error: Exception, now: datetime) -> None:
    with team_scope(team_ids=[job.team_id], actor=ACTOR):
        mine = unchanged(job=job)
        if mine is None:
            return
        is_away = _is_away(error)
        mine.error = f"{type(error).__name__}: {error}"[:2000] + (_AWAY if is_away else "")
        goes_on = _has_attempts(mine, now) if is_away else _narrow(mine, now)
        if goes_on:
            mine.state, mine.due_at = Job.State.QUEUED, now + pause_after(mine.attempts)
        mine.save()
        failed = job_event(job, status="error", error=type(error).__name__, given_up=not goes_on)
        record_events(team_id=job.team_id, events=[failed])


def _is_away(error: Exception) -> bool:
    """Returns whether a service failed, and no message is to blame."""
    if isinstance(error, ModelError):
        return error.kind in (FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED)
    if isinstance(error, OperationalError):
        return not (getattr(error.__cause__, "sqlstate", "") or "").startswith(_BEYOND_LIMITS)
    return isinstance(error, InterfaceError | UnavailableError) or broke_off(error)


def _has_attempts(job: Job, now: datetime) -> bool:
    """Returns whether the job may be tried again; if not, it failed."""
    if job.attempts < settings.JOB_MAX_ATTEMPTS:
        return True
    _end(job, Job.State.FAILED, now)
    return False


def _narrow(job: Job, now: datetime) -> bool:
    """Narrows a locked job to the messages that fail; returns whether it goes on.

    After two failures of a window its messages are read one by one. A message that fails then is
    skipped; after JOB_MAX_ATTEMPTS failures in a row the rest of the window is. Each skipped range
    becomes a job of its own, and so does what follows it, so that all other messages are extracted.
    A job that cannot be narrowed fails after JOB_MAX_ATTEMPTS. The caller saves the job.
    """
    first = max(job.from_position, job.done_position + 1)
    if job.kind != Job.Kind.EXTRACT or first > job.to_position:
        return _has_attempts(job, now)
    if job.attempts < _WINDOW_ATTEMPTS:
        return True
    last = window_end(job=job, first=first)
    if last > first:
        job.one_by_one_to = last
        return True
    if job.attempts >= settings.JOB_MAX_ATTEMPTS:
        last = max(last, job.one_by_one_to)
    _skip(job, first, last, now)
    return False


def _skip(job: Job, first: int, last: int, now: datetime) -> None:
    """Cuts the job into what is done, the messages `first` to `last`, and those behind them."""
    # Not why: the error may hold what was said.
    logger.error("Messages %s to %s of job %s are skipped.", first, last, job.pk)
    rest = _part(job, last + 1, job.to_position)
    # Without a success in between they are part of the same trouble.
    rest.attempts = job.attempts if last < job.one_by_one_to else 0
    job.one_by_one_to = last
    skipped = job
    if first > job.from_position:
        skipped = _part(job, first, last)
        skipped.error, skipped.attempts = job.error, job.attempts
        job.to_position, job.error = first - 1, ""
        _end(job, Job.State.DONE, now)
    skipped.to_position = last
    _end(skipped, Job.State.SET_ASIDE, now)
    job.save()
    if skipped is not job:
        skipped.save(force_insert=True)
    if rest.from_position <= rest.to_position:
        rest.save(force_insert=True)
        publish(team_id=job.team_id)


def _part(job: Job, first: int, last: int) -> Job:
    return Job(
        team_id=job.team_id,
        conversation_id=job.conversation_id,
        from_position=first,
        to_position=last,
        is_capped=job.is_capped,
        one_by_one_to=job.one_by_one_to,
        tags=job.tags,
        valid_to=job.valid_to,
    )


def _end(job: Job, state: Job.State, now: datetime) -> None:
    job.state, job.finished_at = state, now
