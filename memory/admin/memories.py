"""Memories: found, read and acted on; their text is never edited."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from functools import partial
from typing import Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from memory.domain.forms import Form
from memory.domain.types import MemoryType, Status, Tier
from memory.models import Memory
from memory.models.memory import SINCE_EVER
from memory.models.querysets import MemoryQuerySet
from memory.understanding.tools import default_tools
from memory.writing.windows import TEAM_FACT
from teams.admin.base import OneCountChangeList, TeamAdmin, is_id
from teams.admin.confirm import list_action, page_action
from teams.admin.display import excerpt, moment, page_of
from teams.admin.filters import DaysFilter, value_filter
from teams.admin.theme import (
    AutocompleteFilter,
    NumberRangeFilter,
    RelatedFilter,
    YesNoFilter,
    action,
    display,
)

from .cards import card_of
from .changes import ARCHIVE, DELETE, GIVE, PIN, RESTORE, SAY_WRONG, UNPIN, correcting
from .current import current_page
from .memory_filters import (
    AgeFilter,
    CategoryFilter,
    StandingFilter,
    TagFilter,
    TeamFactFilter,
    UseFilter,
)
from .memory_list import MemoryChangeList
from .memory_page import memory_page
from .memory_search import found_by
from .memory_words import status_words, type_words, usage_of, whose
from .rewriting import rewrite_page

# Each button leads to what is current afterwards.
_button: Callable[..., Any] = partial(page_action, lands=current_page)  # Any: as page_action


def _values(names: Iterable[StrEnum]) -> list[str]:
    return [each.value for each in names]


@admin.register(Memory)
class MemoryAdmin(TeamAdmin[Memory]):
    """The memories of the login's teams, newest first."""

    list_display = ["text", "whose", "kind", "standing", "age", "use", "team"]
    list_filter = [
        ("team", RelatedFilter),
        StandingFilter,
        value_filter(
            "status",
            _values(each for each in Status if each is not Status.PURGED),
            parameter="status__exact",
            titles={"soft_deleted": "deleted"},
        ),
        value_filter(
            "memory_type", _values(MemoryType), name="type", parameter="memory_type__exact"
        ),
        value_filter("form", _values(Form), parameter="form__exact"),
        value_filter("tier", _values(Tier), parameter="tier__exact"),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        CategoryFilter,
        TagFilter,
        ("is_pinned", YesNoFilter),
        ("importance", NumberRangeFilter),
        AgeFilter,
        UseFilter,
        TeamFactFilter,
        ("created_at", DaysFilter),
    ]
    list_fullwidth = True
    ordering = ["-created_at"]
    is_found_by_id = True
    when_empty = (
        "Nothing has been remembered yet. Issue an API key under People and let an agent talk."
    )
    search_fields = ["content", "subject"]
    search_help_text = "What is remembered about …, or a whole id"
    actions = [
        "pin_selected",
        "unpin_selected",
        "archive_selected",
        "restore_selected",
        "dispute_selected",
        "give_selected",
        "delete_selected_memories",
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

    pin_selected = list_action("pin_selected", PIN, "Pin")
    unpin_selected = list_action("unpin_selected", UNPIN, "Unpin")
    archive_selected = list_action("archive_selected", ARCHIVE, "Archive")
    restore_selected = list_action("restore_selected", RESTORE, "Restore")
    dispute_selected = list_action("dispute_selected", SAY_WRONG, "Dispute")
    delete_selected_memories = list_action(
        "delete_selected_memories", DELETE, "Delete (text and history stay)"
    )
    give_selected = list_action("give_selected", GIVE, "Give to the team")
    give_this = _button("give_this", GIVE, "Give to the team", icon="groups")
    pin_this = _button("pin_this", PIN, "Pin", icon="keep")
    unpin_this = _button("unpin_this", UNPIN, "Unpin", icon="keep_off")
    archive_this = _button("archive_this", ARCHIVE, "Archive", icon="archive")
    soft_delete_this = _button("soft_delete_this", DELETE, "Delete", icon="delete")
    restore_this = _button("restore_this", RESTORE, "Restore", icon="undo")
    is_wrong_this = _button("is_wrong_this", SAY_WRONG, "Dispute", icon="flag")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[OneCountChangeList]:
        """The list with a line for each memory."""
        return MemoryChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """All but what was purged, so that those of a team are read in the order of their times."""
        rows = super().get_queryset(request).filter(created_at__gt=SINCE_EVER)
        rows = rows.exclude(status=Status.PURGED.value)
        return rows.select_related("team", "agent", "end_user", "project", "usage")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        """What says most about the term, best first; by words where retrieval finds nothing."""
        term = search_term.strip()
        if term and not is_id(term):
            found = found_by(
                request,
                cast(MemoryQuerySet, queryset),
                text=term,
                tools=default_tools(),
                now=timezone.now(),
            )
            if found is not None:
                return found, False
        return super().get_search_results(request, queryset, term)

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """The memory with its sources, versions, disputes, relations, use and history."""
        memory = self.get_object(request, object_id)
        if memory is None:
            return {}
        return {"memory_page": memory_page(memory=memory, now=timezone.now()), "title": "Memory"}

    def useful_actions(self, row: Memory) -> Collection[str]:
        """Those that its status and its pin leave something to do."""
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
        """Write a right text in place of this memory."""
        memory = self.get_object(request, object_id)
        if memory is None:
            raise Http404
        status = status_words(memory.status)
        return rewrite_page(
            self,
            request,
            row=memory,
            change=correcting,
            cards=[card_of(memory)],
            page=page_of("memory_memory", object_id),
            refusal="" if memory.is_live else f"It is now {status} and cannot be corrected.",
            lands=partial(current_page, object_id),
        )

    # What a column is called and sorted by; the list's template shows the lines themselves.

    @display(description="memory", ordering="content")
    def text(self, memory: Memory) -> str:
        """Its beginning."""
        return excerpt(memory.content)

    @display(description="whose", ordering="end_user__external_id")
    def whose(self, memory: Memory) -> str:
        """The owner of the memory."""
        return whose(memory)

    @display(description="type", ordering="memory_type")
    def kind(self, memory: Memory) -> str:
        """What kind of thing it holds."""
        return type_words(memory.memory_type)

    @display(description="status", ordering="status")
    def standing(self, memory: Memory) -> str:
        """How it stands."""
        return status_words(memory.status)

    @display(description="age", ordering="created_at")
    def age(self, memory: Memory) -> str:
        """When it was stored."""
        return moment(memory.created_at)

    @display(description="use", ordering="usage__retrieved")
    def use(self, memory: Memory) -> str:
        """How often answers had it."""
        usage = usage_of(memory)
        return str(usage.retrieved if usage else 0)
