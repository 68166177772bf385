"""The admin's first page: the work that waits, and what happened last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from audit.admin import event_title
from audit.models import MemoryLog
from memory.models import Contradiction, Job, Memory
from teams.admin.display import excerpt
from teams.admin_permissions import is_member
from teams.models import Conversation

RECENT = 12


@dataclass(frozen=True, slots=True)
class Figure:
    """A count that leads to its list."""

    title: str
    count: int
    url: str
    waits: bool = False


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add figures and the newest log rows of the login's teams to the first page's context."""
    if not is_member(request):
        return context
    entries = list(MemoryLog.objects.select_related("team").order_by("-seq")[:RECENT])
    texts = Memory.objects.filter(pk__in=[entry.memory_id for entry in entries])
    said = dict(texts.values_list("pk", "content"))
    return {
        **context,
        "title": "Overview",
        "figures": _figures(),
        "entries": [
            (event_title(entry.event), entry, excerpt(said.get(entry.memory_id, "")))
            for entry in entries
        ],
        "is_member": True,
    }


def open_contradictions() -> int:
    """How many contradictions wait for a decision."""
    return Contradiction.objects.filter(resolved_at=None).count()


def failed_jobs() -> int:
    """How many jobs were given up."""
    return Job.objects.filter(state=Job.State.FAILED).count()


def _figures() -> list[Figure]:
    jobs = reverse("admin:memory_job_changelist")
    open_pairs, failed = open_contradictions(), failed_jobs()
    queued = Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).count()
    return [
        Figure(
            "Open contradictions",
            open_pairs,
            reverse("admin:memory_contradiction_changelist"),
            waits=open_pairs > 0,
        ),
        Figure("Failed jobs", failed, f"{jobs}?state=failed", waits=failed > 0),
        Figure("Jobs at work", queued, f"{jobs}?state=at-work"),
        Figure(
            "Live memories",
            Memory.objects.live().count(),
            f"{reverse('admin:memory_memory_changelist')}?standing=live",
        ),
        Figure(
            "Conversations",
            Conversation.objects.count(),
            reverse("admin:teams_conversation_changelist"),
        ),
    ]
