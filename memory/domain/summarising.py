"""A running summary made without a model: the most important statements, in their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from .tokens import estimate_tokens
from .types import Asker, MemoryType, Point

# What tells of many messages at once, and is no statement that another one could contradict.
SUMMARY_TAG = "summary"
# Layer 7 of the prompt has about this much room (seed 000, the prompt builder).
SUMMARY_TOKENS = 200
# So many points are kept for the next summary: several times what fits into one.
MAX_POINTS = 64
_NOTHING = "Nothing worth keeping was said."
_HEAD = re.compile(r"\A\[\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\] ")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def retells(*, tags: Collection[str] | None, memory_type: str) -> bool:
    """Whether a memory retells others: a summary, an episode of talk or an insight."""
    return SUMMARY_TAG in (tags or ()) or memory_type == MemoryType.INSIGHT


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary, and the name of the rules or the model that wrote it."""

    text: str
    writer: str


class RulesSummariser:
    """The `Summariser` that needs no model."""

    name = "rules"

    def summarise(
        self,
        *,
        points: Sequence[Point],
        since: datetime,
        until: datetime,
        asker: Asker,
    ) -> WrittenSummary:
        """A summary of at most 200 tokens."""
        return WrittenSummary(summarise(points=points, since=since, until=until), self.name)


def summarise(
    *,
    points: Sequence[Point],
    since: datetime,
    until: datetime,
    max_tokens: int = SUMMARY_TOKENS,
) -> str:
    """A summary of at most `max_tokens` of what matters most, then is latest, in their order."""
    head = period(since, until)
    kept = fitting(points, max_tokens=max_tokens - estimate_tokens(head))
    return " ".join([head, *([point.text for point in kept] or [_NOTHING])])


def fitting(points: Sequence[Point], *, max_tokens: int) -> list[Point]:
    """The points that matter most, then the latest, as far as they fit, in the given order."""
    room = max_tokens
    chosen: set[int] = set()
    for index in _ranked(points):
        price = estimate_tokens(" " + points[index].text)
        if price <= room:
            chosen.add(index)
            room -= price
    return [points[index] for index in sorted(chosen)]


def most_important(*, points: Sequence[Point], limit: int = MAX_POINTS) -> list[Point]:
    """At most `limit` of the points by importance, then the later ones, in the order of time."""
    kept = [points[index] for index in sorted(_ranked(points)[:limit])]
    return sorted(kept, key=lambda point: point.said_at)


def sentences_of(summary: str) -> list[str]:
    """The sentences of a summary, its heading left out."""
    body = _HEAD.sub("", summary, count=1).removeprefix(_NOTHING).strip()
    return [sentence for sentence in _SENTENCE_END.split(body) if sentence]


def _ranked(points: Sequence[Point]) -> list[int]:
    """The places of the points, the most important and then the latest first."""
    return sorted(
        range(len(points)),
        key=lambda index: (points[index].importance, points[index].said_at, index),
        reverse=True,
    )


def period(since: datetime, until: datetime) -> str:
    """The days that a summary covers, which open it."""
    first, last = f"{since:%Y-%m-%d}", f"{until:%Y-%m-%d}"
    return f"[{first}]" if first == last else f"[{first} to {last}]"
