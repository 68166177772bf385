"""The feed of the admin's home: what people and agents did that a colleague would want to know.

What is alike and was done together is one line: "rob pinned 12 memories". Links between memories
and re-indexing are not in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain
from uuid import UUID

from .happenings import SOURCES, Happening

SHOWN = 25


def feed_of(*, team_ids: Sequence[UUID]) -> list[Happening]:
    """The newest lines of these teams, newest first; call it in a scope that shows them."""
    found = chain.from_iterable(source(team_ids) for source in SOURCES)
    lines: dict[Hashable, Happening] = {}
    for each in sorted(found, key=lambda each: each.at, reverse=True):
        first = lines.get(each.key)
        lines[each.key] = each if first is None else _together(first, each)
    return list(lines.values())[:SHOWN]


def _together(first: Happening, other: Happening) -> Happening:
    """Both as one line, with their reason where they share it."""
    reason = first.reason if first.reason == other.reason else ""
    return replace(first, count=first.count + other.count, reason=reason)
