"""Taking a whole run back: every memory that it changed stands as it stood before."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.lifecycle.kinds import EXECUTORS, Batch
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun
from memory.satellites.lifecycle.runs import run_of
from memory.selectors.history.log import LogRange, changes_in
from memory.understanding.tools import Tools
from memory.writing.background import run_write
from memory.writing.decisions.undoing import (
    ChangedMemory,
    later_changes,
    locked_as_now,
    refuse_changed,
    take_back,
)
from teams.errors import ConflictError
from teams.tenancy import team_scope


def undo_run(*, viewer: Viewer, run_id: UUID, tools: Tools, now: datetime) -> ConsolidationRun:
    """Take back everything that a run changed, in one transaction, or nothing.

    What the log says stays, and each change back is logged. Raises NotFoundError for a run that
    the team does not have, ConflictError for one that is under way, was dry or is taken back
    already, and ChangedSinceError when memories that it changed were changed again since.
    """
    return run_write(lambda: _undo(viewer, run_id, tools, now))


def _undo(viewer: Viewer, run_id: UUID, tools: Tools, now: datetime) -> ConsolidationRun:
    reason = f"consolidation taken back, run {run_id}"
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        run = run_of(team_id=viewer.team_id, run_id=run_id, is_locked=True)
        _refuse_unfit(run)
        made = list(
            ConsolidationChange.objects.filter(
                team_id=run.team_id, run=run, state=ConsolidationChange.State.MADE
            ).order_by("position")
        )
        changes = changes_in(ranges=_ranges(made))
        memories = locked_as_now(team_id=run.team_id, changes=changes)
        found = later_changes(team_id=run.team_id, changes=changes, memories=memories)
        missing = {pk for each in made for pk in (each.memory_id, each.other_id) if pk} - {
            *memories
        }
        memories |= Memory.objects.filter(team_id=run.team_id).in_bulk(list(missing))
        refuse_changed(viewer=viewer, found=found, since="the run")
        batch = Batch(run.team_id, viewer.actor, now, memories, tools)

        def reopen() -> None:
            stuck: dict[UUID, ChangedMemory] = {}
            for change in reversed(made):
                if how := EXECUTORS[change.kind].take_back(change, batch):
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
        raise ConflictError(f"It was taken back already, by {run.undone_by}.")
    if run.state not in (ConsolidationRun.State.DONE, ConsolidationRun.State.FAILED):
        raise ConflictError("It is under way; wait until it is done.")


def _ranges(made: list[ConsolidationChange]) -> list[LogRange]:
    ranges = {
        LogRange(each.team_id, each.commit_id, each.first_seq, each.last_seq)
        for each in made
        if each.commit_id is not None and each.first_seq is not None and each.last_seq is not None
    }
    return sorted(ranges, key=lambda each: each.first)
