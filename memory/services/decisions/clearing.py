"""Deletes all memories of a project or team, with their history, for who typed its name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.domain.types import DELETED, Scope, Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.services.decisions.state import delete_memory
from memory.services.retrying import retried
from memory.services.write.consent import consent
from memory.services.write.secrets import masked_note
from teams.errors import ForbiddenError, InvalidError, NotFoundError
from teams.models import Project, Team
from teams.tenancy import team_scope

AT_ONCE = 500
# A request goes on clearing for so long; what is left takes another one.
SECONDS = 20.0
# What can be cleared of a whole team at a time.
TEAM_SCOPES = (Scope.PROJECT, Scope.TEAM)


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many memories were deleted, and how many are left to be cleared by another call."""

    deleted: int
    left: int


def clear_project(
    *, viewer: Viewer, slug: str, typed: str, reason: str = "", seconds: float = SECONDS
) -> Cleared:
    """Soft-delete all memories of a project, whatever their status; each can be restored.

    `typed` is the project's slug or name. Raises ForbiddenError for an agent, NotFoundError for an
    unknown project and InvalidError where another name was typed.
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


def clear_team(
    *, viewer: Viewer, scope: Scope, typed: str, reason: str = "", seconds: float = SECONDS
) -> Cleared:
    """Soft-delete a team's memories of scope `project` (of all its projects) or `team`.

    `typed` is the team's name or slug. Raises ForbiddenError for an agent and InvalidError where
    another name was typed.
    """
    _check_team(viewer)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        team = Team.objects.get(pk=viewer.team_id)
    _check_typed(typed, names=(team.name, team.slug), of="team")
    rows = Memory.objects.filter(team_id=viewer.team_id, scope=scope.value)
    why = _why(f"the team's scope {scope.value} was cleared", reason)
    return clear_memories(viewer=viewer, rows=rows, reason=why, seconds=seconds)


def _check_team(viewer: Viewer) -> None:
    if viewer.agent_id is not None:
        raise ForbiddenError("Clearing needs a key of the team, bound to no agent.")


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
    """Soft-delete these memories, all of which the viewer may see; each can be restored.

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
    """Delete up to AT_ONCE of the rows, those in dispute as one of them would be."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        chosen = list(rows.select_for_update(of=("self",), no_key=True)[:AT_ONCE])
        for memory in chosen if viewer.agent_id is not None else ():
            consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
        ids = {memory.pk for memory in chosen}
        disputed = _in_dispute(viewer.team_id, ids)
        disputed |= {memory.pk for memory in chosen if memory.contradicts}
        for memory_id in sorted(disputed):
            delete_memory(viewer=viewer, memory_id=memory_id, reason=reason)
        Memory.objects.filter(team_id=viewer.team_id, pk__in=ids - disputed).update(
            status=Status.SOFT_DELETED.value, tier=Tier.COLD.value, is_pinned=False
        )
        return len(chosen)


def _in_dispute(team_id: UUID, ids: set[UUID]) -> set[UUID]:
    """Those that an open contradiction names."""
    pairs = Contradiction.objects.filter(
        Q(memory_a__in=ids) | Q(memory_b__in=ids), team_id=team_id, resolved_at=None
    ).values_list("memory_a_id", "memory_b_id")
    return {pk for pair in pairs for pk in pair if pk in ids}
