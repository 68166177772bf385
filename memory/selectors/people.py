"""The conversations, people and projects of a team as a viewer may list them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.conversations import conversations_of
from teams.models import Conversation, EndUser, Project
from teams.services.agent_names import slug_called

_Row = TypeVar("_Row", bound=Model)


@dataclass(frozen=True, slots=True)
class ListFilters:
    """What a list is narrowed to; all that are given must hold."""

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    thread_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def filtered_conversations(
    *, viewer: Viewer, filters: ListFilters
) -> QuerySet[Conversation, Conversation]:
    """The conversations that the viewer may see and that match."""
    rows = _talks(viewer, filters).select_related("agent", "end_user", "project")
    if viewer.names_nobody:
        # Each is somebody's.
        rows = rows.none()
    elif viewer.end_user_id is not None:
        rows = rows.filter(end_user_id=viewer.end_user_id)
    return _in_time(rows, filters)


def filtered_people(*, viewer: Viewer, filters: ListFilters) -> QuerySet[EndUser, EndUser]:
    """The people the viewer may know of, who have talked as the filters say; nobody erased."""
    erased = Concat(Value("erased-"), Cast("pk", TextField()))
    rows = EndUser.objects.exclude(external_id=erased)
    return _known(viewer, filters, rows, "end_user")


def filtered_projects(*, viewer: Viewer, filters: ListFilters) -> QuerySet[Project, Project]:
    """The projects the viewer may know of, in which was talked as the filters say."""
    rows = Project.objects.all()
    if viewer.project_ids:
        rows = rows.filter(pk__in=viewer.project_ids)
    return _known(viewer, filters, rows, "project")


def _known(
    viewer: Viewer, filters: ListFilters, rows: QuerySet[_Row, _Row], owner: str
) -> QuerySet[_Row, _Row]:
    """Those that an agent has talked with or in, or of which it may see a memory; a team's all."""
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
    """The viewer's conversations with whom, where and in which thread the filters say."""
    given = {
        "agent__slug": filters.agent and slug_called(team_id=viewer.team_id, name=filters.agent),
        "end_user__external_id": filters.user,
        "project__slug": filters.project,
        "thread_id": filters.thread_id,
    }
    wanted = Q(**{name: value for name, value in given.items() if value is not None})
    return conversations_of(viewer).filter(wanted)


def _in_time(rows: QuerySet[_Row, _Row], filters: ListFilters) -> QuerySet[_Row, _Row]:
    if filters.created_after is not None:
        rows = rows.filter(created_at__gte=filters.created_after)
    if filters.created_before is not None:
        rows = rows.filter(created_at__lt=filters.created_before)
    return rows
