"""Visibility of consent requests."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.querysets import allowed_q
from memory.satellites.consent.models import ConsentRequest
from memory.selectors.people import ListFilters, filtered_people
from teams.models import EndUser


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


def waiting_for(viewer: Viewer, person: EndUser) -> QuerySet[ConsentRequest, ConsentRequest]:
    """Returns the pending requests about a person that the viewer may see, the oldest first."""
    rows = requests_visible_to(viewer)
    return rows.filter(end_user=person, state=ConsentRequest.State.WAITING).order_by("id")
