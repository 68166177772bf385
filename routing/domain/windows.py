"""Days and months as a time zone has them, daylight saving and skipped midnights included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

# Longer than any day or month of any zone, also where a zone skipped or repeated a day.
_BEYOND_A_DAY = timedelta(days=3)
_BEYOND_A_MONTH = timedelta(days=35)


@dataclass(frozen=True, slots=True)
class Window:
    """A day or month of a zone: its first date, and the instant (UTC) at which the next begins."""

    begins_on: date
    resets_at: datetime


def day_window(*, now: datetime, zone: tzinfo) -> Window:
    """The day of `zone` that holds `now`, an aware time."""
    today = now.astimezone(zone).date()
    return Window(
        today, _first_after(now, lambda at: at.astimezone(zone).date() > today, _BEYOND_A_DAY)
    )


def month_window(*, now: datetime, zone: tzinfo) -> Window:
    """The month of `zone` that holds `now`, an aware time."""
    first = now.astimezone(zone).date().replace(day=1)
    return Window(
        first,
        _first_after(
            now, lambda at: at.astimezone(zone).date().replace(day=1) > first, _BEYOND_A_MONTH
        ),
    )


def _first_after(now: datetime, is_next: Callable[[datetime], bool], beyond: timedelta) -> datetime:
    """The second after `now` at which the next window begins; zones change on whole seconds.

    Looked for by halving, because a midnight need not exist, and its offset need not be today's.
    """
    start = now.astimezone(UTC).replace(microsecond=0)
    before, after = 0, int(beyond.total_seconds())
    while after - before > 1:
        middle = (before + after) // 2
        if is_next(start + timedelta(seconds=middle)):
            after = middle
        else:
            before = middle
    return start + timedelta(seconds=after)
