"""The admin's first page, its menu, and the page that lists the keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.timesince import timesince

from memory.models import Contradiction, Job, Memory
from memory.selectors.contradictions import is_waiting
from memory.writing.figures import figures_of
from routing.services.cost_guard import month_spend
from teams.admin_permissions import is_member, is_team_admin, sees_several_teams
from teams.models import Conversation, Team

from .charts import charts_of
from .feed import feed_of


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of rows that leads to their list; of waiting work also the oldest one's time."""

    title: str
    count: int
    url: str
    oldest: datetime | None = None

    @property
    def age(self) -> str:
        """The age of the oldest, such as "3 days"; empty where nothing waits."""
        return timesince(self.oldest, depth=1) if self.oldest else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: its rows in the teams of the request, the time each began, and its list.

    `model` is the name of the list's page, `query` narrows it to the same rows. With `badge` the
    menu shows the count beside the page, in that colour. `order` places it on Home.
    """

    title: str
    model: str
    query: str
    rows: Callable[[], QuerySet[Any]]  # Any: rows of whatever kind of work
    began: str
    order: int
    badge: str = ""

    def waiting(self) -> Figure:
        found = self.rows().order_by().aggregate(count=Count("pk"), oldest=Min(self.began))
        url = f"{reverse(f'admin:{self.model}_changelist')}?{self.query}"
        return Figure(self.title, found["count"], url, found["oldest"])


def _jobs(title: str, order: int, query: str, *states: Job.State, badge: str = "") -> Kind:
    def rows() -> QuerySet[Job]:
        return Job.objects.filter(state__in=states)

    return Kind(title, "memory_job", f"state={query}", rows, "created_at", order, badge)


# A satellite adds its kinds in its admin module.
KINDS = [
    Kind(
        "Open contradictions",
        "memory_contradiction",
        "state=open",
        lambda: Contradiction.objects.filter(is_waiting(timezone.now())),
        "detected_at",
        order=1,
        badge="warning",
    ),
    _jobs("Failed jobs", 3, "failed", Job.State.FAILED, badge="danger"),
    _jobs("Skipped messages", 4, "set_aside", Job.State.SET_ASIDE, badge="danger"),
    _jobs("Queued and running jobs", 5, "at-work", Job.State.QUEUED, Job.State.RUNNING),
]


def _badges() -> dict[str, tuple[int, str]]:
    """The counts that the menu shows, by the page's model, each with its colour."""
    rows: dict[str, QuerySet[Any]] = {}  # Any: rows of whatever kind of work
    colours: dict[str, str] = {}
    for kind in KINDS:
        if kind.badge:
            known = rows.get(kind.model)
            rows[kind.model] = kind.rows() if known is None else known | kind.rows()
            colours[kind.model] = kind.badge
    return {model: (found.count(), colours[model]) for model, found in rows.items()}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Returns the first page's context with the work, charts and feed of the login's teams."""
    if not is_member(request):
        return context | {"title": "Home"}
    teams = {team.pk: team for team in Team.objects.all()}
    now = timezone.now()
    figures = figures_of(team_ids=list(teams), zone=timezone.get_current_timezone(), now=now)
    month = month_spend(teams=list(teams.values()), now=now)
    memories = reverse("admin:memory_memory_changelist")
    conversations = reverse("admin:teams_conversation_changelist")
    return {
        **context,
        "title": "Home",
        "is_member": True,
        "waiting": [kind.waiting() for kind in sorted(KINDS, key=lambda each: each.order)],
        "figures": [
            Figure("Live memories", Memory.objects.live().count(), f"{memories}?standing=live"),
            Figure("Conversations", Conversation.objects.count(), conversations),
        ],
        "charts": charts_of(figures, month=month, sees_events=is_team_admin(request)),
        "feed": [(each, teams[each.team_id]) for each in feed_of(team_ids=list(teams))],
        "names_teams": sees_several_teams(request),
    }


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
    """Returns the groups of the menu, with the number of waiting rows beside some links."""
    badges = _badges() if is_member(request) else {}
    groups: list[dict[str, Any]] = [
        {"items": [{"title": "Home", "icon": "home", "link": reverse("admin:index")}]}
    ]
    for group, entries in _GROUPS.items():
        items: list[dict[str, Any]] = []
        for model, title, icon in entries:
            try:
                link = reverse(model if model in _PAGES else f"admin:{model}_changelist")
            except NoReverseMatch:
                # The app of the page is not installed.
                continue
            count, colour = badges.get(model, (0, ""))
            permission = f"teams.admin_permissions.{_PERMISSIONS.get(model, 'is_member')}"
            item = {"title": title, "icon": icon, "link": link, "permission": permission}
            items.append(item | ({"badge": count, "badge_variant": colour} if count else {}))
        groups.append({"title": group, "items": items})
    return groups


def key_list(request: HttpRequest) -> HttpResponse:
    """The keys of the admin, by page."""
    context = {**admin.site.each_context(request), "title": "Keys"}
    return TemplateResponse(request, "admin/memory/key_list.html", context)
