"""What may be seen, once; and the filters that lists are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from memory.domain.audience import OF_AN_AGENT, TEAM_WIDE
from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer

if TYPE_CHECKING:
    from .memory import Memory  # noqa: F401 - named in the base class below


def visible_to_q(viewer: Viewer) -> Q:
    """The rows `viewer` may see, whatever their status (seed 000, visibility rules).

    An agent sees what is shared or about the person, what is its own, and what belongs to no
    agent; a viewer narrowed to an end user or project sees rows of that one or of none.
    """
    seen = Q(team_id=viewer.team_id)
    if viewer.agent_id is not None:
        seen &= (
            Q(memory_type__in=TEAM_WIDE)
            | Q(agent_id=viewer.agent_id)
            | Q(agent_id__isnull=True) & ~Q(memory_type__in=OF_AN_AGENT)
        )
    if viewer.end_user_id is not None:
        seen &= Q(end_user_id=viewer.end_user_id) | Q(end_user_id__isnull=True)
    if viewer.project_id is not None:
        seen &= Q(project_id=viewer.project_id) | Q(project_id__isnull=True)
    return seen


class MemoryQuerySet(QuerySet["Memory"]):
    """Chainable filters over memories."""

    def visible_to(self, viewer: Viewer) -> MemoryQuerySet:
        """Only what `viewer` may see; every agent-facing read begins here."""
        return self.filter(visible_to_q(viewer))

    def live(self) -> MemoryQuerySet:
        """Active and disputed memories."""
        return self.filter(status__in=(Status.ACTIVE.value, Status.DISPUTED.value))

    def searchable(self, *, include_cold: bool) -> MemoryQuerySet:
        """What a search looks through: live ones; with `include_cold` the archive too.

        Soft-deleted memories are never searched.
        """
        if include_cold:
            return self.exclude(status=Status.SOFT_DELETED.value)
        return self.live().exclude(tier=Tier.COLD.value)

    def with_names(self) -> MemoryQuerySet:
        """With what an answer names: agent, end user, project and usage, in the same query."""
        return self.select_related("agent", "end_user", "project", "usage")
