"""The log, to read: nobody adds, changes or removes a row of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from audit.models import EVENTS, MemoryLog
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, as_json, id_link, moment
from teams.admin.filters import DaysFilter
from teams.admin.theme import DropdownFilter, RelatedFilter, display

EVENT_COLOURS = {
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

    list_display = ["happened", "event_label", "memory", "subject", "actor", "reason", "team"]
    list_filter = [EventFilter, ("team", RelatedFilter), ("at", DaysFilter)]
    list_select_related = ["team"]
    ordering = ["-seq"]
    search_fields = ["memory_id"]
    search_help_text = "The whole id of a memory"
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("happened", "event_title", "team"),
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

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MemoryLog], search_term: str
    ) -> tuple[QuerySet[MemoryLog], bool]:
        """The log of one memory."""
        del request
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(memory_id=UUID(search_term.strip())), False
        except ValueError:
            return queryset.none(), False

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

    @display(description="subject")
    def subject(self, entry: MemoryLog) -> str:
        """What the memory is about."""
        return str(entry.state.get("subject") or NOTHING)

    @display(description="state")
    def state_document(self, entry: MemoryLog) -> str:
        """Every column after the change."""
        return as_json(entry.state)

    @display(description="digest of salt and text")
    def digest_text(self, entry: MemoryLog) -> str:
        """The SHA-256 digest in hexadecimal; nobody without the salt can try texts out on it."""
        return bytes(entry.digest).hex()
