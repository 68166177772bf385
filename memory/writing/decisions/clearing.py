"""Clears memories of a scope, and keeps projects to their limits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from memory.domain.audience import Viewer
from memory.domain.types import DELETED, MemoryType, Scope, Status, Tier
from memory.models import Contradiction, Memory
from memory.writing.background import retried
from memory.writing.consent import consent
from memory.writing.decisions.changes import archive_memory, delete_memory
from memory.writing.secrets import masked_note
from teams.errors import ForbiddenError, InvalidError, NotFoundError
from teams.models import Project, Team
from teams.services.people import all_team_ids
from teams.tenancy import hold_lock, team_scope

# Memories that one transaction deletes or archives.
AT_ONCE = 500
# A request clears for so many seconds; the rest takes another one.
SECONDS = 20.0
# Transactions that a task makes for one project.
_ROUNDS = 20
_ACTOR = "task:project_limit"
# The scopes that can be cleared for a whole team.
TEAM_SCOPES = (Scope.PROJECT, Scope.TEAM)


@dataclass(frozen=True, slots=True)
class Cleared:
    """The number of memories deleted, and of those left to be cleared by another call."""

    deleted: int
    left: int


def clear_project(
    *, viewer: Viewer, slug: str, typed: str, reason: str = "", seconds: float = SECONDS
) -> Cleared:
    """Soft-deletes all memories of a project, whatever their status; each can be restored.

    `typed` is the project's slug or name. Raises ForbiddenError for an agent and for a key of
    projects, NotFoundError for an unknown project and InvalidError where another name was typed.
    """
    _check_team(viewer)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        project = Project.objects.filter(team_id=viewer.team_id, slug=slug).first()
    if project is None:
        raise NotFoundError(f"There is no project '{slug}'.")
    _check_typed(typed, names=(project.slug, project.name), of="project")
    rows = Memory.objects.filter(team_id=viewer.team_id, project_id=project.pk)
    why = _why(f"the project '{project.slug}' was cleared", reason)
    return clear_memories(viewer=viewer, rows=rows, reason=why, seconds=seconds)


def clear_team(*, viewer: Viewer, scope: Scope, typed: str, reason: str = "") -> Cleared:
    """Soft-deletes a team's memories of scope `project` (of all its projects) or `team`.

    `typed` is the team's name or slug. Raises ForbiddenError for an agent and InvalidError where
    another name was typed.
    """
    _check_team(viewer)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        team = Team.objects.get(pk=viewer.team_id)
    _check_typed(typed, names=(team.name, team.slug), of="team")
    rows = Memory.objects.filter(team_id=viewer.team_id, scope=scope.value)
    why = _why(f"the team's scope {scope.value} was cleared", reason)
    return clear_memories(viewer=viewer, rows=rows, reason=why)


def _check_team(viewer: Viewer) -> None:
    if viewer.agent_id is not None or viewer.project_ids:
        raise ForbiddenError("Clearing needs a key of the team, bound to no agent and no project.")


def _check_typed(typed: str, *, names: tuple[str, ...], of: str) -> None:
    if typed not in names:
        raise InvalidError(
            f"Type the name of the {of}, '{names[0]}', to clear it; nothing was changed.",
            field="name",
        )


def _why(what: str, reason: str) -> str:
    return f"{what}: {masked_note(reason)}" if reason else what


def clear_memories(
    *, viewer: Viewer, rows: QuerySet[Memory, Memory], reason: str, seconds: float = SECONDS
) -> Cleared:
    """Soft-deletes these memories, all of which the viewer may see; each can be restored.

    It goes on for so many seconds at most. Raises ForbiddenError where an agent would delete a
    preference of the team.
    """
    rows = rows.exclude(status__in=DELETED).order_by("id")
    deleted, until = 0, time.monotonic() + seconds
    while True:
        count = _delete_some(viewer, rows, reason)
        deleted += count
        if count < AT_ONCE or time.monotonic() > until:
            break
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        return Cleared(deleted, rows.count())


@retried
def _delete_some(viewer: Viewer, rows: QuerySet[Memory, Memory], reason: str) -> int:
    """Deletes up to AT_ONCE of the rows, those in dispute one by one."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        chosen = list(rows.select_for_update(of=("self",), no_key=True)[:AT_ONCE])
        for memory in chosen if viewer.agent_id is not None else ():
            consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
        ids = {memory.pk for memory in chosen}
        disputed = {memory.pk for memory in chosen if memory.contradicts}
        pairs = Contradiction.objects.filter(
            Q(memory_a__in=ids) | Q(memory_b__in=ids), team_id=viewer.team_id, resolved_at=None
        ).values_list("memory_a_id", "memory_b_id")
        disputed |= {pk for pair in pairs for pk in pair if pk in ids}
        for memory_id in sorted(disputed):
            delete_memory(viewer=viewer, memory_id=memory_id, reason=reason)
        Memory.objects.filter(team_id=viewer.team_id, pk__in=ids - disputed).update(
            status=Status.SOFT_DELETED.value, tier=Tier.COLD.value, is_pinned=False
        )
        return len(chosen)


# -- limits of projects ----------------------------------------------------------------------


def keep_to_limit(*, team_id: UUID, project_id: UUID) -> int:
    """Archives tenths of a project's memories while it has too many; returns how many memories."""
    archived = 0
    for _ in range(_ROUNDS):
        count = _archive_tenth(team_id=team_id, project_id=project_id)
        archived += count
        if not count:
            break
    return archived


def keep_all_to_limits() -> int:
    """Archives for each project that has too many memories; returns how many memories.

    It covers projects whose task the queue lost, or whose limit was lowered.
    """
    archived = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=_ACTOR):
            live = Memory.objects.filter(team_id=team_id, project__isnull=False).live()
            counted = live.values("project_id").annotate(count=Count("pk"))
            over = counted.filter(count__gt=F("project__max_items"))
            ids = list(over.values_list("project_id", flat=True))
        archived += sum(keep_to_limit(team_id=team_id, project_id=each) for each in ids)
    return archived


@retried
def _archive_tenth(*, team_id: UUID, project_id: UUID) -> int:
    """Archives the least important tenth, oldest first, where there are too many.

    Pinned, identity and disputed memories stay.
    """
    with team_scope(team_ids=[team_id], actor=_ACTOR):
        # Two tasks for one project would each take a tenth.
        hold_lock(f"project-limit|{project_id}")
        project = Project.objects.filter(team_id=team_id, pk=project_id).first()
        if project is None:
            return 0
        live = Memory.objects.filter(team_id=team_id, project_id=project_id).live()
        count = live.count()
        if count <= project.max_items:
            return 0
        rows = (
            live.filter(status=Status.ACTIVE.value, is_pinned=False)
            .exclude(memory_type=MemoryType.IDENTITY.value)
            .order_by("importance", "created_at", "id")
            .select_for_update(no_key=True)
        )
        tenth = min(max(count // 10, 1), AT_ONCE)
        ids = [memory.pk for memory in rows.only("pk")[:tenth]]
        viewer = Viewer(team_id=team_id, actor=_ACTOR)
        reason = (
            f"the project '{project.slug}' had {count:,} memories, more than {project.max_items:,}:"
            " its least important tenth is archived"
        )
        for memory_id in ids:
            archive_memory(viewer=viewer, memory_id=memory_id, reason=reason)
        return len(ids)
