"""The plain list of contradictions; what waits is decided in the inbox."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from memory.models import Contradiction
from memory.selectors import contradictions as selectors
from teams.admin.display import column, moment, row_link
from teams.admin.filters import DaysFilter, condition_filter
from teams.admin.theme import AutocompleteFilter, ChoiceFilter, RelatedFilter, display

from .items import KINDS, ItemAdmin
from .review import Contradictions
from .settlements import resolution_words

StateFilter = condition_filter(
    "state",
    {
        "resolved": ("Settled", Q(resolved_at__isnull=False)),
        "open": ("Open", lambda: selectors.is_waiting(timezone.now())),
        "snoozed": ("Left for later", lambda: selectors.is_snoozed(timezone.now())),
        "all": ("All", Q()),
    },
    opens_first=True,
)


@admin.register(Contradiction)
class ContradictionAdmin(ItemAdmin[Contradiction]):
    """Pairs that a judge found to conflict, and what somebody reported as wrong; settled first."""

    list_display = ["statements", "age", "agent", "person", "state", "team"]
    list_filter = [
        StateFilter,
        ("team", RelatedFilter),
        ("strategy", ChoiceFilter),
        ("memory_a__agent", AutocompleteFilter),
        ("memory_a__end_user", AutocompleteFilter),
        ("detected_at", DaysFilter),
    ]
    list_after_template = "admin/memory/contradiction/judge_records.html"
    list_select_related = ["team", "memory_a__agent", "memory_a__end_user", "memory_b"]
    ordering = ["-resolved_at", "-detected_at"]
    when_empty = "Nothing has been settled yet. What waits is in the inbox."
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]

    age = column(
        "age",
        lambda pair: moment(pair.detected_at, timesince(pair.detected_at, depth=1)),
        ordering="detected_at",
    )
    agent = column(
        "agent",
        lambda pair: row_link(pair.memory_a.agent) if pair.memory_a.agent else "all",
        ordering="memory_a__agent__name",
    )
    person = column(
        "person",
        lambda pair: row_link(pair.memory_a.end_user),
        ordering="memory_a__end_user__external_id",
    )
    state = column("resolution", resolution_words, ordering="resolved_at")

    class Media:
        css = {"all": ["memory/admin/inbox.css"]}

    def item_kind(self, row: Contradiction) -> str:
        return Contradictions.name

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"judge_records": selectors.judge_records()} if request.method == "GET" else {}
        return super().changelist_view(request, {**shown, **(extra_context or {})})

    @display(description="statements")
    def statements(self, pair: Contradiction) -> SafeString:
        """Both sides, one above the other, with what differs marked."""
        line = KINDS[Contradictions.name].line(pair)
        return format_html('<span class="pair-cell">{}</span>', line)
