"""Memories: found, read and acted on; their text is never edited."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from memory.domain.forms import Form
from memory.domain.types import MemoryType, Source, Status, Tier
from memory.models import Memory
from memory.models.memory import SINCE_EVER
from memory.models.querysets import MemoryQuerySet
from memory.writing.windows import TEAM_FACT
from teams.admin.base import TeamAdmin, id_in
from teams.admin.confirm import list_action, page_action
from teams.admin.display import column
from teams.admin.filters import DaysFilter, value_filter
from teams.admin.theme import (
    AutocompleteFilter,
    NumberRangeFilter,
    RelatedFilter,
    YesNoFilter,
    action,
)

from . import memory_changes as changes
from . import memory_list as listing
from .memory_page import memory_page

# Each button leads to the current version afterwards.
_button = partial(page_action, lands=changes.current_page)


@admin.register(Memory)
class MemoryAdmin(TeamAdmin[Memory]):
    """The memories of the login's teams, newest first."""

    list_display = ["text", "whose", "kind", "standing", "age", "use", "team"]
    list_filter = [
        ("team", RelatedFilter),
        listing.StandingFilter,
        value_filter(
            "status",
            [each for each in Status if each is not Status.PURGED],
            parameter="status__exact",
            titles={"soft_deleted": "deleted"},
        ),
        value_filter("memory_type", [*MemoryType], name="type", parameter="memory_type__exact"),
        value_filter("form", [*Form], parameter="form__exact"),
        value_filter("tier", [*Tier], parameter="tier__exact"),
        value_filter("source", [*Source], parameter="source__exact", titles={"web": "web page"}),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        listing.CategoryFilter,
        listing.TagFilter,
        ("is_pinned", YesNoFilter),
        ("importance", NumberRangeFilter),
        listing.AgeFilter,
        listing.UseFilter,
        listing.TeamFactFilter,
        ("created_at", DaysFilter),
    ]
    list_fullwidth = True
    ordering = ["-created_at"]
    is_found_by_id = True
    when_empty = "No memories yet. Add an API key and connect an agent."
    search_fields = ["content", "subject"]
    search_help_text = "Search by meaning, or enter an id"
    actions = [
        list_action("pin_selected", changes.PIN, "Pin"),
        list_action("unpin_selected", changes.UNPIN, "Unpin"),
        list_action("archive_selected", changes.ARCHIVE, "Archive"),
        list_action("restore_selected", changes.RESTORE, "Restore"),
        list_action("dispute_selected", changes.DISPUTE, "Dispute"),
        list_action("give_selected", changes.GIVE, "Share with the team"),
        list_action("delete_selected_memories", changes.DELETE, "Delete"),
    ]
    actions_detail = [
        "pin_this",
        "unpin_this",
        "correct_this",
        "is_wrong_this",
        "give_this",
        "archive_this",
        "soft_delete_this",
        "restore_this",
    ]
    # The page shows the row in its own way, not as a form of read-only fields.
    fields = ["content"]

    give_this = _button("give_this", changes.GIVE, "Share with the team", icon="groups")
    pin_this = _button("pin_this", changes.PIN, "Pin", icon="keep")
    unpin_this = _button("unpin_this", changes.UNPIN, "Unpin", icon="keep_off")
    archive_this = _button("archive_this", changes.ARCHIVE, "Archive", icon="archive")
    soft_delete_this = _button("soft_delete_this", changes.DELETE, "Delete", icon="delete")
    restore_this = _button("restore_this", changes.RESTORE, "Restore", icon="undo")
    is_wrong_this = _button("is_wrong_this", changes.DISPUTE, "Dispute", icon="flag")

    # Titles and orders of the columns; the list's template shows the cells from its `lines`.
    text = column("memory", str, ordering="content")
    whose = column("owner", str, ordering="end_user__external_id")
    kind = column("type", str, ordering="memory_type")
    standing = column("status", str, ordering="status")
    age = column("age", str, ordering="created_at")
    use = column("uses", str, ordering="usage__retrieved")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[listing.MemoryChangeList]:
        return listing.MemoryChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """All but what was purged, so that those of a team are read in the order of their times."""
        rows = super().get_queryset(request).filter(created_at__gt=SINCE_EVER)
        rows = rows.exclude(status=Status.PURGED.value)
        return rows.select_related("team", "agent", "end_user", "project", "usage")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        """By meaning, best first; by words where retrieval finds nothing."""
        term = search_term.strip()
        if term and not id_in(term):
            found = listing.found_by(request, cast(MemoryQuerySet, queryset), term)
            if found is not None:
                return found, False
        return super().get_search_results(request, queryset, term)

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        memory = self.get_object(request, object_id)
        if memory is None:
            return {}
        return {"memory_page": memory_page(memory=memory, now=timezone.now()), "title": "Memory"}

    def useful_actions(self, row: Memory) -> Collection[str]:
        useful = {
            "pin_this": row.is_live and not row.is_pinned,
            "unpin_this": row.is_pinned,
            "correct_this": row.is_live,
            "is_wrong_this": row.is_live,
            "archive_this": row.is_live,
            "give_this": row.status == Status.ACTIVE and row.end_user_id and TEAM_FACT in row.tags,
            "soft_delete_this": row.status != Status.SOFT_DELETED,
            "restore_this": row.status in (Status.SOFT_DELETED, Status.ARCHIVED),
        }
        return {name for name, is_useful in useful.items() if is_useful}

    @action(description="Correct", permissions=["act"], url_path="correct", icon="edit")
    def correct_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        memory = self.get_object(request, object_id)
        if memory is None:
            raise Http404
        return changes.correct_page(self, request, memory)
