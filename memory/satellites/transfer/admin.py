"""Imports of files: how far each got, and what of it could not be stored."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import admin
from django.http import HttpRequest

from memory.domain.audience import Viewer
from memory.satellites.transfer.imports import UNFINISHED, cancel_import
from memory.satellites.transfer.models import ImportRun
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, page_action
from teams.admin.display import actor_column, json_column, label_column, time_column
from teams.admin.filters import DaysFilter
from teams.admin.theme import RelatedFilter, display
from teams.admin_permissions import ADMINS
from teams.tenancy import database_now

_COLOURS = {
    "queued": "info",
    "running": "primary",
    "done": "success",
    "failed": "danger",
    "cancelled": "warning",
}


def _cancel(request: HttpRequest, run: ImportRun, reason: str) -> None:
    del reason
    viewer = Viewer(team_id=run.team_id, actor=f"staff:{request.user.get_username()}")
    cancel_import(viewer=viewer, run_id=run.pk, now=database_now())


CANCEL: Change[ImportRun] = Change(
    verb="Cancel",
    done="cancelled",
    explanation="Items that are not imported yet are skipped. Imported items stay.",
    apply=_cancel,
    roles=ADMINS,
)


@admin.register(ImportRun)
class ImportRunAdmin(TeamAdmin[ImportRun]):
    """Files on their way into a team's memory; requests and a command start them."""

    view_roles = act_roles = ADMINS
    list_display = ["created", "format", "state_label", "progress", "new", "failed", "team"]
    list_filter = ["state", ("team", RelatedFilter), ("created_at", DaysFilter)]
    list_select_related = ["team"]
    ordering = ["-id"]
    when_empty = "No imports yet. Upload a file with POST /v1/imports."
    actions_detail = ["cancel_this"]
    fieldsets = [
        section(
            None,
            ("format", "state", "team"),
            ("progress", "new", "failed"),
            ("does_extract", "by", "attempts"),
            ("created", "finished"),
            "problems",
        )
    ]

    cancel_this = page_action("cancel_this", CANCEL, "Cancel", icon="cancel")
    state_label = label_column("state", "state", _COLOURS)
    problems = json_column("errors", "errors")
    created = time_column("created_at", "started", ordering="id")
    finished = time_column("finished_at", "finished")
    by = actor_column("actor", "started by")

    def useful_actions(self, row: ImportRun) -> Collection[str]:
        """A button for an import that has not ended."""
        return self.actions_detail if row.state in UNFINISHED else ()

    @display(description="progress")
    def progress(self, run: ImportRun) -> str:
        """The number of items processed, of the total."""
        return f"{run.done + run.failed:,} of {run.total:,}"
