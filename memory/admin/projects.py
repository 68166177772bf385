"""Projects in the admin: their limit, and clearing one by typing its name."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from memory.domain.audience import Viewer
from memory.domain.types import DELETED
from memory.models import Memory
from memory.writing.decisions.clearing import Cleared, clear_project
from memory.writing.secrets import masked_note
from memory.writing.write_path import keep_to_limit_soon
from teams.admin.base import TeamAdmin
from teams.admin.confirm import MAX_REASON
from teams.admin.display import page_of, time_column
from teams.admin.theme import RelatedFilter, TextWidget, action
from teams.admin_permissions import ADMINS
from teams.errors import DomainError
from teams.middleware import outside_staff_scope
from teams.models import Project

_TEMPLATE = "admin/memory/clear_project.html"


class ClearForm(forms.Form):
    """The project's name, typed to be sure, and why."""

    name = forms.CharField(
        max_length=200,
        error_messages={"required": "Type the project's name."},
        widget=TextWidget(attrs={"autocomplete": "off", "autocapitalize": "off"}),
    )
    reason = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)

    def clean_reason(self) -> str:
        """The reason as the log will have it."""
        return masked_note(self.cleaned_data["reason"])


@admin.register(Project)
class ProjectAdmin(TeamAdmin[Project]):
    """Namespaces of work."""

    add_roles = change_roles = act_roles = ADMINS
    list_display = ["slug", "name", "max_items", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["slug", "name"]
    readonly_fields = ["created"]
    actions_detail = ["clear_this"]

    created = time_column("created_at", "created")

    # Any: the shape of fields is Django's own.
    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        """The limit is set once there is a project; a new one begins with the usual."""
        del request
        limit = ["max_items"] if obj is not None else []
        return ["team", "slug", "name", *limit, "created"]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        # Any: Django's own signature
        """Save it, and archive soon what a lower limit leaves too much."""
        super().save_model(request, obj, form, change)
        if "max_items" in form.changed_data:
            keep_to_limit_soon(obj.team_id, obj.pk)

    @action(description="Clear", permissions=["act"], url_path="clear", icon="delete_sweep")
    def clear_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete all memories of the project, with their history, once its name is typed."""
        project = self.get_object(request, object_id)
        if project is None:
            raise Http404
        form = ClearForm(request.POST or None)
        page = page_of("teams_project", project.pk)
        if form.is_valid():
            try:
                done = _clear(request, project, form.cleaned_data)
            except DomainError as error:
                form.add_error("name", error.message)
            else:
                more = f" {done.left:,} are left: clear it again." if done.left else ""
                messages.success(request, f"Memories deleted: {done.deleted:,}.{more}")
                return HttpResponseRedirect(page)
        kept = Memory.objects.filter(team_id=project.team_id, project_id=project.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": "Clear a project",
            "opts": self.opts,
            "page": page,
            "project": project,
            "count": f"{kept.exclude(status__in=DELETED).count():,}",
            "form": form,
        }
        return TemplateResponse(request, _TEMPLATE, context)


def _clear(request: HttpRequest, project: Project, typed: dict[str, str]) -> Cleared:
    viewer = Viewer(team_id=project.team_id, actor=f"staff:{request.user.get_username()}")
    with outside_staff_scope(request):
        return clear_project(
            viewer=viewer, slug=project.slug, typed=typed["name"], reason=typed["reason"]
        )
