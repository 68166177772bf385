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
from memory.domain.judgements import told_decision
from memory.domain.types import Status, Tier
from memory.models import Contradiction, Memory, Settlement
from memory.models.memory import LIVE
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.history.log import Change, LogRange, changes_in
from memory.writing.background import run_write
from memory.writing.conflicts import UNDONE
from memory.writing.consent import consent
from memory.writing.rows import release_disputes
from memory.writing.secrets import masked_note
from memory.writing.write_path import lock_owners
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope

_CHAIN = {
    "superseded_by_id": "has another successor now",
    "supersedes_id": "replaces another memory now",
    "version": "has another version number now",
    "scope": "has another scope now",
    "end_user_id": "is another person's now",
    "agent_id": "is another agent's now",
}


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory that changed afterwards, and how, in words."""

    memory: Memory
    how: str


class ChangedSinceError(ConflictError):
    """Something cannot be taken back: `changed` are the memories that changed since.

    The message names the first few of them; `unseen` counts those that the viewer does not see.
    """

    def __init__(self, changed: Sequence[ChangedMemory], *, unseen: int, since: str) -> None:
        told = [f"{each.memory.pk} {each.how}" for each in changed[:_TOLD]]
        more = len(changed) - len(told)
        told += [f"{more} more"] if more else []
        told += [f"{unseen} that you do not see"] if unseen else []
        super().__init__(
            f"It cannot be taken back, as memories changed since {since}: {'; '.join(told)}."
        )
        self.changed = tuple(changed)


_TOLD = 20


def refuse_changed(*, viewer: Viewer, found: Mapping[UUID, ChangedMemory], since: str) -> None:
    """Raise ChangedSinceError, which names what the viewer sees, unless nothing was found."""
    if not found:
        return
    rows = Memory.objects.visible_to(viewer).filter(pk__in=found)
    seen = set(rows.values_list("pk", flat=True))
    shown = [each for pk, each in found.items() if pk in seen]
    raise ChangedSinceError(shown, unseen=len(found) - len(shown), since=since)


def later_changes(
    *, team_id: UUID, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> dict[UUID, ChangedMemory]:
    """By id, the memories that are not as the changes left them, each with how it differs in words.

    A memory may meanwhile be in other disputes, pinned, or rated anew: that stays and is no
    hindrance. Call it in the team's scope, with the memories locked.
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
    for name, words in _CHAIN.items():
        now = getattr(memory, name)
        if change.before[name] != after[name] and _as_stored(now) != after[name]:
            return words
    return ""


def _as_stored(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


def _twins(
    team_id: UUID, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> list[Memory]:
    """Live memories with the words of one that would come back; there is room for one alone."""
    back = [each.memory_id for each in changes if each.before is not None and each.is_back]
    keys = [memories[pk].dedupe_key for pk in back if memories[pk].dedupe_key is not None]
    going = [each.memory_id for each in changes if each.before is None]
    if not keys:
        return []
    rows = Memory.objects.filter(
        team_id=team_id, dedupe_key__in=keys, dedupe_key__isnull=False, status__in=LIVE
    )
    return list(rows.exclude(pk__in=going))


# Set back if it was changed; `later_changes` says where one of them changed since.
_SET_BACK = (
    "is_pinned",
    "superseded_by_id",
    "supersedes_id",
    "version",
    "purge_at",
    # What giving a memory to others changes.
    "memory_type",
    "scope",
    "agent_id",
    "end_user_id",
    "project_id",
    "dedupe_key",
)
# Set back unless somebody changed them since: what came later stays.
_SET_BACK_IF_SAME = ("importance", "tier")
_WRITTEN = (*_SET_BACK, *_SET_BACK_IF_SAME, "status", "contradicts", "corroboration")
_COLUMNS = [name.removesuffix("_id") for name in _WRITTEN]


def locked_as_now(*, team_id: UUID, changes: Sequence[Change]) -> dict[UUID, Memory]:
    """Those memories as they stand now, locked after the writers of their owners."""
    ids = [each.memory_id for each in changes]
    rows = Memory.objects.filter(team_id=team_id, pk__in=ids)
    lock_owners(set(rows.values_list("team_id", "end_user_id")))
    return {row.pk: row for row in rows.select_for_update().order_by("pk")}


def take_back(
    *,
    team_id: UUID,
    actor: str,
    changes: Sequence[Change],
    memories: Mapping[UUID, Memory],
    reopen: Callable[[], None] = lambda: None,
) -> None:
    """Give each memory what it had before the changes, and delete what they wrote.

    `memories` are locked. Importance, tier and pins that somebody changed since stay as they are.
    `reopen` is called when the states are set back and before the disputes are settled by them.
    """
    for change in changes:
        if change.before is None:
            _delete(memories[change.memory_id], actor=actor)
    # What that released is to be seen before the others are set back.
    memories = Memory.objects.filter(team_id=team_id).in_bulk(list(memories))
    old = [each for each in changes if each.before is not None]
    # Whoever goes makes room for who comes back with the same words.
    old.sort(key=lambda each: each.is_back)
    for change in old:
        _set_back(memories[change.memory_id], change)
    reopen()
    for change in old:
        _settle_status(memories[change.memory_id], change)


def _delete(memory: Memory, *, actor: str) -> None:
    """Take a memory that the changes wrote out of every read, and out of the chain."""
    release_disputes(memory=memory, actor=actor, note=UNDONE)
    memory.status = Status.SOFT_DELETED.value
    memory.tier = Tier.COLD.value
    memory.is_pinned = False
    memory.supersedes = None
    memory.save(update_fields=["status", "tier", "is_pinned", "supersedes", "contradicts"])


def _set_back(memory: Memory, change: Change) -> None:
    """Give the memory what it had; its disputes are named again as far as they are open."""
    before, after = change.states
    for name in _SET_BACK:
        # A row of the log from before the column of purges has none.
        if before.get(name) != after.get(name):
            setattr(memory, name, _as_value(name, before.get(name)))
    for name in _SET_BACK_IF_SAME:
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
    """What is named now, without what the changes added and with what they removed."""
    had, got = [UUID(each) for each in before], [UUID(each) for each in after]
    if list(now) == got:
        return had
    kept = [each for each in now if each in had or each not in got]
    return list(dict.fromkeys([*(each for each in had if each not in got), *kept]))


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
