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
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from audit.models import EVENTS, MemoryLog
from teams.admin.base import TeamAdmin, section
from teams.admin.display import (
    NOTHING,
    actor_column,
    actors_called,
    as_json,
    excerpt,
    id_column,
    label_column,
    link,
    page_of,
    time_column,
)
from teams.admin.filters import DaysFilter, value_filter
from teams.admin.theme import RelatedFilter, display

from .change_words import EVENT_WORDS, event_words, reason_words
from .history import line_of

_END_OF_ID = re.compile(r"[0-9a-fA-F-]{4,35}")
EVENT_COLOURS = {
    **dict.fromkeys(EVENTS, "default"),
    "created": "success",
    "versioned": "success",
    "restored": "success",
    "contradiction_detected": "warning",
    "soft_deleted": "danger",
    "purged": "danger",
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
    return event_words(event).capitalize()


@admin.register(MemoryLog)
class MemoryLogAdmin(TeamAdmin[MemoryLog]):
    """Every change of every memory, newest first."""

    list_display = ["happened", "event_label", "words_of_it", "by", "why", "team"]
    list_filter = [
        value_filter("event", EVENTS, titles=EVENT_WORDS),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team"]
    ordering = ["-seq"]
    search_fields = ["memory_id", "actor"]
    search_help_text = "A memory's id or its end, or who acted"
    when_empty = "Nothing has been remembered yet."
    fieldsets = [
        section(
            None,
            ("happened", "event_title", "team"),
            "words_of_it",
            "what_changed",
            ("by", "why"),
            ("memory", "conversation"),
        ),
        section(
            "As it is stored",
            ("seq", "revision", "digest_text"),
            "state_document",
            description=(
                "The state after the change: everything but the text, which is stored once,"
                " in the memory itself."
            ),
        ),
    ]

    happened = time_column("at", "time", ordering="seq")
    event_label = label_column("event", "event", EVENT_COLOURS, words=EVENT_WORDS)
    by = actor_column()
    memory = id_column("memory_id", "memory_memory", "memory", ordering="memory_id")
    conversation = id_column("conversation_id", "teams_conversation", "conversation")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryLog]:
        """Each entry with the text of its memory."""
        text = _memories().filter(team_id=OuterRef("team_id"), pk=OuterRef("memory_id"))
        return super().get_queryset(request).annotate(text=Subquery(text.values("content")[:1]))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MemoryLog], search_term: str
    ) -> tuple[QuerySet[MemoryLog], bool]:
        """The log of one memory, of those whose id ends so, or of one who acted."""
        term = search_term.strip().lstrip("…")
        if not term:
            return queryset, False
        with suppress(ValueError):
            return queryset.filter(memory_id=UUID(term)), False
        found = Q(actor__icontains=term) | Q(actor__in=actors_called(term))
        if _END_OF_ID.fullmatch(term):
            queryset = queryset.annotate(id_text=Cast("memory_id", TextField()))
            found |= Q(id_text__endswith=term.lower())
        return queryset.filter(found), False

    @display(description="reason")
    def why(self, entry: MemoryLog) -> str:
        """Why it was done, where somebody said so."""
        return reason_words(entry.reason) or NOTHING

    @display(description="what changed")
    def what_changed(self, entry: MemoryLog) -> SafeString | str:
        """What differs from the memory's row before it, a line each."""
        changes = line_of(entry).changes
        return format_html_join("", '<div class="break-words">{}</div>', ((c,) for c in changes))

    @display(description="state")
    def state_document(self, entry: MemoryLog) -> SafeString:
        """The columns as JSON, folded away."""
        return format_html(
            "<details><summary>{}</summary>{}</details>", "Show the columns", as_json(entry.state)
        )

    @display(description="event")
    def event_title(self, entry: MemoryLog) -> str:
        """What happened."""
        return event_title(entry.event)

    @display(description="memory text")
    def words_of_it(self, entry: MemoryLog) -> str:
        """The first words of the memory."""
        text: str | None = entry.text  # type: ignore[attr-defined]  # by `get_queryset`
        shown = excerpt(text or "") or entry.state.get("subject") or NOTHING
        page = page_of("memory_memory", entry.memory_id)
        return format_html('<span class="block break-words w-80">{}</span>', link(page, shown))

    @display(description="digest of salt and text")
    def digest_text(self, entry: MemoryLog) -> str:
        """The SHA-256 digest in hexadecimal; nobody without the salt can try texts out on it."""
        return format_html('<span class="break-words">{}</span>', bytes(entry.digest).hex())
