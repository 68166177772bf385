"""The sidebar, and the admin's first page: the work that waits, and what happened last."""

from __future__ import annotations

from collections.abc import Mapping
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
        Figure("Queued and running jobs", queued, f"{jobs}?state=at-work"),
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


# Models by group, each with its title and icon.
_GROUPS = {
    "Memory": [
        ("memory_memory", "Memories", "neurology"),
        ("memory_contradiction", "Contradictions", "compare_arrows"),
        ("memory_category", "Categories", "category"),
        ("memory_job", "Jobs", "manufacturing"),
    ],
    "People": [
        ("teams_team", "Teams", "groups"),
        ("teams_teamversion", "Team versions", "history"),
        ("teams_membership", "Members", "badge"),
        ("teams_agent", "Agents", "smart_toy"),
        ("teams_agentversion", "Agent versions", "history"),
        ("teams_enduser", "End users", "person"),
        ("teams_project", "Projects", "folder"),
        ("teams_apikey", "API keys", "key"),
    ],
    "Models": [
        ("routing_chatmodel", "Models", "memory"),
        ("routing_provider", "Providers", "dns"),
        ("routing_routingdecision", "Routing decisions", "alt_route"),
        ("routing_spendentry", "Spend", "payments"),
        ("routing_spendtotal", "Spend by day and month", "bar_chart"),
    ],
    "Conversations": [
        ("teams_conversation", "Conversations", "forum"),
        ("teams_checkpoint", "Checkpoints", "save"),
    ],
    "Audit": [
        ("audit_memorylog", "Memory log", "receipt_long"),
        ("audit_operationalevent", "Operational events", "monitoring"),
    ],
    "Logins": [("teams_staffuser", "Staff logins", "lock_person")],
}
# Who sees a link, where not every member of a team does.
_PERMISSIONS = {
    "teams_checkpoint": "is_team_admin",
    "audit_operationalevent": "is_team_admin",
    "teams_staffuser": "is_superuser",
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:  # Any: the theme's loose shape
    """The groups of links, with the number of what waits beside two of them."""
    waiting = {}
    if is_member(request):
        waiting["memory_contradiction"] = (open_contradictions(), "warning")
        waiting["memory_job"] = (failed_jobs(), "danger")
    home = {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}
    groups: list[dict[str, Any]] = [
        {"title": title, "items": [_item(*entry, waiting) for entry in entries]}
        for title, entries in _GROUPS.items()
    ]
    groups[0]["items"].append(
        {
            "title": "Retrieval playground",
            "icon": "experiment",
            "link": reverse("memory_playground"),
            "permission": "teams.admin_permissions.is_member",
        }
    )
    return [{"items": [home]}, *groups]


def _item(
    model: str, title: str, icon: str, waiting: Mapping[str, tuple[int, str]]
) -> dict[str, Any]:
    count, colour = waiting.get(model, (0, ""))
    return {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{model}_changelist"),
        "permission": f"teams.admin_permissions.{_PERMISSIONS.get(model, 'is_member')}",
        **({"badge": count, "badge_variant": colour} if count else {}),
    }
