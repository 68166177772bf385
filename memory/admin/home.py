"""The admin's first page, its menu, and the page that lists the keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.db.models import Count, Min, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.timesince import timesince

from audit.services.verification import seal_statuses
from memory.models import Job, Memory
from memory.selectors.figures import figures_of
from routing.services.cost_guard import month_spend
from teams.admin.display import page_of_row
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
        """The age of the oldest, such as "3 days"; empty where nothing is waiting."""
        return timesince(self.oldest, depth=1) if self.oldest else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: its rows in the teams of the request, the time each began, and its list.

    `page` is the name of the list's page, `query` narrows it to the same rows. With `badge` the
    menu shows the count beside the page, in that colour. `order` places it on Home. The page
    of a person, an agent or a project lists such rows by `name`, with links to their `url`:
    `subjects` has the lookups of its `end_user`, `agent` and `project`.
    """

    title: str
    page: str
    query: str
    rows: Callable[[], QuerySet[Any]]  # Any: rows of whatever kind of work
    began: str
    order: int
    badge: str = ""
    subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)
    name: Callable[[Any], str] = str  # Any: a row of its kind
    url: Callable[[Any], str] = page_of_row  # Any: a row of its kind

    def waiting(self) -> Figure:
        found = self.rows().order_by().aggregate(count=Count("pk"), oldest=Min(self.began))
        url = f"{reverse(self.page)}?{self.query}"
        return Figure(self.title, found["count"], url, found["oldest"])


_JOBS = "admin:memory_job_changelist"


def _jobs(title: str, order: int, query: str, *states: Job.State, badge: str = "") -> Kind:
    def rows() -> QuerySet[Job]:
        return Job.objects.filter(state__in=states)

    return Kind(title, _JOBS, f"state={query}", rows, "created_at", order, badge)


# `items.register` adds the kinds of the inbox.
KINDS = [
    _jobs("Failed jobs", 3, "failed", Job.State.FAILED, badge="danger"),
    _jobs("Skipped messages", 4, "set_aside", Job.State.SET_ASIDE, badge="danger"),
    _jobs("Jobs in progress", 5, "at-work", Job.State.QUEUED, Job.State.RUNNING),
]


def _badges() -> dict[str, tuple[int, str]]:
    """The counts that the menu shows, by the name of the page, each with its colour."""
    rows: dict[tuple[str, type[Model]], QuerySet[Any]] = {}  # Any: rows of whatever kind of work
    colours: dict[str, str] = {}
    for kind in KINDS:
        if kind.badge:
            own = kind.rows().order_by().select_related(None)
            key = (kind.page, own.model)
            rows[key] = rows[key] | own if key in rows else own
            colours[kind.page] = kind.badge
    counts: Counter[str] = Counter()
    for (page, _), found in rows.items():
        counts[page] += found.count()
    return {page: (count, colours[page]) for page, count in counts.items()}


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
            Figure("Active memories", Memory.objects.live().count(), f"{memories}?standing=live"),
            Figure("Conversations", Conversation.objects.count(), conversations),
        ],
        "charts": charts_of(figures, month=month, sees_events=is_team_admin(request)),
        "feed": [(each, teams[each.team_id]) for each in feed_of(team_ids=list(teams))],
        "names_teams": sees_several_teams(request),
        "log": _log_status(list(teams)),
    }


def _log_status(team_ids: list[UUID]) -> dict[str, Any]:  # Any: a template's context
    """The oldest of the teams' latest seals and verifications, and whether any log was changed."""
    statuses = seal_statuses(team_ids=team_ids)
    sealed = [each.sealed_at for each in statuses if each.sealed_at]
    verified = [each.verified_at for each in statuses if each.verified_at]
    return {
        "url": reverse("admin:audit_memorylog_changelist"),
        "sealed_at": min(sealed, default=None),
        "verified_at": min(verified) if verified and len(verified) == len(statuses) else None,
        "is_intact": all(each.is_intact for each in statuses),
    }


# The group that is folded until it is opened.
_FOLDED = "Advanced"
# By the kind of a page of what is known: the list in the menu.
_LISTS = {"person": "teams_enduser", "agent": "teams_agent", "project": "teams_project"}
# Models by group, each with its icon; a page that is no list of rows has a title as well.
_GROUPS: dict[str, list[tuple[str, ...]]] = {
    "Memory": [
        ("memory_memory", "neurology"),
        ("inbox", "inbox", "Inbox"),
        ("memory_playground", "experiment", "Retrieval playground"),
        ("time_travel", "history_toggle_off", "Time travel"),
    ],
    "People and agents": [
        ("teams_enduser", "person"),
        ("teams_agent", "smart_toy"),
        ("teams_conversation", "forum"),
        ("teams_project", "folder"),
    ],
    "Team": [
        ("teams_team", "groups"),
        ("teams_membership", "badge"),
        ("teams_apikey", "key"),
        ("oauth_grant", "login"),
        ("audit_memorylog", "receipt_long"),
    ],
    _FOLDED: [
        ("routing_chatmodel", "memory"),
        ("routing_provider", "dns"),
        ("routing_spendtotal", "bar_chart"),
        ("routing_spendentry", "payments"),
        ("routing_routingdecision", "alt_route"),
        ("webhooks_webhookendpoint", "webhook"),
        ("webhooks_webhookdelivery", "outbox"),
        ("transfer_importrun", "upload_file"),
        ("memory_contradiction", "compare_arrows"),
        ("consent_consentrequest", "how_to_reg"),
        ("memory_category", "category"),
        ("memory_job", "manufacturing"),
        ("lifecycle_consolidationrun", "cleaning_services"),
        ("teams_checkpoint", "save"),
        ("audit_operationalevent", "monitoring"),
        ("teams_staffuser", "lock_person"),
    ],
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:  # Any: the theme's loose shape
    """Returns the groups of the menu, with the number of waiting rows beside some links."""
    badges = _badges() if is_member(request) else {}
    home = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
    groups: list[dict[str, Any]] = [{"items": [home]}]
    page = request.resolver_match
    # A person's page is one of the list of people, although its address does not begin so.
    shown = _LISTS.get(page.kwargs["kind"]) if page and page.url_name == "about" else None
    for group, entries in _GROUPS.items():
        items: list[dict[str, Any]] = []
        for name, icon, *title in entries:
            try:
                item = _page(name, *title) if title else _list(name)
            except (LookupError, NoReverseMatch):
                # The app of the page is not installed.
                continue
            count, colour = badges.get(name if title else f"admin:{name}_changelist", (0, ""))
            if count:
                item |= {"badge": count, "badge_variant": colour}
            items.append({"icon": icon, **item})
            if name == shown:
                items[-1]["active"] = True
        groups.append({"title": group, "items": items, "collapsible": group == _FOLDED})
    return groups


def _list(name: str) -> dict[str, Any]:
    page = admin.site.get_model_admin(apps.get_model(name.replace("_", ".", 1)))
    return {
        "title": capfirst(page.opts.verbose_name_plural),
        "link": reverse(f"admin:{name}_changelist"),
        # No method: the theme copies the menu, and would copy its object as well.
        "permission": lambda asked: page.has_view_permission(asked),
    }


def _page(name: str, title: str) -> dict[str, Any]:
    return {"title": title, "link": reverse(name), "permission": is_member}


def key_list(request: HttpRequest) -> HttpResponse:
    """The keys of the admin, by page."""
    context = {**admin.site.each_context(request), "title": "Keyboard shortcuts"}
    return TemplateResponse(request, "admin/memory/key_list.html", context)
