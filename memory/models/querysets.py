"""The one definition of visible rows, and the filters that lists are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from memory.domain.audience import Audience, Viewer
from memory.domain.types import DELETED, Status, Tier

if TYPE_CHECKING:
    from .memory import Memory  # noqa: F401 - named in the base class below


# Of what a memory belongs to, answers hold names; an agent's document is long.
_NAMES = (
    "agent__slug",
    "end_user__external_id",
    "end_user__display_name",
    "project__slug",
    "usage__retrieved",
    "usage__cited",
    "usage__ignored",
    "usage__succeeded",
    "usage__failed",
    "usage__last_accessed_at",
)


def visible_to_q(viewer: Viewer) -> Q:
    """Returns the condition of rows `viewer` may see, in any status (seed 000, visibility rules).

    An agent sees its own and what is a person's or the team's; a viewer narrowed to an end user or
    project sees rows of that one or of none, and a guest nothing of the team's that was learned in
    talk.
    """
    seen = Q(team_id=viewer.team_id)
    if viewer.agent_id is not None:
        seen &= ~Q(audience=Audience.AGENT.value) | Q(agent_id=viewer.agent_id)
    if viewer.is_guest:
        seen &= ~Q(audience=Audience.TEAM.value) | Q(conversation_id__isnull=True)
    return seen & narrowed_q(viewer)


def heard_by_q(viewer: Viewer) -> Q:
    """Returns the condition of messages `viewer` may see.

    An agent sees those of its own conversations with the person it names, what other agents share
    of theirs with this one, and what members of the team said for the team, unless the person is a
    guest. An agent with an allowlist sees no other agent's: messages have no category.
    """
    heard = Q(team_id=viewer.team_id)
    of_team = Q(audience=Audience.TEAM.value)
    if viewer.agent_id is not None:
        own = Q(agent_id=viewer.agent_id)
        if not viewer.allowed_categories:
            own |= of_team | Q(audience=Audience.PERSON.value)
        heard &= own
    if viewer.end_user_id is not None:
        of_person = Q(end_user_id=viewer.end_user_id)
        heard &= of_person if viewer.is_guest else of_person | of_team
    elif viewer.names_nobody:
        heard &= of_team
    return heard & in_projects_q(viewer)


def narrowed_q(viewer: Viewer) -> Q:
    """Returns the condition of rows of the viewer's end user and project or of none."""
    kept = Q()
    if viewer.end_user_id is not None:
        kept &= Q(end_user_id=viewer.end_user_id) | Q(end_user_id__isnull=True)
    elif viewer.names_nobody:
        kept &= Q(end_user_id__isnull=True)
    return kept & in_projects_q(viewer)


def in_projects_q(viewer: Viewer) -> Q:
    """Returns the condition of rows of the viewer's project, or its key's projects, or none."""
    if viewer.project_id is not None:
        return Q(project_id=viewer.project_id) | Q(project_id__isnull=True)
    if viewer.project_ids:
        return Q(project_id__in=viewer.project_ids) | Q(project_id__isnull=True)
    return Q()


def allowed_q(viewer: Viewer) -> Q:
    """Returns the condition of rows that the agent may read by their category (seed 004, §5)."""
    if not viewer.allowed_categories:
        return Q()
    return Q(category__in=["", *viewer.allowed_categories])


class MemoryQuerySet(QuerySet["Memory"]):
    """Chainable filters over memories."""

    def visible_to(self, viewer: Viewer) -> MemoryQuerySet:
        """Returns what `viewer` may see, without purged memories; each read begins here."""
        return self.filter(visible_to_q(viewer), allowed_q(viewer), ~Q(status=Status.PURGED.value))

    def purged_from(self, viewer: Viewer) -> MemoryQuerySet:
        """Returns what `viewer` saw before it was purged."""
        return self.filter(visible_to_q(viewer), allowed_q(viewer), status=Status.PURGED.value)

    def live(self) -> MemoryQuerySet:
        return self.filter(status__in=(Status.ACTIVE.value, Status.DISPUTED.value))

    def searchable(self, *, include_cold: bool) -> MemoryQuerySet:
        """Returns live memories; with `include_cold` the archive too, never deleted ones."""
        if include_cold:
            return self.exclude(status__in=DELETED)
        return self.live().exclude(tier=Tier.COLD.value)

    def with_names(self, *, usage: bool = True) -> MemoryQuerySet:
        """Joins what an answer names: agent, end user, project and usage."""
        own = [field.attname for field in self.model._meta.concrete_fields]
        rows = self.select_related(None).select_related("agent", "end_user", "project")
        if usage:
            return rows.select_related("usage").only(*own, *_NAMES)
        return rows.only(*own, *(name for name in _NAMES if not name.startswith("usage__")))
