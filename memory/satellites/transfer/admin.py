"""Imports of files and how far each got, and the export of a person."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path, reverse

from memory.admin.about import ACTIONS, Action
from memory.domain.audience import Viewer
from memory.satellites.transfer.api import lines_file
from memory.satellites.transfer.exporting import export_person
from memory.satellites.transfer.imports import UNFINISHED, cancel_import
from memory.satellites.transfer.models import ImportRun
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, page_action
from teams.admin.display import actor_column, json_column, label_column, time_column
from teams.admin.filters import DaysFilter
from teams.admin.theme import RelatedFilter, display
from teams.admin_permissions import ADMINS, may
from teams.models import EndUser
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


def export_view(request: HttpRequest, pk: UUID) -> StreamingHttpResponse:
    """Sends everything stored about a person to an admin of the team, as JSON Lines."""
    person = get_object_or_404(EndUser, pk=pk)
    if not may(request, roles=ADMINS, team_id=person.team_id):
        raise PermissionDenied
    viewer = Viewer(team_id=person.team_id, actor=f"staff:{request.user.get_username()}")
    lines = export_person(viewer=viewer, user=person.external_id, now=database_now())
    return lines_file(lines, "export.jsonl")


def _actions(request: HttpRequest, row: Any) -> list[Action]:  # Any: a person, agent or project
    if not isinstance(row, EndUser) or not may(request, roles=ADMINS, team_id=row.team_id):
        return []
    return [Action("Export", reverse("export_person", args=[row.pk]), "download")]


ACTIONS.append(_actions)
urlpatterns = [path("<uuid:pk>/", admin.site.admin_view(export_view), name="export_person")]
