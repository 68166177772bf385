"""Read-only pages of the log and of operational events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from audit.models import EVENTS, MemoryLog, OperationalEvent
from audit.services.verification import seal_statuses, verify_and_record
from teams.admin import display
from teams.admin.base import TeamAdmin, id_in, section
from teams.admin.filters import DaysFilter, condition_filter, since, value_filter
from teams.admin.theme import RelatedFilter
from teams.admin_permissions import ADMINS, may
from teams.middleware import outside_staff_scope
from teams.models import EndUser, Team

from .history import EVENT_WORDS, LogLine, line_of, reason_words

# Those that this version leaves; a list of the distinct ones would read every event.
NODES = ("hotpath", "context", "worker", "extract", "compact", "write", "erasure", "log")
OPS = (
    "search",
    "context",
    "chat",
    "route",
    "create",
    "update",
    "merge",
    "delete",
    "extract",
    "validate",
    "mask_secret",
    "stand_in",
    "erase",
    "consolidate",
    "verify",
)
STATUSES = ("ok", "skipped", "error")
# A superuser may see many teams.
_MOST_SEALED = 5
_MOST_FINDINGS = 5
_NODE_WORDS = {"hotpath": "reads", "context": "prompts", "write": "writes", "worker": "jobs"}
_OP_WORDS = {
    "context": "build a prompt",
    "route": "choose a model",
    "mask_secret": "mask a secret",
    "stand_in": "fall back from a model",
}
_STATUS_COLOURS = {"ok": "success", "skipped": "info", "error": "danger"}


def _figure(value: object) -> str:
    """A figure, or several of them, as people read it."""
    if isinstance(value, dict):
        parts = (f"{str(key).replace('_', ' ')} {_figure(each)}" for key, each in value.items())
        return ", ".join(parts) or display.NOTHING
    if isinstance(value, list):
        return ", ".join(_figure(each) for each in value) or display.NOTHING
    return display.NOTHING if value is None else str(value).replace("_", " ")


def _figures(event: OperationalEvent) -> SafeString | str:
    lines = ((key.replace("_", " "), _figure(value)) for key, value in event.meta.items())
    return format_html_join("", '<div class="break-words">{}: {}</div>', lines) or display.NOTHING


def _named(code: str, words: Mapping[str, str]) -> str:
    return words.get(code, code.replace("_", " "))


PeriodFilter = condition_filter(
    "time",
    {
        "day": ("The last 24 hours", since("at", days=1)),
        "week": ("The last 7 days", since("at", days=7)),
        "month": ("The last 30 days", since("at", days=30)),
        "all": ("All", Q()),
    },
    opens_first=True,
)


@admin.register(OperationalEvent)
class OperationalEventAdmin(TeamAdmin[OperationalEvent]):
    """The operational log, newest first, for the admins of the team."""

    view_roles = ADMINS
    list_display = ["happened", "where", "what", "status_label", "memory", "person"]
    list_display += ["conversation", "best_similarity", "team"]
    list_filter = [
        PeriodFilter,
        value_filter("node", NODES, titles=_NODE_WORDS),
        value_filter("op", OPS, titles=_OP_WORDS),
        value_filter("status", STATUSES),
        ("team", RelatedFilter),
    ]
    ordering = ["-at", "-id"]
    fieldsets = [
        section(
            None,
            ("happened", "team"),
            ("where", "what", "status"),
            ("memory", "person", "conversation"),
            "best_similarity",
            "figures",
        )
    ]

    happened = display.time_column("at", "time")
    where = display.column("area", lambda event: _named(event.node, _NODE_WORDS), ordering="node")
    what = display.column("operation", lambda event: _named(event.op, _OP_WORDS), ordering="op")
    figures = display.column("figures", _figures)
    person = display.column("person", lambda event: event.person_name or display.NOTHING)
    best_similarity = display.column(
        "similarity",
        lambda event: display.NOTHING if event.similarity is None else f"{event.similarity:.2f}",
        ordering="similarity",
    )
    status_label = display.label_column("status", "status", _STATUS_COLOURS)
    memory = display.id_column("memory_id", "memory_memory", "memory")
    conversation = display.id_column("conversation_id", "teams_conversation", "conversation")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OperationalEvent]:
        """Each event with the name of whom it concerns."""
        people = EndUser.objects.filter(team_id=OuterRef("team_id"), id=OuterRef("end_user_id"))
        named = Subquery(people.values("external_id")[:1])
        return super().get_queryset(request).annotate(person_name=named)


_END_OF_ID = re.compile(r"[0-9a-fA-F-]{4,35}")
EVENT_COLOURS = {
    **dict.fromkeys(EVENTS, "default"),
    "created": "success",
    "versioned": "success",
    "restored": "success",
    "contradiction_detected": "warning",
    "soft_deleted": "danger",
    "purged": "danger",
    "erased": "danger",
    "superseded": "info",
    "pinned": "primary",
    "unpinned": "primary",
}


def _text(entry: Any) -> SafeString:  # Any: an entry that `get_queryset` annotated
    shown = display.excerpt(entry.text or "") or entry.state.get("subject") or display.NOTHING
    page = display.link(display.page_of("memory_memory", entry.memory_id), shown)
    return format_html('<span class="block break-words w-80">{}</span>', page)


def _changes(entry: MemoryLog) -> SafeString:
    changes = ((each,) for each in line_of(entry).changes)
    return format_html_join("", '<div class="break-words">{}</div>', changes)


def _state(entry: MemoryLog) -> SafeString:
    words = "Show state"
    return format_html(
        "<details><summary>{}</summary>{}</details>", words, display.as_json(entry.state)
    )


@admin.register(MemoryLog)
class MemoryLogAdmin(TeamAdmin[MemoryLog]):
    """Every change of every memory, newest first."""

    list_display = ["happened", "event_label", "words_of_it", "by", "why", "team"]
    list_filter = [
        value_filter("event", EVENTS, titles=EVENT_WORDS),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    ordering = ["-seq"]
    search_fields = ["memory_id", "actor"]
    search_help_text = "Search by memory id or actor"
    list_before_template = "admin/audit/seals.html"
    when_empty = "No memories have been stored yet."
    fieldsets = [
        section(
            None,
            ("happened", "event_title", "team"),
            "words_of_it",
            "what_changed",
            ("by", "why"),
            ("memory", "conversation"),
        ),
        section(
            "Stored entry",
            ("seq", "revision", "digest_text"),
            "state_document",
            description=("The state of the memory after the change, without its text."),
        ),
    ]

    happened = display.time_column("at", "time", ordering="seq")
    event_label = display.label_column("event", "event", EVENT_COLOURS, words=EVENT_WORDS)
    event_title = display.column("event", lambda entry: LogLine(entry, []).title)
    words_of_it = display.column("memory text", _text)
    what_changed = display.column("changes", _changes)
    why = display.column("reason", lambda entry: reason_words(entry.reason) or display.NOTHING)
    state_document = display.column("state", _state)
    digest_text = display.column(
        "text digest (salted)",
        lambda entry: format_html('<span class="break-words">{}</span>', bytes(entry.digest).hex()),
    )
    by = display.actor_column()
    memory = display.id_column("memory_id", "memory_memory", "memory", ordering="memory_id")
    conversation = display.id_column("conversation_id", "teams_conversation", "conversation")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, under the seals of the first teams."""
        teams = {team.pk: team for team in Team.objects.order_by("name")[:_MOST_SEALED]}
        seals = [
            (teams[each.team_id], each, may(request, roles=ADMINS, team_id=each.team_id))
            for each in seal_statuses(team_ids=list(teams))
        ]
        return super().changelist_view(request, {"seals": seals, **(extra_context or {})})

    def get_urls(self) -> list[Any]:  # Any: Django's patterns
        verify = self.admin_site.admin_view(require_POST(self.verify))
        own = path("verify/<uuid:team_id>/", verify, name="audit_memorylog_verify")
        return [own, *super().get_urls()]

    def verify(self, request: HttpRequest, team_id: UUID) -> HttpResponse:
        """Compares the team's log with its seals, and reports the result."""
        team = Team.objects.filter(pk=team_id).first()
        if team is None or not may(request, roles=ADMINS, team_id=team_id):
            raise PermissionDenied
        with outside_staff_scope(request):
            found = verify_and_record(team_id=team_id)
        if found.findings:
            first = "; ".join(map(str, found.findings[:_MOST_FINDINGS]))
            words = f"The log of {team} has been tampered with ({len(found.findings)}): {first}."
            messages.error(request, words)
        else:
            count = found.rows + found.unsealed
            entries = f"{count:,} {'entry' if count == 1 else 'entries'}"
            messages.success(request, f"The log of {team} is intact: {entries} verified.")
        return HttpResponseRedirect(reverse("admin:audit_memorylog_changelist"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryLog]:
        """Each entry with the text of its memory."""
        # By name: the memory's own code stands on the log's, not the other way.
        memories = apps.get_model("memory", "Memory")._default_manager
        text = memories.filter(team_id=OuterRef("team_id"), pk=OuterRef("memory_id"))
        return super().get_queryset(request).annotate(text=Subquery(text.values("content")[:1]))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MemoryLog], search_term: str
    ) -> tuple[QuerySet[MemoryLog], bool]:
        """The log of one memory, of those whose id ends so, or of one who acted."""
        term = search_term.strip().lstrip("…")
        if not term:
            return queryset, False
        if memory_id := id_in(term):
            return queryset.filter(memory_id=memory_id), False
        found = Q(actor__icontains=term) | Q(actor__in=display.actors_called(term))
        if _END_OF_ID.fullmatch(term):
            queryset = queryset.annotate(id_text=Cast("memory_id", TextField()))
            found |= Q(id_text__endswith=term.lower())
        return queryset.filter(found), False
