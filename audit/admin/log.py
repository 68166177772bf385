"""The log, to read: nobody adds, changes or removes a row of it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.html import format_html

from audit.models import EVENTS, MemoryLog
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, as_json, excerpt, id_link, link, moment, page_of
from teams.admin.filters import DaysFilter
from teams.admin.theme import DropdownFilter, RelatedFilter, display

_END_OF_ID = re.compile(r"[0-9a-fA-F-]{4,35}")
EVENT_COLOURS = {
    **dict.fromkeys(EVENTS, "default"),
    "created": "success",
    "versioned": "success",
    "restored": "success",
    "contradiction_detected": "warning",
    "soft_deleted": "danger",
    "erased": "danger",
    "superseded": "info",
    "pinned": "primary",
    "unpinned": "primary",
}


def _memories() -> QuerySet[Any]:
    # By name: the memory's own code stands on the log's, not the other way.
    return apps.get_model("memory", "Memory")._default_manager.all()


def event_title(event: str) -> str:
    """An event's name in words."""
    return event.replace("_", " ")


class EventFilter(DropdownFilter):
    """By what happened."""

    title = "event"
    parameter_name = "event"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Every event there is."""  # Any: Django's own, generic over the model
        del request, model_admin
        return [(event, event_title(event)) for event in EVENTS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[MemoryLog]) -> QuerySet[MemoryLog]:
        """Rows of the chosen event."""
        del request
        event = self.value()
        return queryset.filter(event=event) if event else queryset


@admin.register(MemoryLog)
class MemoryLogAdmin(TeamAdmin[MemoryLog]):
    """Every change of every memory, newest first."""

    list_display = ["happened", "event_label", "words_of_it", "memory", "actor", "reason", "team"]
    list_filter = [EventFilter, ("team", RelatedFilter), ("at", DaysFilter)]
    list_select_related = ["team"]
    ordering = ["-seq"]
    search_fields = ["memory_id", "actor"]
    search_help_text = "A memory's id or the end of it, or who did it"
    when_empty = "Nothing has been remembered yet."
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("happened", "event_title", "team"),
                    "words_of_it",
                    ("memory", "actor", "reason"),
                    ("conversation", "revision", "seq"),
                ]
            },
        ),
        (
            "State after the change",
            {
                "fields": ["state_document", "digest_text"],
                "description": "Everything but the text, which stands once, in the memory itself.",
            },
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryLog]:
        """Each entry with the text of its memory."""
        text = _memories().filter(team_id=OuterRef("team_id"), pk=OuterRef("memory_id"))
        return super().get_queryset(request).annotate(text=Subquery(text.values("content")[:1]))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MemoryLog], search_term: str
    ) -> tuple[QuerySet[MemoryLog], bool]:
        """The log of one memory, of those whose id ends so, or of one who acted."""
        del request
        term = search_term.strip().lstrip("…")
        if not term:
            return queryset, False
        with suppress(ValueError):
            return queryset.filter(memory_id=UUID(term)), False
        found = Q(actor__icontains=term)
        if _END_OF_ID.fullmatch(term):
            queryset = queryset.annotate(id_text=Cast("memory_id", TextField()))
            found |= Q(id_text__endswith=term.lower())
        return queryset.filter(found), False

    @display(description="time", ordering="seq")
    def happened(self, entry: MemoryLog) -> str:
        """When the change was made."""
        return moment(entry.at)

    @display(description="event", ordering="event", label=EVENT_COLOURS)
    def event_label(self, entry: MemoryLog) -> tuple[str, str]:
        """What happened, coloured."""
        return entry.event, event_title(entry.event)

    @display(description="event")
    def event_title(self, entry: MemoryLog) -> str:
        """What happened."""
        return event_title(entry.event)

    @display(description="memory", ordering="memory_id")
    def memory(self, entry: MemoryLog) -> str:
        """The memory that changed."""
        return id_link("memory_memory", entry.memory_id)

    @display(description="conversation")
    def conversation(self, entry: MemoryLog) -> str:
        """The conversation whose revision the change moved."""
        return id_link("teams_conversation", entry.conversation_id)

    @display(description="what it says")
    def words_of_it(self, entry: MemoryLog) -> str:
        """The first words of the memory."""
        text: str | None = entry.text  # type: ignore[attr-defined]  # by `get_queryset`
        shown = excerpt(text or "") or entry.state.get("subject") or NOTHING
        page = page_of("memory_memory", entry.memory_id)
        return format_html('<span class="block break-words w-80">{}</span>', link(page, shown))

    @display(description="state")
    def state_document(self, entry: MemoryLog) -> str:
        """Every column after the change."""
        return as_json(entry.state)

    @display(description="digest of salt and text")
    def digest_text(self, entry: MemoryLog) -> str:
        """The SHA-256 digest in hexadecimal; nobody without the salt can try texts out on it."""
        return bytes(entry.digest).hex()
