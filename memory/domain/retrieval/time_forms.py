"""The forms in which questions name a time, in the order in which they are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from . import time_patterns as forms
from .counted_times import CountedTimes, number
from .named_times import NamedTimes
from .periods import Period

Meaning = Callable[[re.Match[str]], Period | tuple[Period, ...] | None]


def meanings(
    named: NamedTimes, counted: CountedTimes
) -> tuple[tuple[re.Pattern[str], Meaning], ...]:
    """The forms with what they mean, each to be read on what those before it have left.

    A meaning is None, or raises ValueError or OverflowError, where the words name no time.
    """
    return (
        (forms.ISO, named.iso),
        (forms.NUMERIC, named.numeric),
        (forms.MONTH_OF_YEAR, named.month_of_year),
        (forms.DAY_SLASH_MONTH, named.numeric),
        (forms.QUARTER, named.quarter),
        (forms.HALF, named.half),
        (forms.ISO_WEEK, named.week),
        (forms.TURN_OF_YEAR, named.turn_of_year),
        (forms.FEAST, named.feast),
        (forms.DAY_MONTH, named.day),
        (forms.MONTH_DAY, named.day),
        (forms.DAY_OF_MONTH, named.day_of_month),
        (forms.MONTH_SPAN, named.months),
        (forms.LAST_MONTH_NAME, named.last_month_name),
        (forms.MONTH_ONLY, named.month),
        (forms.SEASONS_AGO, lambda match: named.seasons_ago(match, number(match["count"]))),
        (forms.SEASON, named.season),
        (forms.DECADE, named.decade),
        (forms.SHORT_YEAR, named.short_year),
        (forms.WEEKDAYS_AGO, counted.weekdays_ago),
        (forms.BEFORE_LAST, counted.before_last),
        (forms.MOMENTS_AGO, counted.moments_ago),
        (forms.DAY_AGO, lambda match: counted.very_day(match, -1)),
        (forms.DAY_LAST, lambda match: counted.very_day(match, -1)),
        (forms.DAY_AHEAD, lambda match: counted.very_day(match, 1)),
        (forms.AGO, counted.ago),
        (forms.AHEAD, counted.ahead),
        (forms.LAST_HOURS, counted.last_hours),
        (forms.PAST, counted.past),
        (forms.SAME_TIME, counted.same_time),
        (forms.OTHER_DAY, counted.other),
        (forms.WEEKDAY_OF_WEEK, counted.weekday_of_week),
        (forms.PART_OF_THIS, counted.part_of_this),
        (forms.THE_WEEKEND, counted.weekend),
        (forms.RELATIVE, counted.relative),
        (forms.NEXT_WEEKDAY, counted.next_weekday),
        (forms.LAST_WEEKDAY, counted.weekday),
        (forms.BARE_WEEKDAY, counted.weekday),
        (forms.NIGHTS, counted.night),
        (forms.YEAR_ONLY, named.year),
    )


class Forms:
    """What each form of a time means, counted from `now`, which is aware UTC."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        named = NamedTimes(now)
        self.latest, self.nearest = named.latest, named.nearest
        self.all = meanings(named, CountedTimes(now))
