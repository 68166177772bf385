"""Contradictions beside each other: which one comes next, and which are about the same memories."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from memory.models import Contradiction
from teams.admin.display import page_of

from .sides import name_of

_NAMES = [
    f"{side}{name}"
    for side in ("memory_a", "memory_b")
    for name in ("", "__agent", "__end_user", "__project")
]


def with_sides(**which: object) -> QuerySet[Contradiction]:
    """Contradictions with both memories and whom these are about."""
    return Contradiction.objects.filter(**which).select_related("team", *_NAMES)


def open_beside(pair: Contradiction) -> list[Contradiction]:
    """The other open contradictions of its sides, the newest first."""
    sides = [each for each in (pair.memory_a_id, pair.memory_b_id) if each]
    rows = Contradiction.objects.filter(
        Q(memory_a__in=sides) | Q(memory_b__in=sides), team_id=pair.team_id, resolved_at=None
    )
    return list(rows.exclude(pk=pair.pk).select_related("memory_a", "memory_b"))


def next_open(pair: Contradiction) -> tuple[str, str] | None:
    """The one after it in the list of its team's open ones, or the first of them."""
    rows = with_sides(team_id=pair.team_id, resolved_at=None).exclude(pk=pair.pk)
    rows = rows.order_by("-detected_at")
    found = rows.filter(detected_at__lte=pair.detected_at).first() or rows.first()
    return linked(found) if found else None


def linked(pair: Contradiction) -> tuple[str, str]:
    """Its name and the address of its page."""
    return name_of(pair), page_of("memory_contradiction", pair.pk)
