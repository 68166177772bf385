"""Consolidation runs: starts, plans and continues them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db.models import F, QuerySet

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun, JudgedPair
from memory.satellites.lifecycle.steps import KEPT, Step
from memory.understanding.tools import Tools
from memory.writing.background import pause_after, send_after_commit
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.services.people import all_team_ids
from teams.services.team_settings import flags_of_id, lifecycle_settings_of, require_memory
from teams.tenancy import hold_lock, team_scope

ACTOR = "task:consolidate"
RUN_TASK = "memory.satellites.lifecycle.tasks.run_consolidation"
UNFINISHED = (ConsolidationRun.State.QUEUED, ConsolidationRun.State.RUNNING)
HOURS = 24

logger = logging.getLogger(__name__)


def start_run(
    *,
    viewer: Viewer,
    now: datetime,
    steps: Sequence[Step] = (),
    is_dry: bool = False,
) -> ConsolidationRun:
    """Queue a run over what the viewer's person and project have, or over all of the team.

    Without `steps` all run that the team has not switched off. Raises ConflictError while another
    run of the team is under way, InvalidError for a step that is switched off, and ForbiddenError
    where the team has memory switched off.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        return _start(viewer, now, steps, is_dry)


def _start(viewer: Viewer, now: datetime, steps: Sequence[Step], is_dry: bool) -> ConsolidationRun:
    require_memory(flags_of_id(team_id=viewer.team_id))
    hold_lock(f"consolidation|{viewer.team_id}")
    other = ConsolidationRun.objects.filter(team_id=viewer.team_id, state__in=UNFINISHED).first()
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
    """Start the daily run of each team whose hour it is, and publish what nobody goes on with.

    The hour (UTC) follows from the team's id, so that teams do not start at once. Returns how many
    were started. A team whose hour was missed gets its run at the next call of the day.
    """
    started = 0
    for team_id in all_team_ids():
        viewer = Viewer(team_id=team_id, actor=ACTOR)
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = ConsolidationRun.objects.filter(team_id=team_id)
            for run in rows.filter(state__in=UNFINISHED, due_at__lte=now):
                publish(run)
            begins = now.replace(hour=hour_of(team_id=team_id), minute=0, second=0, microsecond=0)
            daily = rows.filter(actor=ACTOR, created_at__gte=begins)
            if now < begins or daily.exists() or not flags_of_id(team_id=team_id).memory:
                continue
            try:
                _start(viewer, now, (), is_dry=False)
            except ConflictError:
                continue  # the next call finds it done
            started += 1
    return started


def hour_of(*, team_id: UUID) -> int:
    """The hour of the day (UTC) in which the team's run begins."""
    return crc32(team_id.bytes) % HOURS


def publish(run: ConsolidationRun) -> None:
    """Tell the workers of a run once the transaction commits; the next sweep finds lost ones."""
    send_after_commit(RUN_TASK, run.team_id, run.pk)


def begin_run(*, team_id: UUID, run_id: UUID, now: datetime) -> ConsolidationRun | None:
    """Count an attempt at a run that is due; None for any other. Call it with the run's lock."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = ConsolidationRun.objects.filter(
            team_id=team_id, id=run_id, state__in=UNFINISHED, due_at__lte=now
        )
        rows.update(state=ConsolidationRun.State.RUNNING, attempts=F("attempts") + 1)
        return under_way(team_id=team_id, run_id=run_id).first()


def under_way(*, team_id: UUID, run_id: UUID) -> QuerySet[ConsolidationRun, ConsolidationRun]:
    """Return the run, while it is running."""
    return ConsolidationRun.objects.filter(
        team_id=team_id, id=run_id, state=ConsolidationRun.State.RUNNING
    )


def hand_on(*, team_id: UUID, run_id: UUID) -> None:
    """Give the run back to the workers, who go on where it got to."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        under_way(team_id=team_id, run_id=run_id).update(
            state=ConsolidationRun.State.QUEUED, attempts=0
        )


def note_failure(*, run: ConsolidationRun, error: Exception, now: datetime) -> None:
    """Let the run wait for a pause that doubles, or give it up after the last attempt."""
    logger.exception("Consolidation %s failed.", run.pk)
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        mine = under_way(team_id=run.team_id, run_id=run.pk)
        attempts = mine.values_list("attempts", flat=True).first() or 0
        given_up = attempts >= settings.JOB_MAX_ATTEMPTS
        states = ConsolidationRun.State
        mine.update(
            state=states.FAILED if given_up else states.QUEUED,
            error=type(error).__name__,
            due_at=now + pause_after(attempts),
            finished_at=now if given_up else None,
        )


def finish(*, run: ConsolidationRun, now: datetime) -> None:
    """End a run whose plan is carried out, and forget judgements that no longer hold.

    Call it in the team's scope.
    """
    JudgedPair.objects.filter(team_id=run.team_id, judged_at__lte=run.created_at - KEPT).delete()
    under_way(team_id=run.team_id, run_id=run.pk).update(
        state=ConsolidationRun.State.DONE, error="", finished_at=now
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """The transaction of a few changes: `memories` are those they are about, locked."""

    team_id: UUID
    actor: str
    now: datetime
    memories: Mapping[UUID, Memory]
    tools: Tools

    def pair(self, change: ConsolidationChange) -> tuple[Memory, Memory]:
        """Both memories of a change that is about two."""
        assert change.other_id is not None
        return self.memories[change.memory_id], self.memories[change.other_id]


class Executor(Protocol):
    """Makes the changes of a kind, and takes back what the log of memories does not hold."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it and keep in `change.result` what else was written; returns why not, or ""."""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Take back what `result` names, once the memories are as before; returns why not, or "".

        The memories' own columns are taken back by what the log holds.
        """


def run_of(*, team_id: UUID, run_id: UUID, is_locked: bool = False) -> ConsolidationRun:
    """The run, locked on request; call it in the team's scope. Raises NotFoundError."""
    rows = runs_of(team_id=team_id).filter(pk=run_id)
    run = (rows.select_for_update(of=("self",)) if is_locked else rows).first()
    if run is None:
        raise NotFoundError("There is no such consolidation run.")
    return run


def runs_of(
    *, team_id: UUID, state: str | None = None, is_dry: bool | None = None
) -> QuerySet[ConsolidationRun, ConsolidationRun]:
    """The runs of the team with whom they are about, newest first."""
    rows = ConsolidationRun.objects.filter(team_id=team_id).select_related("end_user", "project")
    if state:
        rows = rows.filter(state=state)
    return rows if is_dry is None else rows.filter(is_dry=is_dry)
