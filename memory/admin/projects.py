"""Projects with their limit, cleared by typing their name, and the team's categories."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from memory.domain.types import DELETED
from memory.models import Category, Memory
from memory.writing.categories import category_names
from memory.writing.decisions.clearing import Cleared, clear_project
from memory.writing.secrets import masked_note
from memory.writing.write_path import keep_to_limit_soon
from teams.admin.base import TeamAdmin
from teams.admin.confirm import MAX_REASON
from teams.admin.display import column, excerpt_column, page_of_row
from teams.admin.suggestions import CATEGORIES
from teams.admin.theme import ChoiceFilter, RelatedFilter, TextWidget, action
from teams.admin_permissions import ADMINS
from teams.errors import DomainError
from teams.middleware import outside_staff_scope
from teams.models import Project

from .memory_changes import viewer_of

_COUNTED = "palimpsest_memories"


class TypedNameForm(forms.Form):
    """The name of what is about to be emptied as a confirmation, and a reason."""

    name = forms.CharField(
        max_length=200,
        error_messages={"required": "Type the name to confirm."},
        widget=TextWidget(attrs={"autocomplete": "off", "autocapitalize": "off"}),
    )
    reason = forms.CharField(required=False, max_length=MAX_REASON, widget=TextWidget)

    def clean_reason(self) -> str:
        return masked_note(self.cleaned_data["reason"])

    def matches(self, name: str) -> bool:
        """Returns whether the typed name is this one; adds an error if it is not."""
        is_same = bool(self.cleaned_data["name"] == name)
        if not is_same:
            self.add_error("name", f"This is not {name}: nothing was changed.")
        return is_same


def typed_name_page(
    request: HttpRequest, form: TypedNameForm, *, title: str, **context: str
) -> HttpResponse:
    """The page that asks for `name` to be typed, with the `question`, its `effect` and `back`."""
    frame = {**admin.site.each_context(request), "title": title, "form": form}
    return TemplateResponse(request, "admin/memory/typed_name.html", frame | context)


@admin.register(Project)
class ProjectAdmin(TeamAdmin[Project]):
    """Namespaces of work."""

    add_roles = change_roles = act_roles = ADMINS
    list_display = ["slug", "name", "max_items", "team", "created"]
    search_fields = ["slug", "name"]
    readonly_fields = ["created"]
    actions_detail = ["clear_this"]
    # Requests name a project by it.
    fixed_fields = ["slug"]
    help_texts = {"slug": "The name in requests. It cannot be changed later."}

    # Any: the shape of fields is Django's own.
    def get_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        # A new one begins with the usual limit.
        limit = ["max_items"] if obj is not None else []
        return ["team", "slug", "name", *limit, "created"]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        # Any: Django's own signature
        super().save_model(request, obj, form, change)
        if "max_items" in form.changed_data:
            keep_to_limit_soon(obj.team_id, obj.pk)

    @action(description="Clear", permissions=["act"], url_path="clear", icon="delete_sweep")
    def clear_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete all memories of the project, with their history, once its name is typed."""
        project = self.get_object(request, object_id)
        if project is None:
            raise Http404
        form = TypedNameForm(request.POST or None)
        page = page_of_row(project)
        if form.is_valid():
            try:
                done = _clear(request, project, form.cleaned_data)
            except DomainError as error:
                form.add_error("name", error.message)
            else:
                more = f" {done.left:,} remain: clear the project again." if done.left else ""
                messages.success(request, f"Memories deleted: {done.deleted:,}.{more}")
                return HttpResponseRedirect(page)
        kept = Memory.objects.filter(team_id=project.team_id, project_id=project.pk)
        count = kept.exclude(status__in=DELETED).count()
        return typed_name_page(
            request,
            form,
            title="Clear project",
            name=project.slug,
            back=page,
            question=f"Clear the project {project.slug} of {project.team}?",
            effect=f"This deletes {count:,} memories. Agents no longer find them. Texts and history"
            " stay, and each memory can be restored on its page. Messages are not deleted.",
        )


def _clear(request: HttpRequest, project: Project, typed: dict[str, str]) -> Cleared:
    viewer = viewer_of(request, project)
    with outside_staff_scope(request):
        return clear_project(
            viewer=viewer, slug=project.slug, typed=typed["name"], reason=typed["reason"]
        )


def _count(category: Category) -> str:
    """The number of memories in the category that are not deleted."""
    # The theme asks several times for what a page shows once.
    known: int | None = category.__dict__.get(_COUNTED)
    if known is None:
        rows = Memory.objects.filter(team_id=category.team_id, category=category.name)
        known = rows.exclude(status__in=DELETED).count()
        setattr(category, _COUNTED, known)
    return str(known)


@admin.register(Category)
class CategoryAdmin(TeamAdmin[Category]):
    """Words for what memories are about; removing one changes no memory."""

    add_roles = change_roles = delete_roles = ADMINS
    list_display = ["name", "context", "length", "beginning", "team", "created"]
    list_filter = [("team", RelatedFilter), ("context", ChoiceFilter)]
    search_fields = ["name", "description"]
    fields = ["team", "name", "description", "context", "length", "memories", "created"]
    readonly_fields = ["memories", "created"]
    # Memories and allowlists name it.
    fixed_fields = ["name"]
    help_texts = {
        "name": "One word, for example goals. It cannot be changed later.",
        "description": "The memories that belong in it.",
        "context": "The memories that an answer for this category includes.",
    }

    memories = column("memories", _count)
    beginning = excerpt_column("description", "description")


CATEGORIES.append(lambda team_id: category_names(team_id=team_id))
