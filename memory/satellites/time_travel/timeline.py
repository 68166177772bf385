"""The log drawn as a line of time: its busy days as bars, and the changes of one memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from math import ceil, log1p
from uuid import UUID

from audit.selectors import changes_between_bounds

# The drawing's own units; the page stretches it to its width.
HEIGHT = 40
WIDTH = 1000
_MOST_BARS = 60
_GAP = 2
# A younger log is drawn by the hour.
_DAYS_OF_HOURS = 2
_HOUR = timedelta(hours=1)
_LEAST_HEIGHT = 3


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
        """Where the moment stands in the drawing."""
        return self.place(self.at)

    def place(self, moment: datetime) -> float:
        """Where a moment stands in the drawing, from 0 to `WIDTH`."""
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
    """The log of a team whose first change was at `began_at`, in bars of days of the zone.

    Of a log of a day or two, in bars of hours. Call it in the team's scope.
    """
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
