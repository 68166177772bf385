"""Runs of a consolidation: planned page by page, carried out batch by batch, undone as a whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Q, QuerySet

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.lifecycle import aging, linking, merging, runs
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun, Kind, Step
from memory.satellites.lifecycle.steps import ACTOR, Batch, Executor, Page, Plan, Planned, Scope
from memory.selectors.history.log import LogMark, LogRange, changes_in
from memory.understanding.tools import Tools
from memory.writing.background import exclusively, leave_queue, run_write
from memory.writing.decisions.undoing import (
    ChangedMemory,
    later_changes,
    locked_as_now,
    refuse_changed,
    take_back,
)
from memory.writing.write_path import lock_owners
from teams.errors import ConflictError
from teams.services.team_settings import lifecycle_settings_of
from teams.tenancy import database_now, team_scope

PLANS: Mapping[Step, Plan] = {
    Step.DEDUPLICATE: merging.plan_merges,
    Step.COMPRESS: aging.plan_shortening,
    Step.RANK: aging.plan_ranks,
    Step.CONTRADICTIONS: merging.plan_conflicts,
    Step.FORGET: aging.plan_forgetting,
    Step.LINK: linking.plan,
}
EXECUTORS: Mapping[str, Executor] = {
    Kind.MERGE: merging.MERGE,
    Kind.SUPERSEDE: merging.CONFLICT,
    Kind.DISPUTE: merging.CONFLICT,
    Kind.MOVE_TIER: aging.MOVE_TIER,
    Kind.EXPIRE: aging.EXPIRE,
    Kind.SHORTEN: aging.SHORTEN,
    Kind.LINK: linking.LINK,
    Kind.WEAKEN: linking.WEAKEN,
    Kind.UNLINK: linking.UNLINK,
}

_MOST_CHANGES = 10_000
_BATCH = 50
# Of what changed, a run looks at these days at least (seed 004, §4: 72 hours).
_CHANGED_WITHIN = timedelta(days=3)
# In the cursor of a run that planned as much as it may: the next one looks at the same once more.
_CUT_SHORT = "cut_short"
# A change that was taken back is not proposed again for so long.
_TAKEN_BACK_FOR = timedelta(days=30)
_State = ConsolidationChange.State
_COLUMNS = {field.attname for field in Memory._meta.concrete_fields}


def run_consolidation(
    *,
    team_id: UUID,
    run_id: UUID,
    tools: Tools,
    seconds: float | None = None,
    clock: Callable[[], datetime] = database_now,
) -> bool:
    """Goes on with a run unless somebody else does or it is done; returns whether this finished it.

    A page of the plan, or a batch of changes, is one transaction together with how far the run got:
    a run that is killed is taken over where it was, and no change is made twice. When `seconds`
    are over, it is queued again.
    """
    leave_queue(runs.RUN_TASK, team_id, run_id)
    with exclusively(f"consolidation|{run_id}") as is_free:
        run = runs.begin_run(team_id=team_id, run_id=run_id, now=clock()) if is_free else None
        if run is None:
            return False
        started = time.monotonic()
        try:
            while not _go_on(run, tools, clock):
                if seconds is not None and time.monotonic() - started >= seconds:
                    runs.hand_on(team_id=team_id, run_id=run_id)
                    break
            else:
                return True
        except DatabaseError:
            # The next sweep publishes the run again.
            raise
        except Exception as error:
            runs.note_failure(run=run, error=error, now=clock())
            raise
    runs.publish(run)
    return False


def _go_on(begun: ConsolidationRun, tools: Tools, clock: Callable[[], datetime]) -> bool:
    """Does one page or one batch; returns whether nothing is left to do."""
    team_id = begun.team_id
    with team_scope(team_ids=[team_id], actor=ACTOR):
        run = runs.under_way(team_id=team_id, run_id=begun.pk).first()
        if run is None:
            return True
        scope = _scope(run)
    if not run.is_planned:
        step = Step(run.cursor.get("step", run.steps[0])) if run.steps else None
        page = PLANS[step](scope, run.cursor.get("at"), tools) if step else Page()
        with team_scope(team_ids=[team_id], actor=ACTOR):
            _keep_page(run, step, page)
        return False
    if run.is_dry or not run_write(lambda: _make_batch(run, tools, clock())):
        with team_scope(team_ids=[team_id], actor=ACTOR):
            runs.finish(run=run, now=clock())
        return True
    return False


def _scope(run: ConsolidationRun) -> Scope:
    earlier = ConsolidationRun.objects.filter(
        team_id=run.team_id,
        is_dry=False,
        state=ConsolidationRun.State.DONE,
        end_user=run.end_user_id,
        project=run.project_id,
        created_at__lt=run.created_at,
        steps__contains=run.steps,
    ).exclude(cursor__has_key=_CUT_SHORT)
    last = earlier.order_by("-created_at").only("created_at", "cursor").first()
    chosen = lifecycle_settings_of(team_id=run.team_id)
    return Scope(
        team_id=run.team_id,
        run_id=run.pk,
        settings=chosen,
        now=run.created_at,
        since=min(last.created_at, run.created_at - _CHANGED_WITHIN) if last else None,
        resume=last.cursor.get("resume", {}) if last else {},
        left_usd=Decimal(str(chosen.cost_usd)) - run.cost_usd,
        is_dry=run.is_dry,
        end_user_id=run.end_user_id,
        project_id=run.project_id,
    )


def _keep_page(run: ConsolidationRun, step: Step | None, page: Page) -> None:
    rows = runs.under_way(team_id=run.team_id, run_id=run.pk)
    mine = rows.filter(cursor=run.cursor, is_planned=False)
    if mine.select_for_update().first() is None:
        return
    known = ConsolidationChange.objects.filter(team_id=run.team_id, run=run)
    # All that it planned are counted, in the transaction that stores them.
    count = sum(each["planned"] for each in run.counts.values())
    wanted = _not_taken(known, step, _not_taken_back(run, page.planned))
    fresh = wanted[: _MOST_CHANGES - count]
    ConsolidationChange.objects.bulk_create(
        ConsolidationChange(
            team_id=run.team_id,
            run=run,
            position=count + place,
            step=step or "",
            kind=planned.kind.value,
            memory_id=planned.memory_id,
            other_id=planned.other_id,
            before=dict(planned.before),
            after=dict(planned.after),
            because=planned.because[:300],
        )
        for place, planned in enumerate(fresh)
    )
    is_full = len(fresh) < len(wanted)
    nothing = {"looked_at": 0, "planned": 0, "made": 0, "left_out": 0}
    counts = {name: run.counts.get(name, dict(nothing)) for name in run.steps}
    following = None
    if step is not None:
        counts[step.value]["looked_at"] += page.looked_at
        counts[step.value]["planned"] += len(fresh)
        later = run.steps[run.steps.index(step.value) + 1 :]
        following = step.value if page.cursor is not None else next(iter(later), None)
    resume = dict(run.cursor.get("resume", {}))
    if step is not None and page.resume is not None:
        resume[step.value] = page.resume
    run.cursor = {"step": following, "at": page.cursor, "resume": resume}
    if is_full:
        run.cursor[_CUT_SHORT] = True
    mine.update(
        cursor=run.cursor,
        counts=counts,
        judged=run.judged + page.judged,
        cost_usd=run.cost_usd + page.cost_usd,
        is_planned=is_full or following is None,
    )


def _not_taken(
    known: QuerySet[ConsolidationChange, ConsolidationChange],
    step: Step | None,
    planned: Iterable[Planned],
) -> list[Planned]:
    """Returns the planned changes of memories that no earlier step changes; the rest wait."""
    wanted = list(planned)
    ids = {pk for each in wanted for pk in each.memory_ids}
    rows = known.filter(Q(memory_id__in=ids) | Q(other_id__in=ids)).exclude(step=step)
    taken = {pk for pair in rows.values_list("memory_id", "other_id") for pk in pair}
    return [each for each in wanted if taken.isdisjoint(each.memory_ids)]


def _not_taken_back(run: ConsolidationRun, planned: Iterable[Planned]) -> list[Planned]:
    """Returns the planned changes that nobody undid lately: others would be undone day by day."""
    wanted = list(planned)
    rows = ConsolidationChange.objects.filter(
        team_id=run.team_id,
        memory_id__in={each.memory_id for each in wanted},
        state=_State.MADE,
        run__state=ConsolidationRun.State.UNDONE,
        run__undone_at__gte=run.created_at - _TAKEN_BACK_FOR,
    )
    undone = set(rows.values_list("kind", "memory_id", "other_id"))
    return [
        each for each in wanted if (each.kind.value, each.memory_id, each.other_id) not in undone
    ]


def _make_batch(run: ConsolidationRun, tools: Tools, now: datetime) -> bool:
    """Make the next planned changes of one step; returns whether there were any."""
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        waiting = ConsolidationChange.objects.filter(
            team_id=run.team_id, run=run, state=_State.PLANNED
        ).order_by("position")
        first = waiting.first()
        if first is None:
            return False
    reason = f"consolidation: {first.step}, run {run.pk}"
    with team_scope(team_ids=[run.team_id], actor=ACTOR, reason=reason):
        mine = runs.under_way(team_id=run.team_id, run_id=run.pk)
        locked = mine.select_for_update().first()
        if locked is None:
            return False
        changes = list(waiting.filter(step=first.step)[:_BATCH])
        if not changes:
            return True
        memories = _locked(run.team_id, {pk for each in changes for pk in _ids(each)})
        mark = LogMark(team_id=run.team_id)
        batch = Batch(run.team_id, ACTOR, now, memories, tools)
        for change in changes:
            change.note = _made(change, batch)
            change.state = _State.LEFT_OUT if change.note else _State.MADE
        written = mark.written(locked=list(memories))
        for change in changes:
            if written is not None and change.state == _State.MADE:
                change.commit_id = written.commit_id
                change.first_seq, change.last_seq = written.first, written.last
        columns = ["state", "note", "result", "commit_id", "first_seq", "last_seq"]
        ConsolidationChange.objects.bulk_update(changes, columns)
        for change in changes:
            locked.counts[change.step][change.state] += 1
        mine.update(counts=locked.counts, attempts=0)
    return True


def _ids(change: ConsolidationChange) -> list[UUID]:
    return [pk for pk in (change.memory_id, change.other_id) if pk is not None]


def _locked(team_id: UUID, ids: Collection[UUID]) -> dict[UUID, Memory]:
    rows = Memory.objects.filter(team_id=team_id, pk__in=ids)
    lock_owners(set(rows.values_list("team_id", "end_user_id")))
    return {row.pk: row for row in rows.select_for_update().order_by("pk")}


def _made(change: ConsolidationChange, batch: Batch) -> str:
    """Makes one change; returns why it was left out, "" where it was made."""
    memory = batch.memories[change.memory_id]
    for name, value in change.before.items():
        if name in _COLUMNS and getattr(memory, name) != value:
            return f"its {name} is {getattr(memory, name)} by now"
    try:
        with transaction.atomic():
            return EXECUTORS[change.kind].make(change, batch)[:300]
    except IntegrityError as error:
        return f"the database refused it: {type(error.__cause__).__name__}"


def undo_run(*, viewer: Viewer, run_id: UUID, tools: Tools, now: datetime) -> ConsolidationRun:
    """Undoes everything that a run changed, in one transaction, or nothing.

    What the log says stays, and each change back is logged. Raises NotFoundError for a run that
    the team does not have, ConflictError for one that is under way, was dry or is taken back
    already, and ChangedSinceError when memories that it changed were changed again since.
    """
    return run_write(lambda: _undo(viewer, run_id, tools, now))


def _undo(viewer: Viewer, run_id: UUID, tools: Tools, now: datetime) -> ConsolidationRun:
    reason = f"consolidation undone, run {run_id}"
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        run = runs.run_of(team_id=viewer.team_id, run_id=run_id, is_locked=True)
        _refuse_unfit(run)
        rows = ConsolidationChange.objects.filter(team_id=run.team_id, run=run, state=_State.MADE)
        made = list(rows.order_by("position"))
        changes = changes_in(ranges=_ranges(made))
        memories = locked_as_now(team_id=run.team_id, changes=changes)
        found = later_changes(team_id=run.team_id, changes=changes, memories=memories)
        missing = {pk for each in made for pk in _ids(each)} - memories.keys()
        memories |= Memory.objects.filter(team_id=run.team_id).in_bulk(list(missing))
        refuse_changed(viewer=viewer, found=found, since="the run")
        batch = Batch(run.team_id, viewer.actor, now, memories, tools)

        def reopen() -> None:
            stuck: dict[UUID, ChangedMemory] = {}
            for change in reversed(made):
                if how := EXECUTORS[change.kind].undo(change, batch):
                    memory = memories[change.memory_id]
                    stuck[memory.pk] = ChangedMemory(memory, how)
            # Nothing is half done: the transaction ends with the error.
            refuse_changed(viewer=viewer, found=stuck, since="the run")

        changed = {each.memory_id: memories[each.memory_id] for each in changes}
        take_back(
            team_id=run.team_id,
            actor=viewer.actor,
            changes=changes,
            memories=changed,
            reopen=reopen,
        )
        run.state = ConsolidationRun.State.UNDONE
        run.undone_at, run.undone_by = now, viewer.actor
        run.save(update_fields=["state", "undone_at", "undone_by"])
        return run


def _refuse_unfit(run: ConsolidationRun) -> None:
    if run.is_dry:
        raise ConflictError("It was a dry run and changed nothing.")
    if run.state == ConsolidationRun.State.UNDONE:
        raise ConflictError(f"It was already undone, by {run.undone_by}.")
    if run.state not in (ConsolidationRun.State.DONE, ConsolidationRun.State.FAILED):
        raise ConflictError("It is under way; wait until it is done.")


def _ranges(made: list[ConsolidationChange]) -> list[LogRange]:
    ranges = {
        LogRange(each.team_id, each.commit_id, each.first_seq, each.last_seq)
        for each in made
        if each.commit_id is not None and each.first_seq is not None and each.last_seq is not None
    }
    return sorted(ranges, key=lambda each: each.first)
