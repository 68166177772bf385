"""One memory's life: every change of it and of its other versions, on a line of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from audit.admin.history import LogLine, lines_of
from audit.admin.log import EVENT_COLOURS
from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.time_travel.timeline import HEIGHT, WIDTH, Timeline
from memory.satellites.time_travel.travel_form import PAGE_NAME, local_text
from memory.selectors.history.memory_history import versions_of
from teams.admin_permissions import is_member

_TEMPLATE = "admin/memory/time_travel/life.html"
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class LifeStep:
    """One change of one version, where it stands on the line, and the page of the moment after."""

    line: LogLine
    memory: Memory
    x: float
    url: str

    @property
    def colour(self) -> str:
        """What its mark is coloured by."""
        return EVENT_COLOURS.get(self.line.entry.event, "default")


def _memory_life(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """The page of one memory's life; 404 for one of another team."""
    if not is_member(request):
        raise PermissionDenied
    memory = Memory.objects.filter(pk=memory_id).select_related("team").first()
    if memory is None:
        raise Http404
    now = timezone.now()
    viewer = Viewer(team_id=memory.team_id, actor=f"staff:{request.user.get_username()}")
    versions = versions_of(viewer=viewer, memory_id=memory.pk)
    rows = MemoryLog.objects.filter(team_id=memory.team_id, memory_id__in=[v.pk for v in versions])
    found = list(rows.order_by("-seq")[: _MOST_STEPS + 1])
    began_at = min((row.at for row in found), default=now)
    line = Timeline(began_at, now, now, [])
    context: dict[str, Any] = {  # Any: a template's context
        **admin.site.each_context(request),
        "title": "Time travel: one memory",
        "memory": memory,
        "line": line,
        "steps": _steps(found[:_MOST_STEPS], versions, line, team=memory.team.slug),
        "has_more": len(found) > _MOST_STEPS,
        "width": WIDTH,
        "height": HEIGHT,
        "log_url": f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    }
    return TemplateResponse(request, _TEMPLATE, context)


# Only for who is signed in, as every page of the admin.
memory_life = admin.site.admin_view(_memory_life)


def _steps(
    rows: Sequence[MemoryLog], versions: Sequence[Memory], line: Timeline, *, team: str
) -> list[LifeStep]:
    """The rows in words, the newest first; each is compared with what its own version was."""
    told = []
    for version in versions:
        of_it = [row for row in rows if row.memory_id == version.pk]
        told += [(each, version) for each in lines_of(of_it, most=len(of_it))]
    told.sort(key=lambda each: each[0].entry.seq, reverse=True)
    return [
        LifeStep(
            line=each,
            memory=version,
            x=line.place(each.entry.at),
            url=_moment_after(each.entry.at, team=team, now=line.ends_at),
        )
        for each, version in told
    ]


def _moment_after(at: datetime, *, team: str, now: datetime) -> str:
    # Moments of the page are whole seconds, and a change is committed a little after it is made.
    after = min(at + timedelta(seconds=2), now)
    return f"{reverse(PAGE_NAME)}?{urlencode({'team': team, 'at': local_text(after)})}"
