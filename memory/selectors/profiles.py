"""The current values of a person's profile."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import TEAM_WIDE
from memory.domain.profile_fields import matter_of
from memory.domain.viewer import Viewer
from memory.models import Memory

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
