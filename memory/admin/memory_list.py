"""The list of memories: one line each, with what one needs to choose among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Func
from django.http import HttpRequest
from django.utils import timezone

from memory.models import Memory
from teams.admin.base import OneCountChangeList
from teams.admin.display import excerpt, page_of
from teams.admin.theme import result_headers
from teams.admin_permissions import sees_several_teams

from .memory_words import age, status_words, type_words, usage_of, use_words, whose

_TEXT_CHARS = 240


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory as the list shows it; `team` is empty where the login sees one alone."""

    memory: Memory
    url: str
    text: str
    whose: str
    type: str
    status: str
    age: str
    use: str
    team: str

    @classmethod
    def of(cls, memory: Memory, *, now: datetime, with_team: bool) -> MemoryLine:
        """The line of a row that was read with its owners and usage."""
        return cls(
            memory,
            page_of("memory_memory", memory.pk),
            excerpt(memory.content, _TEXT_CHARS),
            whose(memory),
            type_words(memory.memory_type),
            status_words(memory.status),
            age(memory.created_at, now=now),
            use_words(usage_of(memory), now=now),
            str(memory.team) if with_team else "",
        )


class MemoryChangeList(OneCountChangeList):
    """Django's list with its rows as `lines`, and whether they stand by rank (memory_search).

    `headers` are those of its columns, in the theme's shape, and `sorted_columns` of how many of
    them the order is made.
    """

    lines: list[MemoryLine]
    headers: list[Mapping[str, Any]]
    sorted_columns = 0
    is_ranked = False

    def get_results(self, request: HttpRequest) -> None:
        """The page's rows and their lines."""
        super().get_results(request)
        self.is_ranked = any(isinstance(key, Func) for key in self.queryset.query.order_by)
        now, with_team = timezone.now(), sees_several_teams(request)
        self.headers = list(result_headers(self))
        self.sorted_columns = sum(header.get("sorted", False) for header in self.headers)
        self.lines = [MemoryLine.of(row, now=now, with_team=with_team) for row in self.result_list]
