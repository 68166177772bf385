"""Consolidation runs: starts, publishes and ends them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db.models import F, Q, QuerySet

from memory.domain.audience import Viewer
from memory.satellites.lifecycle.models import ConsolidationRun, JudgedPair, Step
from memory.satellites.lifecycle.steps import ACTOR, KEPT
from memory.writing.background import pause_after, send_after_commit
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.services.people import all_team_ids
from teams.services.team_settings import flags_of_id, lifecycle_settings_of, require_memory
from teams.tenancy import hold_lock, team_scope

RUN_TASK = "memory.satellites.lifecycle.tasks.run_consolidation"
_State = ConsolidationRun.State
_UNFINISHED = (_State.QUEUED, _State.RUNNING)
_HOURS = 24

logger = logging.getLogger(__name__)


def start_run(
    *, viewer: Viewer, now: datetime, steps: Sequence[Step] = (), is_dry: bool = False
) -> ConsolidationRun:
    """Queues a run over what the viewer's person and project have, or over all of the team.

    Without `steps` all run that the team has not switched off. Raises ConflictError while another
    run of the team is under way, InvalidError for a step that is switched off, and ForbiddenError
    where the team has memory switched off.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        return _start(viewer, now, steps, is_dry)


def _start(viewer: Viewer, now: datetime, steps: Sequence[Step], is_dry: bool) -> ConsolidationRun:
    require_memory(flags_of_id(team_id=viewer.team_id))
    hold_lock(f"consolidation|{viewer.team_id}")
    other = ConsolidationRun.objects.filter(team_id=viewer.team_id, state__in=_UNFINISHED).first()
    if other is not None:
        raise ConflictError(f"The run {other.pk} is under way; wait until it is done.")
    chosen = lifecycle_settings_of(team_id=viewer.team_id)
    for step in steps:
        if not chosen.does(step.value):
            raise InvalidError(f"The team has '{step}' switched off.", field="steps")
    run = ConsolidationRun.objects.create(
        team_id=viewer.team_id,
        steps=[
            step.value for step in Step if (step in steps if steps else chosen.does(step.value))
        ],
        end_user_id=viewer.end_user_id,
        project_id=viewer.project_id,
        is_dry=is_dry,
        actor=viewer.actor,
        created_at=now,
        due_at=now,
    )
    publish(run)
    return run


def start_due_runs(*, now: datetime) -> int:
    """Starts the daily run of each team whose hour it is, and publishes interrupted runs.

    The hour (UTC) follows from the team's id, so that teams do not start at once. Returns how many
    were started. A team whose hour was missed gets its run at the next call of the day.
    """
    started = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = ConsolidationRun.objects.filter(team_id=team_id)
            for run in rows.filter(state__in=_UNFINISHED, due_at__lte=now):
                publish(run)
            hour = crc32(team_id.bytes) % _HOURS
            begins = now.replace(hour=hour, minute=0, second=0, microsecond=0)
            daily = rows.filter(actor=ACTOR, created_at__gte=begins)
            if now < begins or daily.exists() or not flags_of_id(team_id=team_id).memory:
                continue
            try:
                _start(Viewer(team_id=team_id, actor=ACTOR), now, (), is_dry=False)
            except ConflictError:
                continue  # the next call finds it done
            started += 1
    return started


def publish(run: ConsolidationRun) -> None:
    """Sends a run to the workers once the transaction commits; the next sweep finds lost ones."""
    send_after_commit(RUN_TASK, run.team_id, run.pk)


def begin_run(*, team_id: UUID, run_id: UUID, now: datetime) -> ConsolidationRun | None:
    """Counts an attempt at a run that is due; None for any other. Call it with the run's lock."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = ConsolidationRun.objects.filter(
            team_id=team_id, id=run_id, state__in=_UNFINISHED, due_at__lte=now
        )
        rows.update(state=_State.RUNNING, attempts=F("attempts") + 1)
        return under_way(team_id=team_id, run_id=run_id).first()


def under_way(*, team_id: UUID, run_id: UUID) -> QuerySet[ConsolidationRun, ConsolidationRun]:
    """Returns the run, while it is running."""
    return ConsolidationRun.objects.filter(team_id=team_id, id=run_id, state=_State.RUNNING)


def hand_on(*, team_id: UUID, run_id: UUID) -> None:
    """Gives the run back to the workers, who go on where it got to."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        under_way(team_id=team_id, run_id=run_id).update(state=_State.QUEUED, attempts=0)


def note_failure(*, run: ConsolidationRun, error: Exception, now: datetime) -> None:
    """Lets the run wait for a pause that doubles, or gives it up after the last attempt."""
    logger.exception("Consolidation %s failed.", run.pk)
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        mine = under_way(team_id=run.team_id, run_id=run.pk)
        attempts = mine.values_list("attempts", flat=True).first() or 0
        given_up = attempts >= settings.JOB_MAX_ATTEMPTS
        mine.update(
            state=_State.FAILED if given_up else _State.QUEUED,
            error=type(error).__name__,
            due_at=now + pause_after(attempts),
            finished_at=now if given_up else None,
        )


def finish(*, run: ConsolidationRun, now: datetime) -> None:
    """Ends a run whose plan is carried out, and drops outdated judgements; in scope.

    A dry run drops its own as well, so that they count in nobody's limit of the day.
    """
    outdated = Q(judged_at__lte=run.created_at - KEPT)
    if run.is_dry:
        outdated |= Q(judged_at=run.created_at)
    JudgedPair.objects.filter(outdated, team_id=run.team_id).delete()
    under_way(team_id=run.team_id, run_id=run.pk).update(
        state=_State.DONE, error="", finished_at=now
    )


def runs_of(*, team_id: UUID) -> QuerySet[ConsolidationRun, ConsolidationRun]:
    """Returns the runs of the team with whom they are about, newest first."""
    return ConsolidationRun.objects.filter(team_id=team_id).select_related("end_user", "project")


def run_of(*, team_id: UUID, run_id: UUID, is_locked: bool = False) -> ConsolidationRun:
    """Returns the run, locked on request; call it in the team's scope. Raises NotFoundError."""
    rows = runs_of(team_id=team_id).filter(pk=run_id)
    run = (rows.select_for_update(of=("self",)) if is_locked else rows).first()
    if run is None:
        raise NotFoundError("There is no such consolidation run.")
    return run
