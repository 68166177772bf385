"""The list of memories: its lines, its filters, and the search by meaning that agents get."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, UUIDField, Value
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from memory.domain.audience import Viewer
from memory.domain.types import Status
from memory.models import Category, Memory, MemoryUsage
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import ScoredMemory
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import search
from memory.understanding.tools import default_tools
from memory.writing.windows import TEAM_FACT
from teams.admin.base import OneCountChangeList, id_in
from teams.admin.display import excerpt, link, page_of, page_of_row
from teams.admin.filters import condition_filter, since
from teams.admin.theme import DropdownFilter, TextFilter, result_headers
from teams.admin_permissions import sees_several_teams
from teams.middleware import outside_staff_scope
from teams.models import Team

_TEXT_CHARS = 240
_WORD = re.compile(r"\w+")
_LONG = 4
# A team with more has a vocabulary that nobody picks from a list.
_MOST_CATEGORIES = 100
_OFTEN = 10
# So many of each team are ranked; who looks for more asks more narrowly.
_MOST_FOUND = 100
# A login of more teams chooses one: each is a search of its own.
_MOST_TEAMS = 5
# Parts of an address that narrow nothing.
_NOT_FILTERS = {"q", "o", "p", "e", "_changelist_filters"}


def status_words(status: str) -> str:
    """Returns a memory's status as people say it."""
    return "deleted" if status == Status.SOFT_DELETED else status.replace("_", " ")


_SOURCE_WORDS = {"web": "web page"}


def source_words(memory: Memory) -> str:
    """Returns a memory's source as people say it."""
    words = _SOURCE_WORDS.get(memory.source, memory.source)
    return f"{words} (unconfirmed)" if memory.is_unconfirmed else words


def owners_of(memory: Memory) -> str:
    """Returns links to the person, agent and project a memory belongs to, or "the team"."""
    owners = (
        (memory.end_user, str(memory.end_user)),
        (memory.agent, f"{memory.agent and memory.agent.slug} (agent)"),
        (memory.project, f"{memory.project} (project)"),
    )
    links = ((link(page_of_row(row), words),) for row, words in owners if row)
    return format_html_join(", ", "{}", links) or "the team"


def usage_of(memory: Memory) -> MemoryUsage | None:
    """Returns the counters; None if no answer used it. No query if the row was read with them."""
    try:
        return memory.usage
    except MemoryUsage.DoesNotExist:
        return None


def _age(moment: datetime, now: datetime) -> str:
    return timesince(moment, now, depth=1).replace("\xa0", " ")


def _use(usage: MemoryUsage | None, now: datetime) -> str:
    if usage is None or not usage.retrieved:
        return "never"
    times = "once" if usage.retrieved == 1 else f"{usage.retrieved:,} times"
    last = usage.last_accessed_at
    return times if last is None else f"{times}, {_age(last, now)} ago"


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory as the list shows it; `team` is empty where the login sees one alone."""

    memory: Memory
    url: str
    text: SafeString
    whose: str
    type: str
    status: str
    age: str
    use: str
    team: str


class MemoryChangeList(OneCountChangeList):
    """Django's list with its rows as `lines`; `is_ranked` if they are ordered by a search.

    `headers` are those of its columns, in the theme's shape; `sorted_columns` counts the columns
    that it is sorted by.
    """

    lines: list[MemoryLine]
    headers: list[Mapping[str, Any]]
    sorted_columns = 0
    is_ranked = False

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.is_ranked = any(isinstance(key, Func) for key in self.queryset.query.order_by)
        now, with_team = timezone.now(), sees_several_teams(request)
        words = words_of(self.query)
        self.headers = list(result_headers(self))
        self.sorted_columns = sum(header.get("sorted", False) for header in self.headers)
        self.lines = [
            MemoryLine(
                row,
                page_of("memory_memory", row.pk),
                marked_words(excerpt(row.content, _TEXT_CHARS), words),
                owners_of(row),
                row.memory_type.replace("_", " "),
                status_words(row.status),
                _age(row.created_at, now),
                _use(usage_of(row), now),
                str(row.team) if with_team else "",
            )
            for row in self.result_list
        ]


class TagFilter(TextFilter):
    """Memories with one whole tag."""

    title = parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        tag = (self.value() or "").replace("\x00", "").strip()
        return queryset.filter(tag_rows__name=tag) if tag else queryset


class CategoryFilter(DropdownFilter):
    """Memories of a category of the login's teams, or of none."""

    title = parameter_name = "category"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        names = Category.objects.order_by("name").values_list("name", flat=True).distinct()
        return [("-", "None"), *((name, name) for name in names[:_MOST_CATEGORIES])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        chosen = self.value()
        return queryset.filter(category="" if chosen == "-" else chosen) if chosen else queryset


_told = Q(tag_rows__name=TEAM_FACT, status__in=LIVE)
TeamFactFilter = condition_filter(
    "team fact",
    {
        "waiting": ("Waiting for approval", _told & Q(end_user__isnull=False)),
        "given": ("Shared with the team", _told & Q(end_user__isnull=True)),
    },
    parameter="team_fact",
)


StandingFilter = condition_filter(
    "shown to agents",
    {
        "live": ("Yes: active or disputed", Q(status__in=LIVE)),
        "gone": ("No", ~Q(status__in=LIVE)),
    },
    parameter="standing",
)


AgeFilter = condition_filter(
    "age",
    {
        "day": ("Up to 1 day", since("created_at", days=1)),
        "week": ("Up to 7 days", since("created_at", days=7)),
        "month": ("Up to 30 days", since("created_at", days=30)),
        "old": ("Over 30 days", lambda: ~since("created_at", days=30)()),
        "older": ("Over 180 days", lambda: ~since("created_at", days=180)()),
    },
)


def _used(*conditions: Q, **figures: object) -> Q:
    # Not by a join: of a join that may find nothing the planner knows too little, and makes all of
    # it for one page.
    of_it = MemoryUsage.objects.filter(team_id=OuterRef("team_id"), memory_id=OuterRef("pk"))
    return Q(Exists(of_it.filter(*conditions, **figures)))


UseFilter = condition_filter(
    "use",
    {
        "never": ("Never", lambda: ~_used(retrieved__gt=0)),
        "often": (f"{_OFTEN} times or more", lambda: _used(retrieved__gte=_OFTEN)),
        "week": ("In the last 7 days", lambda: _used(since("last_accessed_at", days=7)())),
        "unused": (
            "Not in the last 30 days",
            lambda: _used(~since("last_accessed_at", days=30)(), retrieved__gt=0),
        ),
    },
)


# What says less than this share of what the best one says, or than the least, is noise.
_OF_THE_BEST = 0.65
_LEAST_RELEVANCE = 0.2


class TooManyTeamsError(Exception):
    """The login sees more teams than are searched at once."""


def ranked_memories(
    request: HttpRequest, text: str, *, most: int, rows: MemoryQuerySet | None = None
) -> list[Memory]:
    """Returns what retrieval finds for the text, best first, up to where relevance ends.

    At most so many of each team, and with `rows` only these. Nothing is counted as a use. Raises
    TooManyTeamsError.
    """
    team_ids = _teams(request)
    if len(team_ids) > _MOST_TEAMS:
        raise TooManyTeamsError
    found: list[ScoredMemory] = []
    # It embeds the text and reads in transactions of its own.
    with outside_staff_scope(request):
        for team_id in team_ids:
            read = Read(
                viewer=Viewer(team_id=team_id, actor=f"staff:{request.user.get_username()}"),
                question=Question(text),
                tools=default_tools(),
                now=timezone.now(),
                limit=most,
                depth=Depth(include_cold=True, include_raw=False, include_private=True),
                rows=rows,
                is_counted=False,
            )
            found += search(read).memories
    best = max((each.signals.semantic for each in found), default=0)
    least = max(_LEAST_RELEVANCE, _OF_THE_BEST * best)
    ranked = sorted(found, key=lambda each: -each.score)
    return [each.memory for each in ranked if each.signals.semantic >= least]


def found_by(request: HttpRequest, rows: MemoryQuerySet, text: str) -> QuerySet[Memory] | None:
    """Returns the rows that retrieval finds for the text, best first; None where words must do.

    That is where the login sees too many teams to ask each, where deleted memories are asked for,
    which no retrieval finds, and where the retrieval finds nothing. An order in the address goes
    before the rank.
    """
    if request.GET.get("status__exact") == Status.SOFT_DELETED:
        return None
    is_narrowed = any(value for name, value in request.GET.items() if name not in _NOT_FILTERS)
    only = rows.order_by() if is_narrowed else None
    try:
        ranked = ranked_memories(request, text, most=_MOST_FOUND, rows=only)
    except TooManyTeamsError:
        messages.info(request, "These results match by words. Filter by team to search by meaning.")
        return None
    if not ranked:
        return None
    ids = [memory.pk for memory in ranked]
    found = rows.filter(pk__in=ids)
    if request.GET.get("o"):
        return found
    ranks = Value(ids, output_field=ArrayField(UUIDField()))
    place = Func(ranks, F("pk"), function="array_position", output_field=IntegerField())
    return found.order_by(place)


def words_of(text: str) -> list[str]:
    """Returns the words of a search to mark: the longer ones, or all where there are none."""
    words = _WORD.findall(text)
    return [word for word in words if len(word) >= _LONG] or words


def marked_words(text: str, words: Sequence[str]) -> SafeString:
    """Returns the text with the words marked that begin with one of these, in any case."""
    if not words:
        return format_html("{}", text)
    begins = "|".join(map(re.escape, words))
    pieces = re.split(rf"(\b(?:{begins})\w*)", text, flags=re.IGNORECASE)
    parts = (
        (format_html("<mark>{}</mark>", piece) if place % 2 else piece,)
        for place, piece in enumerate(pieces)
    )
    return format_html_join("", "{}", parts)


def _teams(request: HttpRequest) -> Sequence[UUID]:
    """The chosen team, or those that the login sees and one more than may be asked."""
    teams = Team.objects.order_by("pk")
    if chosen := id_in(request.GET.get("team__id__exact", "")):
        teams = teams.filter(pk=chosen)
    return list(teams.values_list("pk", flat=True)[: _MOST_TEAMS + 1])
