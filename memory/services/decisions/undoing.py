"""Taking back a settlement of a contradiction: whatever it changed stands as it stood before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.domain.settled import told_decision
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory, Settlement
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.log_changes import Change, LogRange, changes_in
from memory.services.decisions.later_changes import ChangedMemory, later_changes, refuse_changed
from memory.services.decisions.taking_back import locked_as_now, take_back
from memory.services.retrying import run_write
from memory.services.write.consent import consent
from memory.services.write.secrets import masked_note
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class Undone:
    """The contradiction, open again, and what was set back with it."""

    contradiction: Contradiction
    memory_ids: tuple[UUID, ...]
    reopened: tuple[UUID, ...]


def undo_settlement(
    *, viewer: Viewer, contradiction_id: UUID, now: datetime, note: str = ""
) -> Undone:
    """Take the last settlement of a contradiction back: it is open again, with all it was about.

    Both sides, and every other memory that the settlement changed, get the status, version, pin,
    successor and disputes that they had before; a text that was written in their place is deleted,
    and the contradictions that ended with it are open again. What the log says stays, and each
    change is logged. Importance, tier and pins that somebody changed since stay as they are.
    Raises NotFoundError when the viewer may not see it, ConflictError when it is open or was not
    settled by a decision of its own, ChangedSinceError when what it changed was changed again
    since, and ForbiddenError where an agent would undo what others decided of a memory that changes
    only with a yes.
    """
    note = masked_note(note)
    # A writer who checks nothing waits for nobody, and may store the same fact meanwhile.
    return run_write(lambda: _undo(viewer, contradiction_id, now, note))


def _undo(viewer: Viewer, contradiction_id: UUID, now: datetime, note: str) -> Undone:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        settlement = _in_force(viewer, contradiction_id)
    reason = f"settlement taken back: {settlement.resolution}" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        changes = _changes_of(settlement)
        memories = locked_as_now(team_id=viewer.team_id, changes=changes)
        contradiction = Contradiction.objects.select_for_update().get(
            team_id=viewer.team_id, pk=contradiction_id
        )
        settlement = _in_force(viewer, contradiction_id)
        found = later_changes(team_id=viewer.team_id, changes=changes, memories=memories)
        for memory in _asked_again(settlement):
            found.setdefault(memory.pk, ChangedMemory(memory, "is in the same dispute again"))
        refuse_changed(viewer=viewer, found=found, since="it was settled")
        reopened: list[UUID] = []
        if contradiction.resolved_by != viewer.actor:
            for memory in memories.values():
                consent().check_settled(viewer=viewer, memory=memory)
        take_back(
            team_id=viewer.team_id,
            actor=viewer.actor,
            changes=changes,
            memories=memories,
            reopen=lambda: reopened.extend(_reopen(contradiction, settlement)),
        )
        settlement.undone_at, settlement.undone_by = now, viewer.actor
        settlement.save(update_fields=["undone_at", "undone_by"])
        contradiction.refresh_from_db()
        return Undone(contradiction, tuple(each.memory_id for each in changes), tuple(reopened))


def _in_force(viewer: Viewer, contradiction_id: UUID) -> Settlement:
    """The settlement that holds; says why where there is none."""
    row = contradictions_visible_to(viewer).filter(pk=contradiction_id).first()
    if row is None:
        raise NotFoundError("There is no such contradiction.")
    if row.resolved_at is None:
        raise ConflictError("It is open: there is no settlement to take back.")
    rows = Settlement.objects.filter(team_id=viewer.team_id, undone_at=None)
    settlement = rows.filter(contradiction=row).first()
    if settlement is not None:
        return settlement
    whole = rows.filter(ended__contains=[row.pk], settled_at__gte=row.detected_at).first()
    if whole is not None:
        raise ConflictError(
            f"It ended with another contradiction, {whole.contradiction_id}; take that one back."
        )
    told = told_decision(
        resolution=row.resolution,
        is_of_two=row.memory_b_id is not None,
        by=row.resolved_by,
        at=row.resolved_at,
        note=row.resolution_note,
    )
    raise ConflictError(f"Nothing was kept by which it could be taken back: it was {told}.")


def _changes_of(settlement: Settlement) -> list[Change]:
    """What the settlement did to each memory, as the log has it."""
    if settlement.commit_id is None or settlement.first_seq is None or settlement.last_seq is None:
        return []
    ends = (settlement.first_seq, settlement.last_seq)
    return changes_in(ranges=[LogRange(settlement.team_id, settlement.commit_id, *ends)])


def _asked_again(settlement: Settlement) -> list[Memory]:
    """The first sides of open contradictions of the same sides as those that would open again."""
    mine = Contradiction.objects.filter(
        team_id=settlement.team_id, pk__in=[settlement.contradiction_id, *settlement.ended]
    )
    same = Q()
    for row in mine:
        if row.resolved_at is not None:
            same |= Q(memory_a_id=row.memory_a_id, memory_b_id=row.memory_b_id)
    if not same:
        return []
    rows = Contradiction.objects.filter(same, team_id=settlement.team_id, resolved_at=None)
    return [row.memory_a for row in rows.select_related("memory_a")]


def _reopen(contradiction: Contradiction, settlement: Settlement) -> tuple[UUID, ...]:
    """Open the contradiction again, and those that ended with it whose sides are live."""
    rows = Contradiction.objects.select_for_update().filter(
        team_id=contradiction.team_id, pk__in=settlement.ended, resolved_at__isnull=False
    )
    beside = [row.pk for row in rows.order_by("pk") if all(side.is_live for side in _sides_of(row))]
    Contradiction.objects.filter(
        team_id=contradiction.team_id, pk__in=[contradiction.pk, *beside]
    ).update(
        resolution="", resolution_note="", resolved_by="", resolved_at=None, snoozed_until=None
    )
    return tuple(beside)


def _sides_of(row: Contradiction) -> list[Memory]:
    return [each for each in (row.memory_a, row.memory_b) if each is not None]
