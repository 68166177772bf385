"""Versions of agents' documents and of teams' settings, to read and never to change."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from teams.domain.documents import changed_places
from teams.models import AgentVersion, TeamVersion

from .base import TeamAdmin
from .display import (
    NOTHING,
    actor_column,
    actor_words,
    document_column,
    excerpt,
    link,
    moment,
    page_of,
    time_column,
    words,
)
from .theme import AutocompleteFilter, RelatedFilter, Row, display

_SHOWN = 10
_LINE = '<td class="pr-4">{}</td>'


class VersionAdmin(TeamAdmin[Row]):
    """What a document was, who changed it, when, and what."""

    class Media:
        css = {"all": ["teams/admin/document.css"]}

    ordering = ["-created_at", "-number"]
    readonly_fields = ["created", "by", "changes", "laid_out"]

    created = time_column("created_at", "created")
    by = actor_column()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        return with_document_before(super().get_queryset(request))

    @display(description="changes")
    def changes(self, version: Any) -> str:
        return words(_changes(version))


@admin.register(AgentVersion)
class AgentVersionAdmin(VersionAdmin[AgentVersion]):
    """Versions of agents' identity documents."""

    list_display = ["agent", "number", "created", "by", "changes", "reason", "team"]
    list_filter = [("team", RelatedFilter), ("agent", AutocompleteFilter)]
    list_select_related = ["team", "agent"]
    search_fields = ["agent__slug", "actor", "reason"]
    fields = ["agent", "number", "team", "created", "by", "reason", "changes", "laid_out"]

    laid_out = document_column("document", "document")


@admin.register(TeamVersion)
class TeamVersionAdmin(VersionAdmin[TeamVersion]):
    """Versions of teams' settings."""

    list_display = ["team", "number", "created", "by", "changes"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["actor"]
    fields = ["team", "number", "created", "by", "changes", "laid_out"]

    laid_out = document_column("document", "settings")


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
    page = f"teams_{versions.model._meta.model_name}"
    lines = format_html_join(
        "",
        f"<tr>{_LINE * 5}</tr>",
        (
            (
                link(page_of(page, row.pk), row.number),
                moment(row.created_at),
                actor_words(row.actor),
                words(_changes(row)),
                excerpt(row.reason),
            )
            for row in rows
        ),
    )
    return (
        format_html('<div class="overflow-x-auto"><table class="text-xs">{}</table></div>', lines)
        if rows
        else NOTHING
    )


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
