"""Rows of the log as lines to read: what happened, who did it, why, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps

from audit.models import MemoryLog
from teams.admin.display import actor_words, excerpt
from teams.models import Agent, EndUser, Project

from .change_words import (
    LINK_WORDS,
    Names,
    change_words,
    event_words,
    memories_named,
    owners_named,
    reason_words,
)

_NAME_CHARS = 60
_OWNERS: dict[str, Any] = {"agent_id": Agent, "end_user_id": EndUser, "project_id": Project}


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log in words; a memory's first row changes nothing."""

    entry: MemoryLog
    title: str
    reason: str
    changes: list[str]

    @property
    def by(self) -> str:
        """Who did it."""
        return actor_words(self.entry.actor)


def lines_of(rows: Sequence[MemoryLog], *, most: int) -> list[LogLine]:
    """The first `most` of one memory's rows, which are the newest first, in words.

    Each is compared with the one after it. One query for the memories they name, and one for each
    kind of owner that changed.
    """
    names = _names(rows)
    earlier = [*rows[1:], None]
    lines = []
    for entry, before in zip(rows[:most], earlier, strict=False):
        changes = change_words(before.state, entry.state, names=names) if before else []
        changes += [
            f"{LINK_WORDS.get(link['type'], link['type'])} {_named(link['to'], names)}"
            for link in _links(entry)
        ]
        title = event_words(entry.event).capitalize()
        lines.append(LogLine(entry, title, reason_words(entry.reason), changes))
    return lines


def line_of(entry: MemoryLog) -> LogLine:
    """One row in words, compared with the memory's row before it."""
    before = MemoryLog.objects.filter(
        team_id=entry.team_id, memory_id=entry.memory_id, seq__lt=entry.seq
    )
    (line,) = lines_of([entry, *before.order_by("-seq")[:1]], most=1)
    return line


def _links(entry: MemoryLog) -> list[dict[str, str]]:
    links: list[dict[str, str]] = (entry.detail or {}).get("links", [])
    return links


def _names(rows: Sequence[MemoryLog]) -> Names:
    if not rows:
        return {}
    team_id = rows[0].team_id
    ids = {link["to"] for row in rows for link in _links(row)}
    for row in rows:
        ids |= memories_named(row.state)
    names: dict[str, str] = {}
    if ids:
        # By name: the memory's own code stands on the log's, not the other way.
        memories = apps.get_model("memory", "Memory")._default_manager
        found = memories.filter(team_id=team_id, pk__in=ids).values_list("pk", "content")
        names = {str(pk): f"“{excerpt(text, _NAME_CHARS)}”" for pk, text in found}
    return names | _owners(rows, team_id)


def _owners(rows: Sequence[MemoryLog], team_id: UUID) -> dict[str, str]:
    named = [owners_named(row.state) for row in rows]
    changed = set().union(*named) - set(named[0]).intersection(*named)
    names: dict[str, str] = {}
    for column, model in _OWNERS.items():
        if ids := [key for kind, key in changed if kind == column]:
            found = model.objects.filter(team_id=team_id, pk__in=ids)
            names |= {str(row.pk): str(row) for row in found}
    return names


def _named(key: str, names: Names) -> str:
    return names.get(key, f"memory {key[-8:]}")
