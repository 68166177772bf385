"""Versions of agents' documents and of teams' settings; read-only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from teams.domain.documents import changed_places
from teams.models import AgentVersion, TeamVersion

from . import display
from .base import TeamAdmin
from .theme import AutocompleteFilter, RelatedFilter, Row

_SHOWN = 10
_TABLE = '<div class="overflow-x-auto"><table class="text-xs">{}</table></div>'
_LINE = f"<tr>{5 * '<td class=pr-4>{}</td>'}</tr>"


class VersionAdmin(TeamAdmin[Row]):
    """A document, who changed it, when, and which parts."""

    class Media:
        css = {"all": ["teams/admin/document.css"]}

    ordering = ["-created_at", "-number"]
    readonly_fields = ["created", "by", "changes", "laid_out"]
    list_select_related = ["team"]

    created = display.time_column("created_at", "created")
    by = display.actor_column()
    changes = display.column("changes", lambda version: display.words(_changes(version)))
    laid_out = display.column("document", lambda version: display.in_words(version.document))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        return with_document_before(super().get_queryset(request))


@admin.register(AgentVersion)
class AgentVersionAdmin(VersionAdmin[AgentVersion]):
    """Versions of agents' identity documents."""

    list_display = ["agent", "number", "created", "by", "changes", "reason", "team"]
    list_filter = [("team", RelatedFilter), ("agent", AutocompleteFilter)]
    list_select_related = ["team", "agent"]
    search_fields = ["agent__slug", "actor", "reason"]
    fields = ["agent", "number", "team", "created", "by", "reason", "changes", "laid_out"]


@admin.register(TeamVersion)
class TeamVersionAdmin(VersionAdmin[TeamVersion]):
    """Versions of teams' settings."""

    list_display = ["team", "number", "created", "by", "changes"]
    list_filter = [("team", RelatedFilter)]
    search_fields = ["actor"]
    fields = ["team", "number", "created", "by", "changes", "laid_out"]

    laid_out = display.column("settings", lambda version: display.in_words(version.document))


# Any, from here on: rows of either model.


def with_document_before(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The versions, each with the document of the version before it as `before`."""
    key = "agent_id" if rows.model is AgentVersion else "team_id"
    before = rows.model._default_manager.filter(
        **{"team_id": OuterRef("team_id"), key: OuterRef(key), "number": OuterRef("number") - 1}
    )
    annotated: QuerySet[Any] = rows.annotate(before=Subquery(before.values("document")[:1]))
    return annotated


def versions_table(versions: QuerySet[Any]) -> str:
    """The last of these versions, for the page of what they are of."""
    rows = list(with_document_before(versions).order_by("-number")[:_SHOWN])
    lines = (
        (
            display.link(display.page_of_row(row), row.number),
            display.moment(row.created_at),
            display.actor_words(row.actor),
            display.words(_changes(row)),
            display.excerpt(row.reason),
        )
        for row in rows
    )
    table = format_html_join("", _LINE, lines)
    return format_html(_TABLE, table) if table else display.NOTHING


def refuse_stale(form: forms.ModelForm[Any], *, stored: int | None) -> None:
    """Add an error to the form when another version stands than the one that was loaded."""
    loaded = form.cleaned_data.get("loaded_version")
    if loaded is not None and stored != loaded:
        form.add_error(
            None,
            f"Somebody changed this {form.instance._meta.verbose_name} in the meantime: you"
            f" loaded version {loaded}, and the latest is {stored}. Load the page again and repeat"
            " your change.",
        )


def _changes(version: Any) -> list[str]:
    return ["first"] if version.number == 1 else changed_places(version.before, version.document)
