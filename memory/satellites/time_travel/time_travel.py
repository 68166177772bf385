"""Time travel: a team's memory as it was at a moment, what changed since, and its log as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from math import ceil, log1p
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone

from audit.admin.history import change_words
from audit.selectors import Instant, changes_between_bounds, first_change_of, instant_at
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.time_travel.travel_form import (
    PAGE_NAME,
    TravelForm,
    form_of,
    local_text,
    moment_of,
)
from memory.selectors.history.states import Change, Kind, changes_between, state_at
from memory.selectors.memories import MemoryFilters
from teams.admin_permissions import is_member
from teams.errors import InvalidError
from teams.models import Team

# The drawing's own units; the page stretches it to its width.
HEIGHT = 40
WIDTH = 1000
_MOST_BARS = 60
_GAP = 2
# A younger log is drawn by the hour.
_DAYS_OF_HOURS = 2
_HOUR = timedelta(hours=1)
_LEAST_HEIGHT = 3
_TEMPLATE = "admin/memory/time_travel/page.html"
_ROWS = 20
_CHANGES = 50
_KIND_WORDS = {
    Kind.CREATED: "added",
    Kind.APPEARED: "restored",
    Kind.CHANGED: "changed",
    Kind.GONE: "removed",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of the log: its title, how many changes, where it stands, and when it ends."""

    stretch: str
    changes: int
    ends_at: datetime
    x: float
    width: float
    height: float

    @property
    def y(self) -> float:
        """The bar's upper edge."""
        return HEIGHT - self.height

    @property
    def title(self) -> str:
        """Its stretch of time and its changes, in words."""
        return f"{self.stretch}: {self.changes:,} {'change' if self.changes == 1 else 'changes'}"


@dataclass(frozen=True, slots=True)
class Timeline:
    """A team's log from its first change until `ends_at`, and the moment that is looked at."""

    begins_at: datetime
    ends_at: datetime
    at: datetime
    bars: Sequence[Bar]

    @property
    def last_second(self) -> int:
        """The first whole second, since 1970, of which the whole line is."""
        return ceil(self.ends_at.timestamp())

    @property
    def x(self) -> float:
        """The moment's place in the drawing."""
        return self.place(self.at)

    def place(self, moment: datetime) -> float:
        """Returns a moment's place in the drawing, from 0 to `WIDTH`."""
        share = (moment - self.begins_at) / max(self.ends_at - self.begins_at, timedelta(seconds=1))
        return round(WIDTH * min(1.0, max(0.0, share)), 1)

    @property
    def earlier(self) -> datetime | None:
        """The end of the last busy days before the moment, None where there are none."""
        ends = [bar.ends_at for bar in self.bars if bar.changes and bar.ends_at < self.at]
        return ends[-1] if ends else None

    @property
    def later(self) -> datetime | None:
        """The end of the next busy days after the moment, None where there are none."""
        ends = [bar.ends_at for bar in self.bars if bar.changes and bar.ends_at > self.at]
        return ends[0] if ends else None


def timeline_of(
    *, team_id: UUID, began_at: datetime, at: datetime, now: datetime, zone: tzinfo
) -> Timeline:
    """Returns the log of a team as a line, in bars of days or, of a young log, of hours."""
    bounds = _bounds(began_at.astimezone(zone), now.astimezone(zone))
    counts = changes_between_bounds(team_id=team_id, bounds=bounds)
    line = Timeline(bounds[0], now, at, [])
    most = max(counts)
    bars = [
        Bar(
            stretch=_stretch(start, end),
            changes=count,
            ends_at=min(end, now),
            x=line.place(start),
            width=round(max(line.place(end) - line.place(start) - _GAP, 1), 1),
            height=_height(count, most),
        )
        for count, (start, end) in zip(counts, pairwise(bounds), strict=True)
    ]
    return replace(line, bars=bars)


def _bounds(began_at: datetime, now: datetime) -> list[datetime]:
    """The ends of the bars, the beginning of the first one before them, all in one zone."""
    first, days = began_at.date(), (now.date() - began_at.date()).days + 1
    if days > _DAYS_OF_HOURS:
        step = ceil(days / _MOST_BARS)
        dates = [first + timedelta(days=each) for each in range(0, days + step, step)]
        return [datetime.combine(day, time(), began_at.tzinfo) for day in dates]
    # Hours are counted in UTC, where none is left out or comes twice.
    start = began_at.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    hours = int((now - start) / _HOUR) + 1
    return [(start + each * _HOUR).astimezone(began_at.tzinfo) for each in range(hours + 1)]


def _stretch(start: datetime, end: datetime) -> str:
    if end - start <= _HOUR:
        return f"{start:%Y-%m-%d %H:%M} to {end:%H:%M}"
    last = (end - timedelta(seconds=1)).date()
    return f"{start.date()}" if start.date() == last else f"{start.date()} to {last}"


def _height(count: int, most: int) -> float:
    """By the logarithm, so that an import leaves the other days visible."""
    if not count:
        return 0
    return round(max(_LEAST_HEIGHT, HEIGHT * log1p(count) / log1p(most)), 1)


@dataclass(frozen=True, slots=True)
class PastPage:
    """Some memories of the moment with their marks, the latest first."""

    instant: Instant
    memories: list[tuple[Memory, list[str]]]
    next_after: UUID | None


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A memory that is not what it was at the moment."""

    kind: str
    memory: Memory
    differences: list[str]

    @property
    def marks(self) -> list[str]:
        """The owners and the type of the memory, in a few words."""
        return _marks(self.memory)


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Some of what has changed since the moment, the latest memory first."""

    lines: list[ChangeLine]
    next_after: UUID | None

    @property
    def counts(self) -> list[tuple[str, int]]:
        """The number of lines of each kind."""
        kinds = [line.kind for line in self.lines]
        return [(words, kinds.count(words)) for words in _KIND_WORDS.values()]


def _time_travel(request: HttpRequest) -> HttpResponse:
    """The page of a moment; without one it shows the team's memory of a day ago."""
    if not is_member(request):
        raise PermissionDenied
    teams = list(Team.objects.all())
    context: dict[str, Any] = {  # Any: a template's context
        **admin.site.each_context(request),
        "title": "Time travel",
    }
    if teams:
        context |= _of_team(request, teams)
    return TemplateResponse(request, _TEMPLATE, context)


def _of_team(request: HttpRequest, teams: list[Team]) -> dict[str, Any]:
    asked = request.GET.get("team")
    team = next((each for each in teams if each.slug == asked), teams[0])
    # By the clock of the database, which the log goes by.
    now = instant_at(team_id=team.pk, at=None).at
    began_at = first_change_of(team_id=team.pk)
    a_day_ago = now - timedelta(days=1)
    at_first = a_day_ago if began_at is not None and began_at < a_day_ago else now
    form = form_of(request, teams=teams, team=team, now=now, at_first=at_first)
    context: dict[str, Any] = {"form": form, "team": team}
    if not form.is_valid():
        return context
    at = moment_of(form, now=now)
    view = "changes" if request.GET.get("view") == "changes" else ""
    context |= {
        "at": at,
        "zone": timezone.get_current_timezone_name(),
        "view": view,
        "state_url": form.address(),
        "changes_url": form.address(view="changes"),
    }
    if began_at is None:
        return context
    viewer = Viewer(team_id=team.pk, actor=f"staff:{request.user.get_username()}")
    read = _changes if view else _state
    try:
        page = read(viewer, at, now, form.filters, _place(request.GET.get("after", "")))
    except InvalidError as error:
        form.add_error("at", error.message)
        return context
    line = timeline_of(
        team_id=team.pk,
        began_at=began_at,
        at=at,
        now=now,
        zone=timezone.get_current_timezone(),
    )
    following = page.next_after and form.address(view=view, after=page.next_after)
    return context | _drawn(form, line, view) | {"page": page, "next_url": following}


def _drawn(form: TravelForm, line: Timeline, view: str) -> dict[str, Any]:
    def moment(at: datetime | None) -> str:
        return form.address(view=view, at=local_text(at)) if at else ""

    bars: list[tuple[Bar, str]] = [(bar, moment(bar.ends_at)) for bar in line.bars if bar.changes]
    return {
        "line": line,
        "bars": bars,
        "earlier_url": moment(line.earlier),
        "later_url": moment(line.later),
        "width": WIDTH,
        "height": HEIGHT,
    }


def _state(
    viewer: Viewer, at: datetime, now: datetime, filters: MemoryFilters, after: UUID | None
) -> PastPage:
    del now
    state = state_at(viewer=viewer, at=at, filters=filters)
    rows = state.memories.filter(pk__lt=after) if after else state.memories
    found = list(rows.order_by("-id")[: _ROWS + 1])
    page = [(memory, _marks(memory)) for memory in found[:_ROWS]]
    return PastPage(state.instant, page, page[-1][0].pk if len(found) > _ROWS else None)


def _changes(
    viewer: Viewer, at: datetime, now: datetime, filters: MemoryFilters, after: UUID | None
) -> ChangesPage:
    found = changes_between(
        viewer=viewer, at=at, to=now, filters=filters, limit=_CHANGES, after=after, is_patient=False
    )
    lines = [_line(change) for change in found.changes]
    return ChangesPage([line for line in lines if line is not None], found.next_after)


def _line(change: Change) -> ChangeLine | None:
    memory = change.after or change.before
    if memory is None:
        return None
    before, after = change.before, change.after
    told = _differences(before, after) if before and after else []
    return ChangeLine(_KIND_WORDS[change.kind], memory, told)


def _place(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _marks(memory: Memory) -> list[str]:
    """Returns the type, state and owners of a memory, in a few words each."""
    owners = [
        memory.agent and memory.agent.slug,
        memory.end_user and memory.end_user.external_id,
        memory.project and memory.project.slug,
    ]
    return [
        memory.memory_type.replace("_", " "),
        memory.status.replace("_", " "),
        *(["pinned"] if memory.is_pinned else []),
        *(["unconfirmed"] if memory.is_unconfirmed else []),
        f"importance {memory.importance}",
        *(owner for owner in owners if owner),
    ]


def _differences(before: Memory, after: Memory) -> list[str]:
    """Returns the differences between two states of one memory, a short sentence for each."""
    names = _owners(before) | _owners(after)
    found = change_words(_columns(before), _columns(after), names=names)
    if before.is_pinned != after.is_pinned:
        found.append("pinned" if after.is_pinned else "unpinned")
    return found


def _columns(memory: Memory) -> dict[str, object]:
    return {field.attname: getattr(memory, field.attname) for field in memory._meta.concrete_fields}


def _owners(memory: Memory) -> dict[str, str]:
    owners = (memory.agent, memory.end_user, memory.project)
    return {str(owner.pk): str(owner) for owner in owners if owner is not None}


urlpatterns = [path("", admin.site.admin_view(_time_travel), name=PAGE_NAME)]
