"""Contradictions: the list opens on those that wait for a decision."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from memory.models import Contradiction
from teams.admin.base import TeamAdmin
from teams.admin.confirm import Change, confirm_and_run
from teams.admin.display import NOTHING, cell, moment, page_of
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, action, display

from .cards import cards_of
from .queue import linked, next_open, open_beside, with_sides
from .rewriting import rewrite_page
from .settlements import (
    A_STANDS,
    B_STANDS,
    BOTH_STAND,
    IS_WRONG,
    STANDS,
    merging,
)
from .sides import resolution_words, settled_words, told_apart

_CELL_CHARS = 90
_OF_TWO = ("a_stands_this", "b_stands_this", "both_stand_this", "merge_this")
_OF_ONE = ("stands_this", "is_wrong_this", "correct_this")


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
    when_empty = "No contradiction waits for a decision. The filter “state” shows settled ones."
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]
    actions = ["a_stands_selected", "b_stands_selected", "both_stand_selected"]
    actions_detail = [*_OF_TWO, *_OF_ONE]
    fieldsets = [
        (
            "Judgement",
            {
                "fields": [
                    ("verdict", "strategy_words", "judge"),
                    ("team", "found"),
                    "reason",
                ]
            },
        ),
        (
            "Resolution",
            {"fields": [("state", "resolved_by", "resolved"), "resolution_note"]},
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
        found = self.get_object(request, object_id)
        shown: dict[str, Any] = {}  # Any: a template's context
        if found is not None:
            pair = with_sides(pk=found.pk).get()
            shown = {
                "cards": cards_of(pair),
                "beside": [linked(each) for each in open_beside(pair)],
                "next_open": next_open(pair),
            }
        context = {"title": "Contradiction", **shown, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """Buttons for an open one: of two memories, or of one that is said to be wrong."""
        pair = self.get_object(request, object_id)
        if pair is None or pair.resolved_at is not None:
            return []
        useful = _OF_TWO if pair.memory_b_id else _OF_ONE
        return [
            button
            for button in super().get_actions_detail(request, object_id)
            if button.action_name.removeprefix("memory_contradiction_") in useful
        ]

    @action(description="A stands", permissions=["act"])
    def a_stands_selected(
        self, request: HttpRequest, queryset: QuerySet[Contradiction]
    ) -> HttpResponse | None:
        """Let the earlier side of the chosen ones stand."""
        return self._settle_selected(request, A_STANDS)

    @action(description="B stands", permissions=["act"])
    def b_stands_selected(
        self, request: HttpRequest, queryset: QuerySet[Contradiction]
    ) -> HttpResponse | None:
        """Let the later side of the chosen ones stand."""
        return self._settle_selected(request, B_STANDS)

    @action(description="Both are valid", permissions=["act"])
    def both_stand_selected(
        self, request: HttpRequest, queryset: QuerySet[Contradiction]
    ) -> HttpResponse | None:
        """Let both sides of the chosen ones stand."""
        return self._settle_selected(request, BOTH_STAND)

    @action(description="A stands", permissions=["act"], url_path="a-stands", icon="looks_one")
    def a_stands_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let the earlier side stand."""
        return self.change_this(request, object_id, A_STANDS)

    @action(description="B stands", permissions=["act"], url_path="b-stands", icon="looks_two")
    def b_stands_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let the later side stand."""
        return self.change_this(request, object_id, B_STANDS)

    @action(
        description="Both are valid", permissions=["act"], url_path="both-stand", icon="done_all"
    )
    def both_stand_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let both sides stand."""
        return self.change_this(request, object_id, BOTH_STAND)

    @action(description="It stands", permissions=["act"], url_path="stands", icon="check")
    def stands_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let the memory stand that was said to be wrong."""
        return self.change_this(request, object_id, STANDS)

    @action(description="It is wrong", permissions=["act"], url_path="is-wrong", icon="close")
    def is_wrong_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete the memory that was said to be wrong."""
        return self.change_this(request, object_id, IS_WRONG)

    @action(description="Merge", permissions=["act"], url_path="merge", icon="merge")
    def merge_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write one text in place of both sides."""
        return self._rewrite(request, object_id)

    @action(description="Correct it", permissions=["act"], url_path="correct", icon="edit")
    def correct_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write a right text in place of the one that was said to be wrong."""
        return self._rewrite(request, object_id)

    def _settle_selected(
        self, request: HttpRequest, change: Change[Contradiction]
    ) -> HttpResponse | None:
        # Not the list's own rows: one that somebody settled since is no longer on it, and would
        # be passed over without a word.
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        return confirm_and_run(self, request, with_sides(pk__in=chosen), change)

    def _rewrite(self, request: HttpRequest, object_id: str) -> HttpResponse:
        pair = with_sides(pk=object_id).first()
        if pair is None:
            raise Http404
        return rewrite_page(
            self,
            request,
            row=pair,
            change=lambda content: merging(pair=pair, content=content),
            cards=cards_of(pair),
            page=page_of("memory_contradiction", object_id),
            refusal=settled_words(pair),
        )

    @display(description="A, earlier", ordering="memory_a__content")
    def earlier(self, pair: Contradiction) -> str:
        """What stood first."""
        return cell(_excerpts(pair)[0])

    @display(description="B, later", ordering="memory_b__content")
    def later(self, pair: Contradiction) -> str:
        """What came later."""
        return cell(_excerpts(pair)[1] if pair.memory_b else "said to be wrong")

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
        return resolution_words(pair)

    @display(description="found", ordering="detected_at")
    def found(self, pair: Contradiction) -> str:
        """When the judge found it."""
        return moment(pair.detected_at)

    @display(description="resolved")
    def resolved(self, pair: Contradiction) -> str:
        """When it was resolved."""
        return moment(pair.resolved_at) if pair.resolved_at else NOTHING


def _excerpts(pair: Contradiction) -> tuple[str, str]:
    second = pair.memory_b.content if pair.memory_b else ""
    return told_apart(pair.memory_a.content, second, length=_CELL_CHARS)
