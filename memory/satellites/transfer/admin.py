"""Imports of files, their upload and how far each got, and the export of a person."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path, reverse

from memory.admin.about import ACTIONS, Action
from memory.domain.audience import Viewer
from memory.satellites.transfer.api import lines_file
from memory.satellites.transfer.exporting import export_person
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.imports import UNFINISHED, cancel_import, start_import
from memory.satellites.transfer.models import ImportRun
from teams.admin.base import TeamAdmin, TeamOwnedForm, section
from teams.admin.confirm import Change, page_action
from teams.admin.display import actor_column, json_column, label_column, page_of_row, time_column
from teams.admin.filters import DaysFilter
from teams.admin.suggestions import SuggestWidget, recently_used
from teams.admin.theme import FileWidget, RelatedFilter, SelectWidget, display
from teams.admin_permissions import ADMINS, may
from teams.errors import DomainError
from teams.models import EndUser, Team
from teams.models.people import Role
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


def _owner(label: str, help_text: str, most: int = 200) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, max_length=most, help_text=help_text, widget=SuggestWidget
    )


class UploadForm(TeamOwnedForm):
    """A file to import; validating the form checks the file whole and starts `run`."""

    upload = forms.FileField(
        label="File",
        widget=FileWidget,
        help_text="A ChatGPT or Claude export, a mem0 export, a Letta agent file, edges of"
        " Graphiti or Zep, a LangGraph store, notes in Markdown, JSON Lines or CSV. Imported"
        " again, it stores nothing twice.",
    )
    file_format = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Found by the contents"), *((each.value, each.value) for each in Format)],
        widget=SelectWidget,
    )
    agent = _owner("Agent", "For items that name no agent. Conversations belong to one.", 100)
    user = _owner("Person", "External id, for items that name no person.")
    project = _owner("Project", "For items that name no project.", 100)
    role = forms.ChoiceField(
        label="Role of new people",
        required=False,
        choices=[("", "Default of the team"), *Role.choices],
        widget=SelectWidget,
    )
    actor = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        teams = list(Team.objects.values_list("pk", flat=True))
        for name, of in (("agent", "agent"), ("user", "end_user"), ("project", "project")):
            widget: Any = self.fields[name].widget  # Any: a SuggestWidget
            widget.suggestions = recently_used(of, team_ids=teams)

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Start the import, or say what is wrong with the file."""
        values = super().clean()
        if self.errors or self.team_id is None:
            return values
        upload = values["upload"]
        try:
            self.run = start_import(
                viewer=Viewer(team_id=self.team_id, actor=self.actor),
                source=upload.file,
                names=Names(**{name: values[name] for name in ("agent", "user", "project")}),
                now=database_now(),
                format=Format(values["file_format"]) if values["file_format"] else None,
                name=upload.name,
                does_extract=values["does_extract"],
                new_role=values["role"],
            )
        except DomainError as error:
            self.add_error("upload", error.message)
        return values


@admin.register(ImportRun)
class ImportRunAdmin(TeamAdmin[ImportRun]):
    """Files on their way into a team's memory: uploaded here, sent by requests or a command."""

    view_roles = add_roles = act_roles = ADMINS
    add_title = "Import a file"
    change_form_template = "admin/transfer/importrun/change_form.html"
    list_display = ["created", "format", "state_label", "progress", "new", "failed", "team"]
    list_filter = ["state", ("team", RelatedFilter), ("created_at", DaysFilter)]
    list_select_related = ["team"]
    ordering = ["-id"]
    when_empty = "No imports yet."
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

    def get_form(
        self,
        request: HttpRequest,
        obj: ImportRun | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The upload, by this login, or an import's page."""
        if obj is None:
            actor = f"staff:{request.user.get_username()}"
            kwargs["form"] = type("UploadForm", (UploadForm,), {"actor": actor})
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: ImportRun | None = None) -> Any:
        if obj is not None:
            return super().get_fieldsets(request, obj)
        owners = ("agent", "user", "project", "role")
        return [
            section(None, "team", "upload", "file_format", "does_extract"),
            section("Owners", *owners, description="For items whose owner the file does not name."),
        ]

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> ImportRun:
        """The import that the form has started."""
        super().save_form(request, form, change)
        run: ImportRun = form.run
        return run

    def save_model(self, request: HttpRequest, obj: ImportRun, form: Any, change: bool) -> None:
        """Nothing: the import is stored already."""

    def response_add(
        self, request: HttpRequest, obj: ImportRun, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The import's page, which shows how far it got."""
        return HttpResponseRedirect(page_of_row(obj))

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        run = self.get_object(request, object_id)
        if run is None:
            return {}
        return {"is_running": run.state in UNFINISHED, "processed": run.done + run.failed}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """An import's page; where only its progress is asked for, it is loaded anew at the end."""
        response = super().change_view(request, object_id, form_url, extra_context)
        context = getattr(response, "context_data", None) or {}
        if request.headers.get("HX-Request") and not context.get("is_running"):
            response["HX-Refresh"] = "true"
        return response

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
