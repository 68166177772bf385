"""Consolidation runs: what each changed and cost; a run can be taken back as a whole."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.domain.audience import Viewer
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun
from memory.satellites.lifecycle.running import undo_run
from memory.understanding.tools import default_tools
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, page_action
from teams.admin.display import actor_column, label_column, row_column, time_column
from teams.admin.filters import DaysFilter
from teams.admin.theme import RelatedFilter, display

_COLOURS = {
    "queued": "info",
    "running": "primary",
    "done": "success",
    "failed": "danger",
    "undone": "warning",
    "planned": "info",
    "made": "success",
    "left_out": "warning",
}


def _undo(request: HttpRequest, run: ConsolidationRun, reason: str) -> None:
    del reason
    actor = f"staff:{request.user.get_username()}"
    viewer = Viewer(team_id=run.team_id, actor=actor)
    undo_run(viewer=viewer, run_id=run.pk, tools=default_tools(), now=timezone.now())


UNDO: Change[ConsolidationRun] = Change(
    verb="Undo",
    done="undone",
    explanation="Restores every memory that the run changed. Not possible if one of them has been"
    " changed since.",
    apply=_undo,
)


@admin.register(ConsolidationRun)
class ConsolidationRunAdmin(TeamAdmin[ConsolidationRun]):
    """The plans, changes and costs of a team's consolidations."""

    list_display = ["created", "state_label", "what", "progress", "cost_usd", "team", "finished"]
    list_filter = ["state", "is_dry", ("team", RelatedFilter), ("created_at", DaysFilter)]
    list_select_related = ["team", "end_user", "project"]
    ordering = ["-id"]
    when_empty = "No runs yet. Memories are consolidated once a day."
    actions_detail = ["undo_this"]
    fieldsets = [
        section(
            None,
            ("state", "is_dry", "team"),
            ("what", "by"),
            ("created", "finished"),
            ("judged", "cost_usd"),
            "table",
            "changes_link",
            ("undone", "undoer"),
            "error",
        )
    ]

    undo_this = page_action("undo_this", UNDO, "Undo", icon="undo")
    state_label = label_column("state", "state", _COLOURS)
    created = time_column("created_at", "started", ordering="id")
    finished = time_column("finished_at", "finished")
    undone = time_column("undone_at", "undone")
    by = actor_column("actor", "started by")
    undoer = actor_column("undone_by", "undone by")

    def useful_actions(self, row: ConsolidationRun) -> Collection[str]:
        """A button for a run that changed something and still counts."""
        ended = row.state in (ConsolidationRun.State.DONE, ConsolidationRun.State.FAILED)
        return self.actions_detail if ended and not row.is_dry else ()

    @display(description="scope")
    def what(self, run: ConsolidationRun) -> str:
        """Returns whose memories it is about, and whether it only planned."""
        about = [str(each) for each in (run.end_user, run.project) if each is not None]
        told = ", ".join(about) or "the whole team"
        return f"{told} (dry run)" if run.is_dry else told

    @display(description="changes")
    def progress(self, run: ConsolidationRun) -> str:
        """Returns the number of changes made, of all."""
        made, planned, left = (_sum(run, name) for name in ("made", "planned", "left_out"))
        if run.is_dry or not planned:
            return f"{planned:,} planned"
        return f"{made:,} of {planned:,}" + (f", {left:,} skipped" if left else "")

    @display(description="by step")
    def table(self, run: ConsolidationRun) -> str:
        """Returns what each step looked at, planned and made."""
        lines = [
            f"{step}: {each['looked_at']:,} checked, {each['planned']:,} planned,"
            f" {each['made']:,} made, {each['left_out']:,} skipped"
            for step, each in ((step, run.counts.get(step)) for step in run.steps)
            if each
        ]
        return "; ".join(lines) or "none yet"

    @display(description="changes")
    def changes_link(self, run: ConsolidationRun) -> SafeString:
        """The list of what it planned, in order."""
        page = reverse("admin:lifecycle_consolidationchange_changelist")
        return format_html('<a href="{}?run={}">Show changes</a>', page, run.pk)


def _sum(run: ConsolidationRun, name: str) -> int:
    return sum(each.get(name, 0) for each in run.counts.values())


@admin.register(ConsolidationChange)
class ConsolidationChangeAdmin(TeamAdmin[ConsolidationChange]):
    """The changes of runs, in the order in which they are made."""

    list_display = ["kind", "step", "memory_link", "other_link", "because", "state_label", "note"]
    list_filter = ["step", "state"]
    list_select_related = ["team", "memory", "other"]
    ordering = ["-run_id", "position"]
    when_empty = "No run has planned any changes yet."
    fieldsets = [
        section(
            None,
            ("step", "kind", "state"),
            ("memory_link", "other_link"),
            "because",
            ("before", "after"),
            "note",
        )
    ]

    state_label = label_column("state", "state", _COLOURS)
    memory_link = row_column("memory", "memory")
    other_link = row_column("other", "other memory")

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """The link of a run filters by it."""
        return lookup == "run" or bool(super().lookup_allowed(lookup, value, request))

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConsolidationChange]:
        """The team's changes with their memories."""
        return super().get_queryset(request).select_related("memory", "other")
