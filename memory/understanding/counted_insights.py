"""Insights by counting: times of day, matters that come back, preferences that changed.

Each says what was counted and nothing that might follow from it; too little evidence gives none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import pairwise
from uuid import UUID

from memory.domain.episodes import MOST_CHARS, MOST_INSIGHTS, Evidence, Noted, WrittenInsight
from memory.domain.rendering import beginning
from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.words import STOP_WORDS, name_words, split_sentences

_NAME = "counted"
_PARTS = ("at night", "in the morning", "in the afternoon", "in the evening")
_HOURS_A_PART = 6
# A habit shows on so many days, and on so large a share of them and of the messages.
_FEWEST_DAYS, _SHARE = 5, 0.8
# A matter comes back in so many conversations on so many days; one in more than this share of the
# memories is what all talk is about.
_FEWEST_TIMES, _USUAL = 3, 0.6
_NO_NAMES = STOP_WORDS | MONTHS.keys() | WEEKDAYS.keys() | {"user", "i'm", "i've", "i'll", "i'd"}
_EDGES = ".,;:!?\"'“”‘’()[]*"
_TOPIC_CHARS = 200
_MOST_SOURCES = 20
_QUOTED_CHARS = 80


class CountedInsights:
    """The `InsightWriter` that needs no model."""

    name = _NAME

    def write(self, evidence: Evidence) -> list[WrittenInsight]:
        """At most one of each kind, and what changed first."""
        found = [*_changes(evidence), *_returning(evidence), *_hours(evidence)]
        return [each for each in found if len(each.text) <= MOST_CHARS][:MOST_INSIGHTS]


def _changes(evidence: Evidence) -> Iterator[WrittenInsight]:
    chains = [chain for chain in evidence.changes if len(chain) > 1]
    if not chains:
        return
    chain = max(chains, key=lambda each: (len(each), each[-1].said_at))
    times = "once" if len(chain) == 2 else f"{len(chain) - 1} times"
    first, last = (beginning(each.text, longest=_QUOTED_CHARS) for each in (chain[0], chain[-1]))
    yield WrittenInsight(
        f"A preference of {evidence.person} changed {times} {_span(chain)}: first “{first}”,"
        f" now “{last}”",
        _NAME,
        memory_ids=tuple(each.id for each in chain),
        topic=f"insight.change.{chain[-1].subject or chain[0].id}"[:_TOPIC_CHARS],
        is_news=True,
        tags=("preferences",),
    )


def _returning(evidence: Evidence) -> Iterator[WrittenInsight]:
    holding: dict[str, list[Noted]] = defaultdict(list)
    people = set(name_words([evidence.person, *evidence.names]))
    for each in evidence.recent:
        for name in set(_named(each.text)):
            if people.isdisjoint(name_words([name])):
                holding[name].append(each)
    most = _USUAL * len(evidence.recent)
    matters = [
        (len({each.conversation_id for each in rows}), len({_day(each) for each in rows}), name)
        for name, rows in holding.items()
        if len(rows) <= most
    ]
    matters = [each for each in matters if min(each[:2]) >= _FEWEST_TIMES]
    if not matters:
        return
    talks, days, name = max(matters)
    rows = sorted(holding[name], key=lambda each: each.said_at)
    yield WrittenInsight(
        f"{evidence.person} comes back to “{name}”: in {talks} conversations on {days} days"
        f" {_span(rows)}.",
        _NAME,
        memory_ids=tuple(each.id for each in rows[-_MOST_SOURCES:]),
        topic=f"insight.matter.{name.casefold()}"[:_TOPIC_CHARS],
        tags=("topics",),
    )


def _named(text: str) -> Iterator[str]:
    for sentence in split_sentences(text):
        words = sentence.split()
        for before, word in pairwise(words):
            name = word.strip(_EDGES).removesuffix("'s").removesuffix("’s")
            is_name = len(name) > 1 and name[0].isupper() and name.casefold() not in _NO_NAMES
            if is_name and not before.endswith(":"):
                yield name


def _hours(evidence: Evidence) -> Iterator[WrittenInsight]:
    days: dict[int, set[date]] = defaultdict(set)
    sources: dict[int, list[UUID]] = defaultdict(list)
    for at, message_id in evidence.spoke_at:
        part = at.hour // _HOURS_A_PART
        days[part].add(at.date())
        sources[part].append(message_id)
    all_days = {day for each in days.values() for day in each}
    if len(all_days) < _FEWEST_DAYS:
        return
    part = max(days, key=lambda each: (len(days[each]), len(sources[each])))
    share = min(len(days[part]) / len(all_days), len(sources[part]) / len(evidence.spoke_at))
    if share < _SHARE:
        return
    yield WrittenInsight(
        f"{evidence.person} talks mostly {_PARTS[part]}: on {len(days[part])} of"
        f" {len(all_days)} days with messages from {min(all_days)} to {max(all_days)}.",
        _NAME,
        message_ids=tuple(sources[part][:_MOST_SOURCES]),
        topic=f"insight.hours.{part}",
        tags=("times",),
    )


def _span(rows: Sequence[Noted]) -> str:
    days = [_day(each) for each in rows]
    return f"from {min(days)} to {max(days)}"


def _day(each: Noted) -> date:
    said_at: datetime = each.said_at
    return said_at.date()
