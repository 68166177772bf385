"""Taking changes of memories back: each gets the state that it had before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.domain.types import Status, Tier
from memory.models import Contradiction, Memory
from memory.models.memory import LIVE
from memory.selectors.log_changes import Change
from memory.services.write.marking import release_disputes
from memory.services.write.prior_decisions import UNDONE
from memory.services.write.write_path import lock_owners

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
