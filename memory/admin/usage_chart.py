"""How often a memory was retrieved on each of the last days, as bars to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

DAYS = 30
HEIGHT = 60
_STEP = 12
_WIDTH = 9


@dataclass(frozen=True, slots=True)
class Bar:
    """A day: how often, and the place and size of its bar."""

    day: date
    count: int
    x: int
    y: int
    height: int
    width: int = _WIDTH


@dataclass(frozen=True, slots=True)
class Chart:
    """The bars of the days up to the last one, and what they come to."""

    bars: list[Bar]
    total: int
    most: int
    width: int = DAYS * _STEP
    height: int = HEIGHT

    @property
    def first(self) -> date:
        """The first day."""
        return self.bars[0].day

    @property
    def last(self) -> date:
        """The last day."""
        return self.bars[-1].day


def chart_of(daily: Mapping[str, int], *, today: date) -> Chart | None:
    """The bars of the last 30 days, in UTC as they are counted; None where none has a count."""
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    counts = [int(daily.get(day.isoformat(), 0)) for day in days]
    most = max(counts)
    if not most:
        return None
    bars = []
    for number, (day, count) in enumerate(zip(days, counts, strict=True)):
        height = max(round(count / most * HEIGHT), 2) if count else 0
        bars.append(Bar(day, count, number * _STEP, HEIGHT - height, height))
    return Chart(bars, sum(counts), most)
