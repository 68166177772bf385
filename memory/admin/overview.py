"""The sidebar, and the admin's first page: the work that waits, charts, and what happened last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from memory.models import Memory
from memory.writing.figures import figures_of
from routing.services.cost_guard import month_spend
from teams.admin_permissions import is_member, is_team_admin, sees_several_teams
from teams.models import Conversation, Team

from .charts import charts_of
from .feed import feed_of
from .waiting import badges, waiting_work


@dataclass(frozen=True, slots=True)
class Figure:
    """A count that leads to its list."""

    title: str
    count: int
    url: str


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add what waits, the charts and the feed of the login's teams to the first page's context."""
    if not is_member(request):
        return context | {"title": "Home"}
    teams = {team.pk: team for team in Team.objects.all()}
    now = timezone.now()
    figures = figures_of(team_ids=list(teams), zone=timezone.get_current_timezone(), now=now)
    month = month_spend(teams=list(teams.values()), now=now)
    return {
        **context,
        "title": "Home",
        "is_member": True,
        "waiting": waiting_work(),
        "figures": _figures(),
        "charts": charts_of(figures, month=month, sees_events=is_team_admin(request)),
        "feed": [(each, teams[each.team_id]) for each in feed_of(team_ids=list(teams))],
        "names_teams": sees_several_teams(request),
    }


def _figures() -> list[Figure]:
    memories = reverse("admin:memory_memory_changelist")
    conversations = reverse("admin:teams_conversation_changelist")
    return [
        Figure("Live memories", Memory.objects.live().count(), f"{memories}?standing=live"),
        Figure("Conversations", Conversation.objects.count(), conversations),
    ]


# Models and pages by group, each with its title and icon.
_GROUPS = {
    "Memory": [
        ("memory_memory", "Memories", "neurology"),
        ("memory_contradiction", "Contradictions", "compare_arrows"),
        ("consent_consentrequest", "Consent requests", "how_to_reg"),
        ("memory_playground", "Retrieval playground", "experiment"),
        ("time_travel", "Time travel", "history_toggle_off"),
        ("memory_category", "Categories", "category"),
        ("memory_job", "Jobs", "manufacturing"),
        ("transfer_importrun", "Import runs", "upload_file"),
        ("lifecycle_consolidationrun", "Consolidation runs", "cleaning_services"),
        ("lifecycle_consolidationchange", "Consolidation changes", "playlist_add_check"),
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
        ("webhooks_webhookendpoint", "Webhooks", "webhook"),
        ("webhooks_webhookdelivery", "Webhook deliveries", "outbox"),
    ],
    "Models": [
        ("routing_chatmodel", "Models", "memory"),
        ("routing_provider", "Providers", "dns"),
        ("routing_routingdecision", "Routing decisions", "alt_route"),
        ("routing_spendentry", "Spend entries", "payments"),
        ("routing_spendtotal", "Spend totals", "bar_chart"),
    ],
    "Conversations": [
        ("teams_conversation", "Conversations", "forum"),
        ("teams_checkpoint", "Checkpoints", "save"),
    ],
    "Audit": [
        ("audit_memorylog", "Log entries", "receipt_long"),
        ("audit_operationalevent", "Operational events", "monitoring"),
    ],
    "Logins": [("teams_staffuser", "Staff logins", "lock_person")],
}
# Pages that are no list of rows, by the names of their addresses.
_PAGES = frozenset({"memory_playground", "time_travel"})
# Who sees a link, where not every member of a team does.
_PERMISSIONS = {
    "transfer_importrun": "is_team_admin",
    "teams_checkpoint": "is_team_admin",
    "webhooks_webhookendpoint": "is_team_admin",
    "webhooks_webhookdelivery": "is_team_admin",
    "audit_operationalevent": "is_team_admin",
    "teams_staffuser": "is_superuser",
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:  # Any: the theme's loose shape
    """The groups of links, with the number of what waits beside some of them."""
    waiting = badges() if is_member(request) else {}
    home = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
    groups = [
        {"title": title, "items": [item for entry in entries if (item := _item(*entry, waiting))]}
        for title, entries in _GROUPS.items()
    ]
    return [{"items": [home]}, *groups]


def _item(
    model: str, title: str, icon: str, waiting: Mapping[str, tuple[int, str]]
) -> dict[str, Any] | None:
    """Returns the link, None where the app of the page is not installed."""
    count, colour = waiting.get(model, (0, ""))
    try:
        link = reverse(model if model in _PAGES else f"admin:{model}_changelist")
    except NoReverseMatch:
        return None
    return {
        "title": title,
        "icon": icon,
        "link": link,
        "permission": f"teams.admin_permissions.{_PERMISSIONS.get(model, 'is_member')}",
        **({"badge": count, "badge_variant": colour} if count else {}),
    }
