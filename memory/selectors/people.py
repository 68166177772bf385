"""People that a viewer knows, and their profiles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from memory.domain.audience import TEAM_WIDE, Viewer
from memory.domain.profile_fields import matter_of
from memory.models import Memory
from memory.selectors.conversations import conversations_of
from memory.selectors.filters import lookups
from teams.models import Conversation, EndUser, Project
from teams.services.people import slug_called

_Row = TypeVar("_Row", bound=Model)


@dataclass(frozen=True, slots=True)
class ListFilters:
    """Filters of a list, all of which must hold."""

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    thread_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def filtered_conversations(
    *, viewer: Viewer, filters: ListFilters
) -> QuerySet[Conversation, Conversation]:
    """Returns the conversations that the viewer may see and that match."""
    rows = _talks(viewer, filters).select_related("agent", "end_user", "project")
    if viewer.names_nobody:
        # Each is somebody's.
        rows = rows.none()
    elif viewer.end_user_id is not None:
        rows = rows.filter(end_user_id=viewer.end_user_id)
    return _in_time(rows, filters)


def filtered_people(*, viewer: Viewer, filters: ListFilters) -> QuerySet[EndUser, EndUser]:
    """Returns the people the viewer may know of, with talk that matches; nobody erased."""
    erased = Concat(Value("erased-"), Cast("pk", TextField()))
    rows = EndUser.objects.exclude(external_id=erased)
    return _known(viewer, filters, rows, "end_user")


def filtered_projects(*, viewer: Viewer, filters: ListFilters) -> QuerySet[Project, Project]:
    """Returns the projects the viewer may know of, with talk that matches."""
    rows = Project.objects.all()
    if viewer.project_ids:
        rows = rows.filter(pk__in=viewer.project_ids)
    return _known(viewer, filters, rows, "project")


def _known(
    viewer: Viewer, filters: ListFilters, rows: QuerySet[_Row, _Row], owner: str
) -> QuerySet[_Row, _Row]:
    """Rows that an agent has talked with or in, or of which it may see a memory; for a team all."""
    of_it = {owner: OuterRef("pk")}
    rows = _in_time(rows.filter(team_id=viewer.team_id), filters)
    if viewer.agent_id is not None:
        talked = conversations_of(viewer).filter(**of_it)
        rows = rows.filter(
            Exists(talked) | Exists(Memory.objects.visible_to(viewer).filter(**of_it))
        )
    if filters.agent or filters.user or filters.project:
        rows = rows.filter(Exists(_talks(viewer, filters).filter(**of_it)))
    return rows


def _talks(viewer: Viewer, filters: ListFilters) -> QuerySet[Conversation, Conversation]:
    wanted = lookups(
        agent__slug=filters.agent and slug_called(team_id=viewer.team_id, name=filters.agent),
        end_user__external_id=filters.user,
        project__slug=filters.project,
        thread_id=filters.thread_id,
    )
    return conversations_of(viewer).filter(**wanted)


def _in_time(rows: QuerySet[_Row, _Row], filters: ListFilters) -> QuerySet[_Row, _Row]:
    times = lookups(created_at__gte=filters.created_after, created_at__lt=filters.created_before)
    return rows.filter(**times)


_PROFILE_ROOT = "user."


def present_values(
    *,
    team_id: UUID,
    end_user_id: UUID,
    matter: str,
    fields: Collection[str],
    agent_id: UUID | None = None,
) -> list[Memory]:
    """Returns the live memories that tell this field of the person, latest first; in scope.

    Those that all agents see, or those of one agent alone.
    """
    rows = Memory.objects.live().filter(
        team_id=team_id, end_user_id=end_user_id, subject__startswith=_PROFILE_ROOT
    )
    everybody = Q(memory_type__in=TEAM_WIDE) | Q(agent_id__isnull=True)
    rows = rows.filter(everybody if agent_id is None else ~everybody & Q(agent_id=agent_id))
    return [
        row
        for row in rows.order_by("-created_at", "-id")
        if matter_of(memory_type=row.memory_type, subject=row.subject, fields=fields) == matter
    ]


@dataclass(frozen=True, slots=True)
class ProfileField:
    """A field of a person's profile, and the memory that tells it now."""

    field: str
    memory: Memory


def profile_of(*, viewer: Viewer, end_user_id: UUID, fields: Collection[str]) -> list[ProfileField]:
    """Returns the person's latest value of each field that the viewer may see; in scope."""
    rows = Memory.objects.visible_to(viewer).live()
    rows = rows.filter(end_user_id=end_user_id, subject__startswith=_PROFILE_ROOT)
    found: dict[str, ProfileField] = {}
    for row in rows.order_by("-created_at", "-id"):
        matter = matter_of(memory_type=row.memory_type, subject=row.subject, fields=fields)
        if matter:
            found.setdefault(matter, ProfileField(matter, row))
    return [found[name] for name in sorted(found)]
