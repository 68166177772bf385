"""Undoes settlements and other recorded changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import OF_THE_CONFIRMED, UNCONFIRMED, Source, Status, Tier
from memory.models import Contradiction, Memory, Settlement
from memory.models.memory import LIVE
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.history.log import Change, LogRange, changes_in
from memory.writing.background import run_write
from memory.writing.conflicts import UNDONE
from memory.writing.consent import consent
from memory.writing.rows import is_disputed, release_disputes
from memory.writing.secrets import masked_note
from memory.writing.write_path import lock_owners
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope

_MOST_NAMED = 20
# Columns that hinder undoing when they were changed again since.
_CHAIN = {
    "superseded_by_id": "has another successor now",
    "supersedes_id": "replaces another memory now",
    "version": "has another version number now",
    "scope": "has another scope now",
    "end_user_id": "is another person's now",
    "agent_id": "is another agent's now",
}
# Restored if they were changed.
_RESTORED = (
    "is_pinned",
    "source",
    "superseded_by_id",
    "supersedes_id",
    "version",
    "purge_at",
    # Changed by a move.
    "memory_type",
    "scope",
    "agent_id",
    "end_user_id",
    "project_id",
    "dedupe_key",
)
# Restored unless somebody changed them since.
_RESTORED_IF_SAME = ("importance", "tier")
_WRITTEN = (*_RESTORED, *_RESTORED_IF_SAME, "status", "contradicts", "corroboration")
_COLUMNS = [name.removesuffix("_id") for name in _WRITTEN]


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory that changed afterwards, and how, in words."""

    memory: Memory
    how: str


class ChangedSinceError(ConflictError):
    """Something cannot be undone: `changed` are the memories that changed since.

    The message names the first few of them; `unseen` counts those that the viewer may not see.
    """

    def __init__(self, changed: Sequence[ChangedMemory], *, unseen: int, since: str) -> None:
        told = [f"{each.memory.pk} {each.how}" for each in changed[:_MOST_NAMED]]
        more = len(changed) - len(told)
        told += [f"{more} more"] if more else []
        told += [f"{unseen} that you do not see"] if unseen else []
        super().__init__(
            f"It cannot be undone, because memories have changed since {since}: {'; '.join(told)}."
        )
        self.changed = tuple(changed)


def refuse_changed(*, viewer: Viewer, found: Mapping[UUID, ChangedMemory], since: str) -> None:
    """Raises ChangedSinceError, which names what the viewer sees, unless nothing was found."""
    if not found:
        return
    rows = Memory.objects.visible_to(viewer).filter(pk__in=found)
    seen = set(rows.values_list("pk", flat=True))
    shown = [each for pk, each in found.items() if pk in seen]
    raise ChangedSinceError(shown, unseen=len(found) - len(shown), since=since)


def locked_as_now(*, team_id: UUID, changes: Sequence[Change]) -> dict[UUID, Memory]:
    """Returns the present memories of the changes, locked after the writers of their owners."""
    ids = [each.memory_id for each in changes]
    rows = Memory.objects.filter(team_id=team_id, pk__in=ids)
    lock_owners(set(rows.values_list("team_id", "end_user_id")))
    return {row.pk: row for row in rows.select_for_update().order_by("pk")}


def later_changes(
    *, team_id: UUID, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> dict[UUID, ChangedMemory]:
    """Returns by id the memories that differ from what the changes left, and how in words.

    A memory may meanwhile be in other disputes, pinned, or rated anew: that stays and hinders
    nothing. Call it in the team's scope, with the memories locked.
    """
    found: dict[UUID, ChangedMemory] = {}
    ids = [each.memory_id for each in changes]
    erased = MemoryLog.objects.filter(team_id=team_id, memory_id__in=ids, event="erased")
    for memory_id in erased.values_list("memory_id", flat=True):
        found[memory_id] = ChangedMemory(memories[memory_id], "was erased for good")
    for change in changes:
        memory = memories[change.memory_id]
        if how := _difference(memory, change):
            found.setdefault(memory.pk, ChangedMemory(memory, how))
    for memory in _twins(team_id, changes, memories):
        says = ChangedMemory(memory, "says the same as one that would come back")
        found.setdefault(memory.pk, says)
    return found


def _difference(memory: Memory, change: Change) -> str:
    after = change.after
    if memory.status != after["status"] and not (memory.is_live and after["status"] in LIVE):
        return f"is {memory.get_status_display().replace('_', ' ')} now"
    if change.before is None:
        return ""
    if change.before["is_pinned"] != after["is_pinned"] != memory.is_pinned:
        return "was pinned or unpinned since"
    is_doubted = change.before.get("source") in UNCONFIRMED and not memory.is_unconfirmed
    if is_doubted and (memory.is_pinned or memory.memory_type in OF_THE_CONFIRMED):
        return "was pinned or given to more people since"
    for name, words in _CHAIN.items():
        now = getattr(memory, name)
        now = str(now) if isinstance(now, UUID) else now
        if change.before[name] != after[name] and now != after[name]:
            return words
    return ""


def _twins(
    team_id: UUID, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> list[Memory]:
    """Returns live memories with the words of one that would come back."""
    back = [each.memory_id for each in changes if each.before is not None and each.is_back]
    keys = [memories[pk].dedupe_key for pk in back if memories[pk].dedupe_key is not None]
    going = [each.memory_id for each in changes if each.before is None]
    if not keys:
        return []
    rows = Memory.objects.filter(
        team_id=team_id, dedupe_key__in=keys, dedupe_key__isnull=False, status__in=LIVE
    )
    return list(rows.exclude(pk__in=going))


def take_back(
    *,
    team_id: UUID,
    actor: str,
    changes: Sequence[Change],
    memories: Mapping[UUID, Memory],
    reopen: Callable[[], None] = lambda: None,
) -> None:
    """Restores each locked memory's state before the changes, and deletes what they wrote.

    Importance, tier and pins that somebody changed since stay. `reopen` is called when the states
    are restored and before the disputes are settled by them.
    """
    for change in changes:
        if change.before is None:
            _delete(memories[change.memory_id], actor=actor)
    # Read anew, as that released disputes of others.
    memories = Memory.objects.filter(team_id=team_id).in_bulk(list(memories))
    old = [each for each in changes if each.before is not None]
    # A memory that goes makes room for one that comes back with the same words.
    old.sort(key=lambda each: each.is_back)
    for change in old:
        _restore(memories[change.memory_id], change)
    reopen()
    for change in old:
        memory = memories[change.memory_id]
        if change.states[0]["status"] in LIVE:
            status = Status.DISPUTED.value if is_disputed(memory) else Status.ACTIVE.value
            if memory.status != status:
                memory.status = status
                memory.save(update_fields=["status"])


def _delete(memory: Memory, *, actor: str) -> None:
    """Deletes a memory that the changes wrote, and takes it out of the chain."""
    release_disputes(memory=memory, actor=actor, note=UNDONE)
    memory.status = Status.SOFT_DELETED.value
    memory.tier = Tier.COLD.value
    memory.is_pinned = False
    memory.supersedes = None
    memory.save(update_fields=["status", "tier", "is_pinned", "supersedes", "contradicts"])


def _restore(memory: Memory, change: Change) -> None:
    """Gives the memory its former state; it names its disputes again as far as they are open."""
    before, after = change.states
    # A row of the log from before there were sources has none; the column began with "agent".
    before = {"source": Source.AGENT.value, **before}
    for name in _RESTORED:
        # A row of the log from before a column was added has no value of it.
        if before.get(name) != after.get(name):
            setattr(memory, name, _as_value(name, before.get(name)))
    for name in _RESTORED_IF_SAME:
        if getattr(memory, name) == after[name]:
            setattr(memory, name, before[name])
    memory.corroboration += before["corroboration"] - after["corroboration"]
    memory.contradicts = _merged(memory.contradicts, before["contradicts"], after["contradicts"])
    if change.is_back or before["status"] not in LIVE:
        memory.status = before["status"]
    memory.save(update_fields=_COLUMNS)


def _as_value(name: str, stored: Any) -> Any:  # Any: a column of whatever type
    if stored is None:
        return None
    if name == "purge_at":
        return datetime.fromisoformat(stored)
    if name == "dedupe_key":
        return bytes.fromhex(stored.removeprefix("\\x"))
    return UUID(stored) if name.endswith("_id") else stored


def _merged(now: Sequence[UUID], before: Iterable[str], after: Iterable[str]) -> list[UUID]:
    """Returns the present ids without those that the changes added, with those they removed."""
    had, got = [UUID(each) for each in before], [UUID(each) for each in after]
    if list(now) == got:
        return had
    kept = [each for each in now if each in had or each not in got]
    return list(dict.fromkeys([*(each for each in had if each not in got), *kept]))


# -- settlements -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undone:
    """The contradiction, open again, and the memories and contradictions restored with it."""

    contradiction: Contradiction
    memory_ids: tuple[UUID, ...]
    reopened: tuple[UUID, ...]


def undo_settlement(
    *, viewer: Viewer, contradiction_id: UUID, now: datetime, note: str = ""
) -> Undone:
    """Undoes the last settlement of a contradiction, which is open again.

    Every memory that the settlement changed gets its former state, a merged text is deleted, and
    the contradictions that ended with it are open again; later changes of importance, tier and pin
    stay. Raises NotFoundError when the viewer may not see it, ConflictError when it is open or was
    not settled by a decision of its own, ChangedSinceError when what it changed was changed again
    since, and ForbiddenError where an agent would undo what others decided of a memory that needs
    consent.
    """
    # A writer who checks nothing waits for nobody, and may store the same fact meanwhile.
    return run_write(lambda: _undo(viewer, contradiction_id, now, masked_note(note)))


def _undo(viewer: Viewer, contradiction_id: UUID, now: datetime, note: str) -> Undone:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        settlement = _in_force(viewer, contradiction_id)
        is_report = settlement.contradiction.memory_b_id is None
    undone = "report reopened" if is_report else "settlement undone"
    reason = f"{undone}: {settlement.resolution}" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        changes = _changes_of(settlement)
        memories = locked_as_now(team_id=viewer.team_id, changes=changes)
        contradiction = Contradiction.objects.select_for_update().get(
            team_id=viewer.team_id, pk=contradiction_id
        )
        settlement = _in_force(viewer, contradiction_id)
        found = later_changes(team_id=viewer.team_id, changes=changes, memories=memories)
        for memory in _disputed_again(settlement):
            found.setdefault(memory.pk, ChangedMemory(memory, "is in the same dispute again"))
        refuse_changed(viewer=viewer, found=found, since="it was settled")
        if contradiction.resolved_by != viewer.actor:
            for memory in memories.values():
                consent().check_settled(viewer=viewer, memory=memory)
        reopened: list[UUID] = []
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
    """Returns the present settlement, or raises with the reason why there is none."""
    row = contradictions_visible_to(viewer).filter(pk=contradiction_id).first()
    if row is None:
        raise NotFoundError("There is no such contradiction.")
    if row.resolved_at is None:
        raise ConflictError("It is open: there is no settlement to undo.")
    rows = Settlement.objects.filter(team_id=viewer.team_id, undone_at=None)
    settlement = rows.filter(contradiction=row).first()
    if settlement is not None:
        return settlement
    whole = rows.filter(ended__contains=[row.pk], settled_at__gte=row.detected_at).first()
    if whole is not None:
        raise ConflictError(
            f"It was resolved together with contradiction {whole.contradiction_id}. Undo that one"
            " instead."
        )
    raise ConflictError(
        f"It cannot be undone: no record of its changes was stored. It was {row.decision}."
    )


def _changes_of(settlement: Settlement) -> list[Change]:
    if settlement.commit_id is None or settlement.first_seq is None or settlement.last_seq is None:
        return []
    ends = (settlement.first_seq, settlement.last_seq)
    return changes_in(ranges=[LogRange(settlement.team_id, settlement.commit_id, *ends)])


def _disputed_again(settlement: Settlement) -> list[Memory]:
    """Returns first sides of open contradictions between the sides of those to be reopened."""
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


def _reopen(contradiction: Contradiction, settlement: Settlement) -> list[UUID]:
    """Reopens the contradiction, and those that ended with it if both sides are live."""
    rows = Contradiction.objects.select_for_update().filter(
        team_id=contradiction.team_id, pk__in=settlement.ended, resolved_at__isnull=False
    )
    beside = [
        row.pk
        for row in rows.order_by("pk")
        if row.memory_a.is_live and (row.memory_b is None or row.memory_b.is_live)
    ]
    Contradiction.objects.filter(
        team_id=contradiction.team_id, pk__in=[contradiction.pk, *beside]
    ).update(
        resolution="", resolution_note="", resolved_by="", resolved_at=None, snoozed_until=None
    )
    return beside
