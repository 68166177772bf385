"""The search box of the list: the retrieval that agents get, asked as the login may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, IntegerField, QuerySet, UUIDField, Value
from django.http import HttpRequest

from memory.domain.audience import Viewer
from memory.domain.types import Status
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.ranking import Question
from memory.reading.retrieval import Read, search
from memory.reading.search import Depth
from memory.understanding.tools import Tools
from teams.middleware import outside_staff_scope
from teams.models import Team

# So many of each team are ranked; who looks for more asks more narrowly.
MOST_FOUND = 100
# A login of more teams chooses one: each is a search of its own.
MOST_TEAMS = 5
# What of an address narrows nothing.
_NOT_FILTERS = {"q", "o", "p", "e", "_changelist_filters"}
_EVERYTHING = Depth(include_cold=True, include_raw=False, include_private=True)


def found_by(
    request: HttpRequest, rows: MemoryQuerySet, *, text: str, tools: Tools, now: datetime
) -> QuerySet[Memory] | None:
    """Of the rows, what says most about the text, best first; None where words must do.

    That is where the login sees too many teams to ask each, where deleted memories are asked for,
    which no retrieval finds, and where the retrieval finds nothing. Without an order of the
    address's own they stand by rank. Nothing is counted as a use.
    """
    if request.GET.get("status__exact") == Status.SOFT_DELETED:
        return None
    team_ids = _teams(request)
    if len(team_ids) > MOST_TEAMS:
        messages.info(request, "Choose a team to search by meaning; these are found by words.")
        return None
    narrowed = rows.order_by() if _is_narrowed(request) else None
    ranked: list[tuple[float, UUID]] = []
    # It embeds the text and reads in transactions of its own.
    with outside_staff_scope(request):
        for team_id in team_ids:
            ranked += _ranked(request, narrowed, team_id=team_id, text=text, tools=tools, now=now)
    if not ranked:
        return None
    ids = [key for _, key in sorted(ranked, key=lambda each: -each[0])]
    found = rows.filter(pk__in=ids)
    return found if request.GET.get("o") else found.order_by(_place_in(ids))


def _ranked(
    request: HttpRequest,
    rows: MemoryQuerySet | None,
    *,
    team_id: UUID,
    text: str,
    tools: Tools,
    now: datetime,
) -> list[tuple[float, UUID]]:
    answer = search(
        Read(
            viewer=Viewer(team_id=team_id, actor=f"staff:{request.user.get_username()}"),
            question=Question(text),
            tools=tools,
            now=now,
            limit=MOST_FOUND,
            depth=_EVERYTHING,
            rows=rows,
            is_counted=False,
        )
    )
    return [(each.score, each.id) for each in answer.memories]


def _teams(request: HttpRequest) -> Sequence[UUID]:
    """The chosen team, or those that the login sees and one more than may be asked."""
    teams = Team.objects.order_by("pk")
    try:
        chosen = UUID(request.GET.get("team__id__exact", ""))
    except ValueError:
        return list(teams.values_list("pk", flat=True)[: MOST_TEAMS + 1])
    return list(teams.filter(pk=chosen).values_list("pk", flat=True))


def _is_narrowed(request: HttpRequest) -> bool:
    return any(value for name, value in request.GET.items() if name not in _NOT_FILTERS)


def _place_in(ids: Sequence[UUID]) -> Func:
    return Func(
        Value(list(ids), output_field=ArrayField(UUIDField())),
        F("pk"),
        function="array_position",
        output_field=IntegerField(),
    )
