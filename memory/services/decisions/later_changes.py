"""What stands in the way of taking changes back: memories that changed after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from audit.models import MemoryLog
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.memory import LIVE
from memory.selectors.log_changes import Change
from teams.errors import ConflictError

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
