"""Memories: found, read and acted on; their text is never edited."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html

from memory.domain.types import Status
from memory.models import Memory
from memory.models.memory import LIVE, SINCE_EVER
from memory.services.extraction.owners import TEAM_FACT
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import list_action, page_action
from teams.admin.display import (
    NOTHING,
    excerpt,
    id_column,
    json_column,
    label_column,
    page_of,
    time_column,
    words,
)
from teams.admin.filters import DaysFilter
from teams.admin.theme import (
    AutocompleteFilter,
    ChoiceFilter,
    DropdownFilter,
    NumberRangeFilter,
    RelatedFilter,
    TextFilter,
    YesNoFilter,
    action,
    display,
)

from .cards import card_of
from .changes import DELETE, GIVE, PIN, RESTORE, SAY_WRONG, UNPIN, correcting
from .memory_page import memory_page
from .rewriting import rewrite_page


class TagFilter(TextFilter):
    """By one whole tag."""

    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories that carry the tag."""
        tag = (self.value() or "").strip()
        return queryset.filter(tag_rows__name=tag) if tag else queryset


class TeamFactFilter(DropdownFilter):
    """What talk told of the team, where the team wants to be asked before everybody knows it."""

    title = "said of the team"
    parameter_name = "team_fact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Those that nobody gave to the team yet, or those that were."""
        return [("waiting", "Waiting for a yes"), ("given", "Given to the team")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories of the choice; all without one."""
        if self.value() not in ("waiting", "given"):
            return queryset
        is_given = self.value() == "given"
        told = queryset.filter(tag_rows__name=TEAM_FACT, end_user__isnull=is_given)
        return told.filter(status__in=LIVE)


class StandingFilter(DropdownFilter):
    """What agents may be shown, or what they are not shown any more."""

    title = "shown to agents"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Live ones or the others."""  # Any: Django's own, generic over the model
        return [("live", "Yes: active or disputed"), ("gone", "No")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories of the choice; all without one."""
        chosen = {"live": queryset.filter, "gone": queryset.exclude}.get(self.value() or "")
        return chosen(status__in=LIVE) if chosen else queryset


STATUS_COLOURS = {
    "active": "success",
    "disputed": "warning",
    "superseded": "info",
    "soft_deleted": "danger",
    "archived": "default",
}


@admin.register(Memory)
class MemoryAdmin(TeamAdmin[Memory]):
    """The memories of the login's teams, newest first."""

    list_display = [
        "beginning",
        "status_label",
        "kind",
        "tier",
        "importance",
        "pin",
        "created",
        "agent",
        "end_user",
        "project",
        "about",
        "version",
        "team",
    ]
    list_filter = [
        ("team", RelatedFilter),
        StandingFilter,
        ("status", ChoiceFilter),
        ("memory_type", ChoiceFilter),
        ("tier", ChoiceFilter),
        ("is_pinned", YesNoFilter),
        ("importance", NumberRangeFilter),
        TagFilter,
        TeamFactFilter,
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        ("created_at", DaysFilter),
    ]
    list_fullwidth = True
    ordering = ["-created_at"]
    is_found_by_id = True
    when_empty = (
        "Nothing has been remembered yet. Issue an API key under People and let an agent talk."
    )
    search_fields = ["content", "subject"]
    search_help_text = "Words of the text or the subject, or a whole id"
    actions = ["pin_selected", "unpin_selected", "give_selected", "delete_selected_memories"]
    actions_detail = [
        "pin_this",
        "unpin_this",
        "correct_this",
        "is_wrong_this",
        "give_this",
        "soft_delete_this",
        "restore_this",
    ]
    fieldsets = [
        section(None, "text", "subject"),
        section(
            "State",
            ("status", "tier", "is_pinned"),
            ("importance", "confidence", "said_again"),
            ("version", "valid_from_time", "valid_to_time"),
        ),
        section(
            "What it is",
            ("memory_type", "scope", "category"),
            ("agent", "end_user", "project"),
            ("tag_words", "form", "payload_document"),
        ),
        section(
            "Origin",
            ("team", "conversation_page", "actor"),
            ("extractor", "extraction_pass", "external_id"),
            ("created", "updated"),
            "whole_id",
        ),
    ]

    status_label = label_column("status", "status", STATUS_COLOURS)
    created = time_column("created_at", "created")
    updated = time_column("updated_at", "last change")
    payload_document = json_column("payload", "payload")
    valid_from_time = time_column("valid_from", "valid from")
    valid_to_time = time_column("valid_to", "valid until")
    conversation_page = id_column("conversation_id", "teams_conversation", "conversation")
    pin_selected = list_action("pin_selected", PIN, "Pin")
    unpin_selected = list_action("unpin_selected", UNPIN, "Unpin")
    delete_selected_memories = list_action(
        "delete_selected_memories", DELETE, "Delete (text and history stay)"
    )
    give_selected = list_action("give_selected", GIVE, "Give to the team")
    give_this = page_action("give_this", GIVE, "Give to the team", icon="groups")
    pin_this = page_action("pin_this", PIN, "Pin", icon="keep")
    unpin_this = page_action("unpin_this", UNPIN, "Unpin", icon="keep_off")
    soft_delete_this = page_action("soft_delete_this", DELETE, "Delete", icon="delete")
    restore_this = page_action("restore_this", RESTORE, "Restore", icon="undo")
    is_wrong_this = page_action("is_wrong_this", SAY_WRONG, "Report as wrong", icon="flag")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """All of them, so that those of a team are read in the order of their times."""
        rows = super().get_queryset(request).filter(created_at__gt=SINCE_EVER)
        return rows.select_related("team", "agent", "end_user", "project", "conversation")

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """The memory with its sources, versions, disputes, relations, use and history."""
        memory = self.get_object(request, object_id)
        return {"memory_page": memory and memory_page(memory=memory), "title": "Memory"}

    def useful_actions(self, row: Memory) -> Collection[str]:
        """Those that its status and its pin leave something to do."""
        useful = {
            "pin_this": row.is_live and not row.is_pinned,
            "unpin_this": row.is_pinned,
            "correct_this": row.is_live,
            "is_wrong_this": row.is_live,
            "give_this": row.status == Status.ACTIVE and row.end_user_id and TEAM_FACT in row.tags,
            "soft_delete_this": row.status != Status.SOFT_DELETED,
            "restore_this": row.status in (Status.SOFT_DELETED, Status.ARCHIVED),
        }
        return {name for name, is_useful in useful.items() if is_useful}

    @action(description="Correct", permissions=["act"], url_path="correct", icon="edit")
    def correct_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write a right text in place of this memory."""
        memory = self.get_object(request, object_id)
        if memory is None:
            raise Http404
        status = memory.get_status_display().replace("_", " ")
        return rewrite_page(
            self,
            request,
            row=memory,
            change=correcting,
            cards=[card_of(memory)],
            page=page_of("memory_memory", object_id),
            refusal="" if memory.is_live else f"It is now {status} and cannot be corrected.",
        )

    @display(description="memory", ordering="content")
    def beginning(self, memory: Memory) -> str:
        """The first words."""
        return format_html(
            '<span class="block break-words w-80">{}</span>', excerpt(memory.content)
        )

    @display(description="type", ordering="memory_type")
    def kind(self, memory: Memory) -> str:
        """What kind of thing it holds."""
        return memory.memory_type.replace("_", " ")

    @display(description="pinned", ordering="is_pinned")
    def pin(self, memory: Memory) -> str:
        """A pin for a pinned one."""
        if not memory.is_pinned:
            return ""
        return format_html(
            '<span class="material-symbols-outlined text-primary-600 dark:text-primary-500"'
            ' role="img" aria-label="{0}" title="{0}">keep</span>',
            "pinned",
        )

    @display(description="repeated")
    def said_again(self, memory: Memory) -> str:
        """How often it was said after it was first stored."""
        return f"{memory.corroboration} times" if memory.corroboration else "never"

    @display(description="text")
    def text(self, memory: Memory) -> str:
        """Every word."""
        return format_html(
            '<div class="leading-relaxed text-base text-font-important-light'
            ' dark:text-font-important-dark">{}</div>',
            linebreaksbr(memory.content),
        )

    @display(description="subject", ordering="subject")
    def about(self, memory: Memory) -> str:
        """What it is about."""
        if not memory.subject:
            return NOTHING
        return format_html('<span class="block break-words w-40">{}</span>', memory.subject)

    @display(description="tags")
    def tag_words(self, memory: Memory) -> str:
        """Its tags."""
        return words(memory.tags)

    @display(description="id")
    def whole_id(self, memory: Memory) -> str:
        """Its id, to copy."""
        return str(memory.pk)
