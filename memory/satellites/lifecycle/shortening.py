"""Shortens what episodes tell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Q

from memory.domain.forms import Form
from memory.domain.levels import ORDER, WHOLE_FROM, Level, Levels
from memory.domain.types import MemoryType
from memory.models import MemoryLevels
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.pairs import PAGE, changed_since, in_scope
from memory.satellites.lifecycle.runs import ACTOR, Batch
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Scope, Step
from memory.understanding.tools import Tools
from teams.tenancy import team_scope

_EPISODES = Q(memory_type=MemoryType.EPISODIC.value) | Q(form=Form.EPISODE.value)


def ages(scope: Scope) -> list[int]:
    """After how many days episodes are summarised and compressed."""
    return [scope.settings.summarise_after_days, scope.settings.compress_after_days]


def old_episodes(*, scope: Scope, after: UUID) -> Sequence[MemoryLevels]:
    """The next episodes that may have come of age, with their memories; call it in scope.

    Neither pinned ones nor important ones nor identity, nor those whose shorter versions are not
    written. Of a team whose last run had the same ages only those that came of age since, or
    changed; of another one all.
    """
    rows = in_scope(scope=scope).filter(
        _EPISODES, importance__lt=WHOLE_FROM, is_pinned=False, id__gt=after
    )
    rows = rows.exclude(memory_type=MemoryType.IDENTITY.value)
    rows = rows.filter(created_at__lte=scope.now - timedelta(days=min(ages(scope))))
    if scope.since is not None and scope.resume.get(Step.COMPRESS.value) == ages(scope):
        due = Q(id__in=changed_since(scope=scope, after=after))
        for days in ages(scope):
            age = timedelta(days=days)
            due |= Q(created_at__gt=scope.since - age, created_at__lte=scope.now - age)
        rows = rows.filter(due)
    levels = MemoryLevels.objects.filter(team_id=scope.team_id, memory__in=rows)
    return list(levels.exclude(writer="").select_related("memory").order_by("memory_id")[:PAGE])


_FIRST = UUID(int=0)


def plan(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Let prompts tell episodes by their summary, and later by their compressed text."""
    del tools
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        rows = old_episodes(scope=scope, after=UUID(cursor) if cursor else _FIRST)
    planned = [each for row in rows if (each := _planned(scope, row)) is not None]
    if len(rows) == PAGE:
        return Page(tuple(planned), cursor=str(rows[-1].memory_id), looked_at=len(rows))
    return Page(tuple(planned), resume=ages(scope), looked_at=len(rows))


def _planned(scope: Scope, row: MemoryLevels) -> Planned | None:
    memory, told = row.memory, Level(row.told_at_most)
    age = scope.now - memory.created_at
    summarised, compressed = (timedelta(days=days) for days in ages(scope))
    level = Level.CONTENT
    if age >= compressed:
        level = Level.COMPRESSED
    elif age >= summarised:
        level = Level.SUMMARY
    levels = Levels(row.summary, row.compressed, row.index_term)
    is_shorter = levels.at(level, memory.content) != levels.at(told, memory.content)
    if ORDER.index(level) <= ORDER.index(told) or not is_shorter:
        return None
    return Planned(
        Kind.SHORTEN,
        memory.pk,
        f"an episode of {age.days} days ago",
        before={
            "told_at_most": told.value,
            "importance": memory.importance,
            "is_pinned": memory.is_pinned,
        },
        after={"told_at_most": level.value},
    )


class Shorten:
    """Changes how much of a memory prompts tell at most."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        return self._told(change, batch, change.before, change.after)

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Let prompts tell as much as before."""
        return self._told(change, batch, change.after, change.before)

    @staticmethod
    def _told(change: ConsolidationChange, batch: Batch, before: Json, after: Json) -> str:
        rows = MemoryLevels.objects.filter(team_id=batch.team_id, memory_id=change.memory_id)
        same = rows.filter(told_at_most=before["told_at_most"])
        if same.update(told_at_most=after["told_at_most"]):
            return ""
        return "is told at another level by now"
