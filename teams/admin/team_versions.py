"""What a team's settings were, to read: who changed them, when, and what."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from teams.domain.document_changes import changed_places
from teams.models import Team, TeamVersion

from .base import TeamAdmin
from .display import NOTHING, as_json, link, moment, page_of, words
from .theme import RelatedFilter, display

_SHOWN_VERSIONS = 10


@admin.register(TeamVersion)
class TeamVersionAdmin(TeamAdmin[TeamVersion]):
    """The settings of teams as they were, to read and never to change."""

    list_display = ["team", "number", "created", "actor", "changes"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    ordering = ["-created_at", "-number"]
    search_fields = ["actor"]
    fields = ["team", "number", "created", "actor", "changes", "laid_out"]
    readonly_fields = ["created", "changes", "laid_out"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[TeamVersion]:
        """Each with the settings before it."""
        return _with_changes(super().get_queryset(request))

    @display(description="changed")
    def changes(self, version: TeamVersion) -> str:
        """What differs from the version before."""
        return words(_changes(version))

    @display(description="settings")
    def laid_out(self, version: TeamVersion) -> str:
        """All of them."""
        return as_json(version.document)

    @display(description="from", ordering="created_at")
    def created(self, version: TeamVersion) -> str:
        """When they came to be."""
        return moment(version.created_at)


def versions_table(team: Team) -> str:
    """The last versions of a team's settings, for its page."""
    rows = list(_with_changes(TeamVersion.objects.filter(team=team))[:_SHOWN_VERSIONS])
    lines = format_html_join(
        "",
        '<tr><td class="pr-4">{}</td><td class="pr-4">{}</td><td class="pr-4">{}</td><td>{}</td>'
        "</tr>",
        (
            (
                link(page_of("teams_teamversion", row.pk), row.number),
                moment(row.created_at),
                row.actor,
                words(_changes(row)),
            )
            for row in rows
        ),
    )
    return format_html('<table class="text-xs">{}</table>', lines) if rows else NOTHING


def _with_changes(rows: QuerySet[TeamVersion, Any]) -> QuerySet[TeamVersion, Any]:
    """The versions, each with the settings of the version before it as `before`."""
    before = TeamVersion.objects.filter(team_id=OuterRef("team_id"), number=OuterRef("number") - 1)
    return rows.annotate(before=Subquery(before.values("document")[:1]))


def _changes(version: TeamVersion) -> list[str]:
    before = version.before  # type: ignore[attr-defined]  # by `_with_changes`
    return ["first"] if version.number == 1 else changed_places(before, version.document)
