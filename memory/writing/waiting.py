"""Extraction on request: a caller works on what is left and waits for other workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.models import Job
from memory.understanding.tools import Tools
from memory.writing.jobs import (
    ACTOR,
    UNFINISHED,
    publish,
    queue_extraction,
    revive_failed,
    visible_conversation,
)
from memory.writing.outcomes import ExtractionCounts, add_counts, counts_from_json
from memory.writing.pipeline import run_job
from routing.clients.protocol import ModelError
from teams.errors import ConflictError, DomainError
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import team_scope

_FIRST_POLL_SECONDS = 0.05
_LAST_POLL_SECONDS = 0.5


class StillExtractingError(ConflictError):
    """Time is up and `job`, the one that reaches furthest, goes on in the background."""

    def __init__(self, message: str, *, job: Job) -> None:
        super().__init__(message)
        self.job = job


def extract_now(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    tools: Tools,
    is_capped: bool = True,
    seconds: float | None = None,
) -> ExtractionCounts:
    """Extracts what is left of a conversation and waits for what others are extracting.

    The answer covers every extraction of this conversation that no earlier call has reported.
    Raises NotFoundError for an invisible conversation, ForbiddenError where memory is switched
    off, and StillExtractingError when there is more to do after `seconds` (EXTRACT_WAIT_SECONDS).
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        require_memory(flags_of_id(team_id=viewer.team_id))
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        queue_extraction(conversation=conversation, is_capped=is_capped)
    revive_failed(team_id=viewer.team_id, conversation_id=conversation_id)
    jobs = Job.objects.extractions().filter(team_id=viewer.team_id, conversation_id=conversation_id)
    finish(
        team_id=viewer.team_id,
        pending=lambda: list(jobs.filter(state__in=UNFINISHED).order_by("id")),
        tools=tools,
        until=time.monotonic() + (settings.EXTRACT_WAIT_SECONDS if seconds is None else seconds),
        outlasts_failures=True,
    )
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        total = report(jobs=jobs)
    return replace(total, extractor=total.extractor or tools.extractor.name)


def finish(
    *,
    team_id: UUID,
    pending: Callable[[], Sequence[Job]],
    tools: Tools,
    until: float,
    outlasts_failures: bool = False,
) -> None:
    """Runs the `pending` jobs until there are none; waits for those that others run.

    `pending` is called in the team's scope, `until` is a time of `time.monotonic`. After it, at
    the end of the present window, the rest goes to the workers and StillExtractingError is raised.
    One window is tried in any case; a job that failed has its pause first. Raises what a run
    raises; with `outlasts_failures` only errors of services that are away, and a job that fails is
    tried again until its messages are skipped.
    """
    tried = False
    pause = _FIRST_POLL_SECONDS
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            jobs = pending()
        if not jobs:
            return
        ran = False
        for job in jobs:
            left = until - time.monotonic()
            if left > 0 or not tried:
                tried = True
                try:
                    ran |= run_job(team_id=team_id, job_id=job.pk, tools=tools, seconds=left)
                except (OperationalError, InterfaceError, DomainError, ModelError):
                    raise
                except Exception:
                    # It is logged, and the job knows how often it failed.
                    if not outlasts_failures:
                        raise
                    ran = True
        if time.monotonic() >= until:
            _hand_over(team_id, pending)
        elif not ran:
            time.sleep(pause)
            pause = min(2 * pause, _LAST_POLL_SECONDS)


def _hand_over(team_id: UUID, pending: Callable[[], Sequence[Job]]) -> None:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        left = pending()
        if left:
            publish(team_id=team_id)
    if left:
        raise StillExtractingError(
            "The extraction goes on in the background; ask again when its job is done.",
            job=max(left, key=lambda job: job.to_position),
        )


def report(*, jobs: QuerySet[Job, Job]) -> ExtractionCounts:
    """Returns the results of finished jobs that no caller has received; call it in scope.

    A warning names each skipped range.
    """
    total = ExtractionCounts(warnings=skipped_warnings(jobs=jobs))
    done = jobs.filter(state=Job.State.DONE, reported_at=None).select_for_update()
    for job in done.order_by("id"):
        total = add_counts(total, counts_from_json(job.result))
        job.reported_at = timezone.now()
        job.save(update_fields=["reported_at"])
    return total


def skipped_warnings(*, jobs: QuerySet[Job, Job]) -> tuple[str, ...]:
    """Returns a sentence for each range of messages that is skipped; call it in scope."""
    rows = jobs.filter(state=Job.State.SET_ASIDE).order_by("from_position")
    return tuple(
        f"Messages {first} to {last} could not be extracted and are skipped until an admin retries."
        for first, last in rows.values_list("from_position", "to_position")
    )
