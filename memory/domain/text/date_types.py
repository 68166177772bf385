"""What the date reader finds: times with their place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Literal

Lean = Literal["past", "future", "nearest"]
"""Which occurrence is meant when words name several: "on Friday", "in May"."""

Side = Literal["", "since", "until", "before", "after"]
"""On which side of a time something lies; "since" and "until" include the time itself."""

Recurrence = Literal["", "daily", "weekly", "monthly", "yearly"]


class Grain(IntEnum):
    """How exact the words of a time are, from the finest to the coarsest."""

    MINUTE = 1
    HOUR = 2
    DAY = 3
    WEEKEND = 4
    WEEK = 5
    MONTH = 6
    QUARTER = 7
    SEASON = 8
    YEAR = 9
    DECADE = 10


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a text names.

    - `at`, `to`: its tokens, from `at` up to, not including, `to`.
    - `first`, `last`: the named time, from `first` up to, not including, `last`, in the zone of
      the anchor; of a recurring time the next or last occurrence. While a text is being read they
      are on the local clock, which is marked as UTC.
    - `relative`: whether the anchor was needed to tell the time.
    - `yearless`: a day, month or season whose year was not said; `first` and `last` are then the
      occurrence that the lean chose.
    - `rough`: whether the words mean about that time ("three weeks ago").
    - `recurring`, with `weekday` (Monday is 0) or `day` of the month where that is said.
    - `alternative`: the first day in the other reading of "05/06/2026", which is read day first.
    - `start`, `end`: its characters, from `start` up to, not including, `end`; a preposition
      before it is not part of it, unless it needs one ("in two weeks").
    - `side_start`: where the word of its `side` begins ("since"), else `start`.
    """

    at: int
    to: int
    first: datetime
    last: datetime
    grain: Grain
    relative: bool = False
    yearless: bool = False
    rough: bool = False
    side: Side = ""
    recurring: Recurrence = ""
    weekday: int | None = None
    day: int | None = None
    alternative: datetime | None = None
    start: int = 0
    end: int = 0
    side_start: int = 0
