"""Contradictions: the list opens on those that wait for a decision."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from memory.models import Contradiction, Memory
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, excerpt, moment
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, display

_NAMES = [
    f"{side}{name}" for side in ("memory_a", "memory_b") for name in ("", "__agent", "__end_user")
]


class OpennessFilter(OpenFirstFilter):
    """Open ones first."""

    title = "state"
    parameter_name = "state"
    states = {
        "open": ("Open", Q(resolved_at__isnull=True)),
        "resolved": ("Resolved", Q(resolved_at__isnull=False)),
        "all": ("All", Q()),
    }


@admin.register(Contradiction)
class ContradictionAdmin(TeamAdmin[Contradiction]):
    """Pairs that a judge found to conflict, both sides side by side."""

    list_display = ["earlier", "later", "strategy_words", "verdict_label", "state", "team", "found"]
    list_filter = [
        OpennessFilter,
        ("team", RelatedFilter),
        ("strategy", ChoiceFilter),
        ("verdict", ChoiceFilter),
        ("detected_at", DaysFilter),
    ]
    list_select_related = ["team", "memory_a", "memory_b"]
    ordering = ["-detected_at"]
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]
    fieldsets = [
        (
            "Judgement",
            {
                "fields": [
                    ("verdict", "strategy", "judge"),
                    ("team", "found", "state"),
                    "reason",
                ]
            },
        ),
        (
            "Resolution",
            {"fields": [("resolution", "resolved_by", "resolved"), "resolution_note"]},
        ),
    ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Both sides, then what the judge said."""
        pair = self.get_object(request, object_id)
        context = {
            "sides": pair and _sides(pair),
            "title": "Contradiction",
            **(extra_context or {}),
        }
        return super().change_view(request, object_id, form_url, context)

    @display(description="earlier", ordering="memory_a__content")
    def earlier(self, pair: Contradiction) -> str:
        """What stood first."""
        return excerpt(pair.memory_a.content)

    @display(description="later", ordering="memory_b__content")
    def later(self, pair: Contradiction) -> str:
        """What came later."""
        return excerpt(pair.memory_b.content) if pair.memory_b else "said to be wrong"

    @display(description="found by", ordering="strategy")
    def strategy_words(self, pair: Contradiction) -> str:
        """Which strategy found the pair."""
        return pair.strategy.replace("_", " ")

    @display(
        description="verdict",
        ordering="verdict",
        label={"dispute": "warning", "supersede": "info", "coexist": "success"},
    )
    def verdict_label(self, pair: Contradiction) -> str:
        """What the judge said."""
        return pair.verdict

    @display(description="resolution", ordering="resolved_at")
    def state(self, pair: Contradiction) -> str:
        """How it was resolved, or that it waits."""
        return pair.resolution.replace("_", " ") if pair.resolved_at else "open"

    @display(description="found", ordering="detected_at")
    def found(self, pair: Contradiction) -> str:
        """When the judge found it."""
        return moment(pair.detected_at)

    @display(description="resolved")
    def resolved(self, pair: Contradiction) -> str:
        """When it was resolved."""
        return moment(pair.resolved_at) if pair.resolved_at else NOTHING


def _sides(pair: Contradiction) -> list[tuple[str, Memory | None]]:
    row = Contradiction.objects.select_related(*_NAMES).get(pk=pair.pk)
    return [("Earlier", row.memory_a), ("Later", row.memory_b)]
