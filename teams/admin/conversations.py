"""People, their conversations with the messages, and saved states of threads."""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field, Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from teams.admin_permissions import ADMINS
from teams.models import Checkpoint, Conversation, EndUser, Message
from teams.models.people import Role

from .base import TeamAdmin, section
from .display import actor_column, as_json, cell, column, page_of, row_column, time_column
from .filters import DaysFilter
from .theme import AutocompleteFilter, RelatedFilter, display

PAGE_SIZE = 50
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Quote:
    """A message as pages quote it; a source, or a neighbour of one."""

    message: Message
    is_source: bool = True

    @property
    def url(self) -> str:
        """The address of the message on the page of its conversation."""
        page = page_of("teams_conversation", self.message.conversation_id)
        position = self.message.position
        return f"{page}?page={(position - 1) // PAGE_SIZE + 1}#message-{position}"

    @property
    def speaker(self) -> str:
        role = self.message.get_role_display()
        return f"{role} ({self.message.name})" if self.message.name else role


def quotes_of(message_ids: Collection[UUID], *, team_id: UUID) -> list[Quote]:
    """These messages of the team, the oldest first."""
    rows = Message.objects.filter(team_id=team_id, pk__in=message_ids)
    return [Quote(row) for row in rows.order_by("created_at", "position")]


def passages_of(
    wanted: Mapping[Key, Collection[UUID]], *, team_id: UUID
) -> dict[Key, list[list[Quote]]]:
    """The wanted messages of each key between their neighbours, the oldest first; two queries.

    Messages of one conversation that follow each other are one passage.
    """
    ids = set(chain.from_iterable(wanted.values()))
    if not ids:
        return {key: [] for key in wanted}
    found = Message.objects.filter(team_id=team_id, pk__in=ids)
    places = {row[0]: row[1:] for row in found.values_list("pk", "conversation_id", "position")}
    around = Q(pk__in=())
    for conversation_id, position in places.values():
        around |= Q(conversation_id=conversation_id, position__range=(position - 1, position + 1))
    rows = Message.objects.filter(around, team_id=team_id).select_related("conversation")
    ordered = sorted(
        rows, key=lambda row: (row.conversation.created_at, row.conversation_id, row.position)
    )
    return {
        key: _passages(ordered, {places[each] for each in own if each in places})
        for key, own in wanted.items()
    }


def _passages(rows: Iterable[Message], sources: set[tuple[UUID, int]]) -> list[list[Quote]]:
    near = {(talk, position + step) for talk, position in sources for step in (-1, 0, 1)}
    lines = [
        Quote(row, place in sources)
        for row in rows
        if (place := (row.conversation_id, row.position)) in near
    ]
    # Positions of messages that follow each other are as far apart as their places in the list.
    runs = groupby(
        enumerate(lines),
        key=lambda each: (each[1].message.conversation_id, each[1].message.position - each[0]),
    )
    return [[line for _, line in run] for _, run in runs]


@admin.register(Conversation)
class ConversationAdmin(TeamAdmin[Conversation]):
    """Every word that was said, to read and never to change."""

    list_display = ["thread", "with_agent", "with_person", "in_project", "last_position"]
    list_display += ["team", "created", "closed"]
    list_filter = [
        ("team", RelatedFilter),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user", "project"]
    ordering = ["-created_at"]
    is_found_by_id = True
    search_fields = ["thread_id", "end_user__external_id", "end_user__display_name"]
    fieldsets = [
        section(
            None,
            "thread_id",
            ("with_agent", "with_person", "in_project"),
            ("last_position", "extracted_position"),
            ("team", "created", "closed"),
        )
    ]
    readonly_fields = ["with_agent", "with_person", "in_project", "created", "closed"]

    with_agent = row_column("agent", "agent", ordering="agent__slug")
    with_person = row_column("end_user", "person", ordering="end_user__external_id")
    in_project = row_column("project", "project", ordering="project__slug")
    thread = column("thread", lambda row: cell(row.thread_id), ordering="thread_id")
    created = time_column("created_at", "started")
    closed = time_column("closed_at", "closed")

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        conversation = self.get_object(request, object_id)
        if conversation is None:
            return {}
        rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
        pages = Paginator(rows.order_by("position"), PAGE_SIZE)
        return {"page": pages.get_page(request.GET.get("page"))}


@admin.register(EndUser)
class EndUserAdmin(TeamAdmin[EndUser]):
    """People the agents talk with; they appear when an agent first names them.

    What is known of them is in their memories; what would change it waits as consent requests.
    """

    change_roles = ADMINS
    list_display = ["external_id", "display_name", "role", "team", "created"]
    list_filter = [("team", RelatedFilter), "role"]
    search_fields = ["external_id", "display_name"]
    fields = ["team", "external_id", "display_name", "role", "has_insights", "created"]
    readonly_fields = ["external_id", "created"]
    help_texts = {
        "role": "Members' agents can use what other members said about work. Guests' agents"
        " cannot.",
    }

    def formfield_for_choice_field(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:  # Any: Django's own signature
        """Names what an empty role means."""
        if db_field.name == "role":
            kwargs["choices"] = [("", "Default of the team"), *Role.choices]
        return super().formfield_for_choice_field(db_field, request, **kwargs)


# A larger state is shown in part, as a page with a megabyte helps nobody.
SHOWN_CHARS = 20_000


@admin.register(Checkpoint)
class CheckpointAdmin(TeamAdmin[Checkpoint]):
    """Every version that is kept, newest first, for the admins of the team."""

    view_roles = ADMINS
    when_empty = "Agents save checkpoints through the API. None are stored yet."
    list_display = ["thread", "end_user", "agent", "version", "bytes", "saved", "by", "team"]
    list_filter = [
        ("team", RelatedFilter),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("saved_at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    ordering = ["-saved_at", "-version"]
    search_fields = ["thread_id", "end_user__external_id", "end_user__display_name"]
    search_help_text = "Search by thread or person"
    fieldsets = [
        section(
            None,
            "thread",
            ("end_user", "agent", "team"),
            ("version", "bytes"),
            ("saved", "by"),
            "document",
        )
    ]

    thread = column("thread", lambda row: row.thread_id, ordering="thread_id")
    bytes = column("size", lambda row: filesizeformat(row.size), ordering="size")
    saved = time_column("saved_at", "saved")
    by = actor_column()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Checkpoint]:
        return super().get_queryset(request).defer("data")

    @display(description="state")
    def document(self, checkpoint: Checkpoint) -> str:
        if len(checkpoint.data) <= SHOWN_CHARS:
            return as_json(json.loads(checkpoint.data))
        return f"{checkpoint.data[:SHOWN_CHARS]} … and {len(checkpoint.data) - SHOWN_CHARS} more."
