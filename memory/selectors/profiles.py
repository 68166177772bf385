"""What a person's profile says, and who may see the changes that wait."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.domain.audience import TEAM_WIDE
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.querysets import allowed_q
from memory.satellites.consent.matters import matter_of
from memory.satellites.consent.models import ConsentRequest
from memory.selectors.people import ListFilters, filtered_people

_PROFILE_ROOT = "user."


def present_values(
    *,
    team_id: UUID,
    end_user_id: UUID,
    matter: str,
    fields: Collection[str],
    agent_id: UUID | None = None,
) -> list[Memory]:
    """The live memories that tell this field of the person, the latest first; in scope.

    Those that all agents see, or those of the agent alone where one is given.
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
    """The person's fields by name, as far as the viewer may see them; call it in scope.

    Where several memories tell a field, it is the latest.
    """
    rows = Memory.objects.visible_to(viewer).live()
    rows = rows.filter(end_user_id=end_user_id, subject__startswith=_PROFILE_ROOT)
    found: dict[str, ProfileField] = {}
    for row in rows.order_by("-created_at", "-id"):
        matter = matter_of(memory_type=row.memory_type, subject=row.subject, fields=fields)
        if matter:
            found.setdefault(matter, ProfileField(matter, row))
    return [found[name] for name in sorted(found)]


def requests_visible_to(viewer: Viewer) -> QuerySet[ConsentRequest, ConsentRequest]:
    """The consent requests that the viewer may see.

    An agent sees those of people that it knows, of projects' memories that it may see and of its
    own workflows, in categories that it may read, and none that are another agent's own. It sees no
    proposed fact of the team: several people's words stand behind it.
    """
    rows = ConsentRequest.objects.filter(allowed_q(viewer), team_id=viewer.team_id)
    if viewer.project_ids:
        of_none = Q(draft__project_id=None) | Q(draft__project_id__isnull=True)
        rows = rows.filter(of_none | Q(draft__project_id__in=[str(e) for e in viewer.project_ids]))
    if viewer.end_user_id is not None:
        rows = rows.filter(Q(end_user_id=viewer.end_user_id) | Q(end_user__isnull=True))
    elif viewer.names_nobody:
        rows = rows.filter(end_user__isnull=True)
    if viewer.agent_id is not None:
        known = filtered_people(viewer=viewer, filters=ListFilters()).values("pk")
        seen = Memory.objects.visible_to(viewer).values("pk")
        rows = rows.filter(
            Q(agent_id__isnull=True) | Q(agent_id=viewer.agent_id),
            Q(end_user__in=known)
            | Q(end_user__isnull=True, memory__in=seen)
            | Q(end_user__isnull=True, present__in=seen)
            | Q(kind=ConsentRequest.Kind.WORKFLOW, end_user__isnull=True),
        ).exclude(kind=ConsentRequest.Kind.TEAM_FACT)
    return rows.select_related("end_user", "present")
