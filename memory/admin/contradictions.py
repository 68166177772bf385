"""Contradictions: the list opens on those that wait for a decision."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from memory.models import Contradiction
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, list_action, page_action
from teams.admin.display import cell, label_column, page_of, time_column
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, action, display

from .cards import cards_of
from .rewriting import rewrite_page
from .settlements import (
    A_STANDS,
    B_STANDS,
    BOTH_STAND,
    IS_WRONG,
    STANDS,
    linked,
    merging,
    next_open,
    open_beside,
    with_sides,
)
from .sides import aligned_excerpts, resolution_words, settled_words

_CELL_CHARS = 90
_VERDICT_COLOURS = {"dispute": "warning", "supersede": "info", "coexist": "success"}
_OF_TWO = ("a_stands_this", "b_stands_this", "both_stand_this", "merge_this")
_OF_ONE = ("stands_this", "is_wrong_this", "correct_this")


def _settle_chosen(name: str, change: Change[Contradiction], title: str) -> Any:
    """The action `name` of the list: settle the chosen ones."""

    def rows_of(request: HttpRequest, _: QuerySet[Contradiction]) -> QuerySet[Contradiction]:
        # Not the list's own rows: one that somebody settled since is no longer on it, and would
        # be passed over without a word.
        return with_sides(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME))

    return list_action(name, change, title, rows_of=rows_of)


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
        section("Judgement", ("verdict", "strategy_words", "judge"), ("team", "found"), "reason"),
        section("Resolution", ("state", "resolved_by", "resolved"), "resolution_note"),
    ]

    a_stands_selected = _settle_chosen("a_stands_selected", A_STANDS, "A stands")
    b_stands_selected = _settle_chosen("b_stands_selected", B_STANDS, "B stands")
    both_stand_selected = _settle_chosen("both_stand_selected", BOTH_STAND, "Both are valid")
    a_stands_this = page_action("a_stands_this", A_STANDS, "A stands", icon="looks_one")
    b_stands_this = page_action("b_stands_this", B_STANDS, "B stands", icon="looks_two")
    both_stand_this = page_action("both_stand_this", BOTH_STAND, "Both are valid", icon="done_all")
    stands_this = page_action("stands_this", STANDS, "It stands", icon="check")
    is_wrong_this = page_action("is_wrong_this", IS_WRONG, "It is wrong", icon="close")
    verdict_label = label_column("verdict", "verdict", _VERDICT_COLOURS)
    found = time_column("detected_at", "found")
    resolved = time_column("resolved_at", "resolved")

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """Both sides, then what the judge said."""
        found = self.get_object(request, object_id)
        shown: dict[str, Any] = {}
        if found is not None:
            pair = with_sides(pk=found.pk).get()
            shown = {
                "cards": cards_of(pair),
                "beside": [linked(each) for each in open_beside(pair)],
                "next_open": next_open(pair),
            }
        return {"title": "Contradiction", **shown}

    def useful_actions(self, row: Contradiction) -> Collection[str]:
        """For an open one: those of two memories, or those of one that is reported as wrong."""
        if row.resolved_at is not None:
            return ()
        return _OF_TWO if row.memory_b_id else _OF_ONE

    @action(description="Merge", permissions=["act"], url_path="merge", icon="merge")
    def merge_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write one text in place of both sides."""
        return self._rewrite(request, object_id)

    @action(description="Correct it", permissions=["act"], url_path="correct", icon="edit")
    def correct_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write a right text in place of the one that was reported as wrong."""
        return self._rewrite(request, object_id)

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
        return cell(_excerpts(pair)[1] if pair.memory_b else "reported as wrong")

    @display(description="found by", ordering="strategy")
    def strategy_words(self, pair: Contradiction) -> str:
        """Which strategy found the pair."""
        return pair.strategy.replace("_", " ")

    @display(description="resolution", ordering="resolved_at")
    def state(self, pair: Contradiction) -> str:
        """How it was resolved, or that it waits."""
        return resolution_words(pair)


def _excerpts(pair: Contradiction) -> tuple[str, str]:
    second = pair.memory_b.content if pair.memory_b else ""
    return aligned_excerpts(pair.memory_a.content, second, length=_CELL_CHARS)
