"""The sidebar: every list in the group where one would look for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from memory.admin.dashboard import failed_jobs, open_contradictions
from teams.admin_permissions import is_member

_MEMBER = "teams.admin_permissions.is_member"
_ADMIN = "teams.admin_permissions.is_team_admin"
_SUPERUSER = "teams.admin_permissions.is_superuser"
# Group, then model, title, icon and who sees it.
_GROUPS: tuple[tuple[str, tuple[tuple[str, str, str, str], ...]], ...] = (
    (
        "Memory",
        (
            ("memory_memory", "Memories", "neurology", _MEMBER),
            ("memory_contradiction", "Contradictions", "compare_arrows", _MEMBER),
            ("memory_category", "Categories", "category", _MEMBER),
            ("memory_job", "Jobs", "manufacturing", _MEMBER),
        ),
    ),
    (
        "People",
        (
            ("teams_team", "Teams", "groups", _MEMBER),
            ("teams_teamversion", "Team versions", "history", _MEMBER),
            ("teams_membership", "Members", "badge", _MEMBER),
            ("teams_agent", "Agents", "smart_toy", _MEMBER),
            ("teams_agentversion", "Agent versions", "history", _MEMBER),
            ("teams_enduser", "End users", "person", _MEMBER),
            ("teams_project", "Projects", "folder", _MEMBER),
            ("teams_apikey", "API keys", "key", _MEMBER),
        ),
    ),
    (
        "Models",
        (
            ("routing_chatmodel", "Models", "memory", _MEMBER),
            ("routing_provider", "Providers", "dns", _MEMBER),
            ("routing_routingdecision", "Routing decisions", "alt_route", _MEMBER),
            ("routing_spendentry", "Spend", "payments", _MEMBER),
            ("routing_spendtotal", "Spend by day and month", "bar_chart", _MEMBER),
        ),
    ),
    (
        "Talk",
        (
            ("teams_conversation", "Conversations", "forum", _MEMBER),
            ("teams_checkpoint", "Checkpoints", "save", _ADMIN),
        ),
    ),
    (
        "Audit",
        (
            ("audit_memorylog", "Memory log", "receipt_long", _MEMBER),
            ("audit_operationalevent", "Operational events", "monitoring", _ADMIN),
        ),
    ),
    ("Logins", (("teams_staffuser", "Staff logins", "lock_person", _SUPERUSER),)),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:  # Any: the theme's loose shape
    """The groups of links, with the number of what waits beside two of them."""
    waiting = {}
    if is_member(request):
        waiting["memory_contradiction"] = (open_contradictions(), "warning")
        waiting["memory_job"] = (failed_jobs(), "danger")
    home = {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}
    groups = [
        {"title": title, "items": [_item(*entry, waiting) for entry in entries]}
        for title, entries in _GROUPS
    ]
    return [{"items": [home]}, *groups]


def _item(
    model: str,
    title: str,
    icon: str,
    permission: str,
    waiting: Mapping[str, tuple[int, str]],
) -> dict[str, Any]:
    item: dict[str, Any] = {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{model}_changelist"),
        "permission": permission,
    }
    count, colour = waiting.get(model, (0, ""))
    if count:
        item["badge"], item["badge_variant"] = count, colour
    return item
