"""Taking back a settlement of a contradiction: whatever it changed stands as it stood before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.models import MemoryLog
from memory.domain.settled import told_decision
from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory, Settlement
from memory.models.memory import LIVE
from memory.selectors.contradictions import contradictions_visible_to
from memory.services.decisions.later_changes import Change, later_changes
from memory.services.retrying import run_write
from memory.services.write.marking import release_disputes
from memory.services.write.prior_decisions import UNDONE
from memory.services.write.secrets import masked_note
from memory.services.write.write_path import lock_owners
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope

# Set back if the settlement changed them; `later_changes` says where one of them changed since.
_SET_BACK = ("is_pinned", "superseded_by_id", "supersedes_id", "version")
# Set back unless somebody changed them since: what came later stays.
_SET_BACK_IF_SAME = ("importance", "tier")
_WRITTEN = (*_SET_BACK, *_SET_BACK_IF_SAME, "status", "contradicts", "corroboration")
_COLUMNS = [name.removesuffix("_id") for name in _WRITTEN]


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory that changed after the settlement, and how, in words."""

    memory: Memory
    how: str


class SettlementChangedError(ConflictError):
    """A settlement cannot be taken back: `changed` are the memories that changed since."""

    def __init__(self, changed: Sequence[ChangedMemory], *, unseen: int) -> None:
        told = [f"{each.memory.pk} {each.how}" for each in changed]
        told += [f"{unseen} that you do not see"] if unseen else []
        super().__init__(
            f"It cannot be taken back, as memories changed since it was settled: {'; '.join(told)}."
        )
        self.changed = tuple(changed)


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
    settled by a decision of its own, and SettlementChangedError when what it changed was changed
    again since.
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
        memories = _locked(settlement, changes)
        contradiction = Contradiction.objects.select_for_update().get(
            team_id=viewer.team_id, pk=contradiction_id
        )
        settlement = _in_force(viewer, contradiction_id)
        _refuse_changed(viewer, settlement, changes, memories)
        new = [each for each in changes if each.before is None]
        for change in new:
            _delete(memories[change.memory_id], viewer=viewer)
        # What that released is to be seen before the others are set back.
        memories = _fresh(viewer.team_id, memories)
        old = [each for each in changes if each.before is not None]
        # Whoever goes makes room for who comes back with the same words.
        old.sort(key=lambda each: each.is_back)
        for change in old:
            _set_back(memories[change.memory_id], change)
        reopened = _reopen(contradiction, settlement)
        for change in old:
            _settle_status(memories[change.memory_id], change)
        settlement.undone_at, settlement.undone_by = now, viewer.actor
        settlement.save(update_fields=["undone_at", "undone_by"])
        contradiction.refresh_from_db()
        return Undone(contradiction, tuple(each.memory_id for each in changes), reopened)


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
    if settlement.commit_id is None:
        return []
    log = MemoryLog.objects.filter(team_id=settlement.team_id)
    rows = log.filter(
        commit_id=settlement.commit_id, seq__range=(settlement.first_seq, settlement.last_seq)
    ).order_by("seq")
    first: dict[UUID, MemoryLog] = {}
    last: dict[UUID, MemoryLog] = {}
    for row in rows:
        first.setdefault(row.memory_id, row)
        last[row.memory_id] = row
    changes = []
    for memory_id, row in first.items():
        earlier = log.filter(memory_id=memory_id, seq__lt=row.seq).order_by("-seq")
        before = None if row.is_first else earlier.values_list("state", flat=True).first()
        changes.append(Change(memory_id, before, last[memory_id].state, last[memory_id].seq))
    return changes


def _locked(settlement: Settlement, changes: Sequence[Change]) -> dict[UUID, Memory]:
    """Those memories as they stand now, locked after the writers of their owners."""
    ids = [each.memory_id for each in changes]
    rows = Memory.objects.filter(team_id=settlement.team_id, pk__in=ids)
    lock_owners(rows.values_list("team_id", "end_user_id"))
    return {row.pk: row for row in rows.select_for_update().order_by("pk")}


def _fresh(team_id: UUID, memories: Mapping[UUID, Memory]) -> dict[UUID, Memory]:
    return Memory.objects.filter(team_id=team_id).in_bulk(list(memories))


def _refuse_changed(
    viewer: Viewer,
    settlement: Settlement,
    changes: Sequence[Change],
    memories: Mapping[UUID, Memory],
) -> None:
    found = later_changes(settlement=settlement, changes=changes, memories=memories)
    if not found:
        return
    ids = [memory.pk for memory, _ in found]
    seen = set(Memory.objects.visible_to(viewer).filter(pk__in=ids).values_list("pk", flat=True))
    shown = [ChangedMemory(memory, how) for memory, how in found if memory.pk in seen]
    raise SettlementChangedError(shown, unseen=len(found) - len(shown))


def _delete(memory: Memory, *, viewer: Viewer) -> None:
    """Take a memory that the settlement wrote out of every read, and out of the chain."""
    release_disputes(memory=memory, actor=viewer.actor, note=UNDONE)
    memory.status = Status.SOFT_DELETED.value
    memory.tier = Tier.COLD.value
    memory.is_pinned = False
    memory.supersedes = None
    memory.save(update_fields=["status", "tier", "is_pinned", "supersedes", "contradicts"])


def _set_back(memory: Memory, change: Change) -> None:
    """Give the memory what it had; its disputes are named again as far as they are open."""
    before, after = change.states
    for name in _SET_BACK:
        if before[name] != after[name]:
            setattr(memory, name, _as_value(name, before[name]))
    for name in _SET_BACK_IF_SAME:
        if getattr(memory, name) == after[name]:
            setattr(memory, name, before[name])
    memory.corroboration += before["corroboration"] - after["corroboration"]
    memory.contradicts = _merged(memory.contradicts, before["contradicts"], after["contradicts"])
    if change.is_back or before["status"] not in LIVE:
        memory.status = before["status"]
    memory.save(update_fields=_COLUMNS)


def _as_value(name: str, stored: Any) -> Any:  # Any: a column of whatever type
    return UUID(stored) if stored is not None and name.endswith("_id") else stored


def _merged(now: Sequence[UUID], before: Iterable[str], after: Iterable[str]) -> list[UUID]:
    """What is named now, without what the settlement added and with what it removed."""
    had, got = [UUID(each) for each in before], [UUID(each) for each in after]
    if list(now) == got:
        return had
    kept = [each for each in now if each in had or each not in got]
    return list(dict.fromkeys([*(each for each in had if each not in got), *kept]))


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


def _settle_status(memory: Memory, change: Change) -> None:
    """Let a live one be disputed if it names another or is said to be wrong."""
    if change.states[0]["status"] not in LIVE:
        return
    said_wrong = Contradiction.objects.filter(
        team_id=memory.team_id, memory_a=memory, memory_b=None, resolved_at=None
    )
    is_disputed = bool(memory.contradicts) or said_wrong.exists()
    status = Status.DISPUTED.value if is_disputed else Status.ACTIVE.value
    if memory.status != status:
        memory.status = status
        memory.save(update_fields=["status"])
