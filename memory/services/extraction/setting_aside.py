"""Messages whose extraction fails again and again are set aside, and the others go on."""

from __future__ import annotations

import logging
from datetime import datetime

from django.conf import settings

from memory.models import Job
from memory.services.extraction.jobs import publish
from memory.services.extraction.windows import window_end

# A window has so many attempts before its messages are read one by one. So has each message then,
# except that the first one's count goes on from the window's: it has one.
WINDOW_ATTEMPTS = 2

logger = logging.getLogger(__name__)


def isolate(*, job: Job, now: datetime) -> bool:
    """Narrow a job to what fails, after `job.attempts` failures in a row; whether it goes on.

    After two failures of a window its messages are read one by one. A message that fails then is
    set aside; with JOB_MAX_ATTEMPTS failures in a row all that is left of the window is. Each
    range that is set aside becomes a job of its own, and so does what follows it, so that all
    other messages are extracted. A job that cannot be narrowed is given up after JOB_MAX_ATTEMPTS.

    The job must be locked. Where it goes on the caller saves it.
    """
    first = max(job.from_position, job.done_position + 1)
    if job.kind != Job.Kind.EXTRACT or first > job.to_position:
        if job.attempts < settings.JOB_MAX_ATTEMPTS:
            return True
        _end(job, Job.State.FAILED, now)
        return False
    if job.attempts < WINDOW_ATTEMPTS:
        return True
    last = window_end(job=job, first=first)
    if last > first:
        job.one_by_one_to = last
        return True
    if job.attempts >= settings.JOB_MAX_ATTEMPTS:
        last = max(last, job.one_by_one_to)
    _set_aside(job, first, last, now)
    return False


def _set_aside(job: Job, first: int, last: int, now: datetime) -> None:
    """Cut the job into what is done, the messages `first` to `last`, and those behind them."""
    # Not why: the error may hold what was said.
    logger.error("Messages %s to %s of job %s are set aside.", first, last, job.pk)
    rest = aside = None
    if last < job.to_position:
        rest = _part(job, last + 1, job.to_position)
        # Without a success in between they are part of the same trouble.
        rest.attempts = job.attempts if last < job.one_by_one_to else 0
    job.one_by_one_to = last
    if first > job.from_position:
        aside = _part(job, first, last)
        aside.error, aside.attempts = job.error, job.attempts
        _end(aside, Job.State.SET_ASIDE, now)
        job.to_position, job.error = first - 1, ""
        _end(job, Job.State.DONE, now)
    else:
        job.to_position = last
        _end(job, Job.State.SET_ASIDE, now)
    job.save()
    for part in (aside, rest):
        if part is not None:
            part.save(force_insert=True)
    if rest is not None:
        publish(rest)


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
    job.claim = job.lease_until = None
