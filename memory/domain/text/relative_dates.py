"""Times counted from the anchor: "tomorrow", "next Friday", "two weeks ago", "every Monday"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memory.domain.text.calendar import (
    DAY,
    HOURS,
    UNITS,
    WEEK,
    Clock,
    DateTokens,
    Grain,
    NamedTime,
    Recurrence,
    Span,
    days_from,
)
from memory.domain.text.calendar import months_from as months_span
from memory.domain.text.named_dates import (
    NEAR_DAYS,
    count_of,
    same_day,
    singular,
    time_at,
    units_ago,
)
from memory.domain.text.words import ORDINALS

from .calendar import MONTHS, PARTS_OF_DAY, SEASONS, SHORT_WEEKDAYS, WEEKDAYS
from .named_dates import holiday_name, weekday_number

WHICH: Final = {
    "last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "following": 1,
}  # fmt: skip
_NAMED_UNITS = {"week", "weekend", "month", "quarter", "year", "decade"}
_EVERY: dict[str, Recurrence] = {
    "day": "daily", "week": "weekly", "month": "monthly", "year": "yearly",
}  # fmt: skip
_GRAINS = {"weekend": Grain.WEEKEND} | {unit: grain for unit, (grain, _) in UNITS.items()}
# How long ago "the other day" may be, in days, at least and at most.
_OTHER = {"day": (1, 14), "night": (1, 14), "week": (4, 28), "month": (20, 90)}
# "Next Friday" said up to so many days before a Friday is the one after it.
_TOO_NEAR = 3


def read_near_day(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Today", "tonight", "yesterday", "tomorrow", and "today two weeks ago"."""
    word = tokens.word(at)
    day = clock.today + NEAR_DAYS[word] * DAY
    shifted = units_ago(tokens, at + 1 + (tokens.word(at + 1) == ","))
    if shifted:
        unit, count, end = shifted
        return time_at(at, end, days_from(same_day(day, unit, count)), Grain.DAY)
    if word == "today" and tokens.word(at + 1) == "last" and tokens.word(at + 2) in UNITS:
        return time_at(at, at + 3, days_from(same_day(day, tokens.word(at + 2), -1)), Grain.DAY)
    if word == "tonight":
        first, last = PARTS_OF_DAY["night"]
        span = (day + timedelta(hours=first - 2), day + timedelta(hours=last))
        return time_at(at, at + 1, span, Grain.HOUR)
    return time_at(at, at + 1, days_from(day), Grain.DAY)


def read_which(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Last week", "next Friday", "this summer", "the past three months", "last night"."""
    which = tokens.word(at)
    if which == "this" and tokens.word(at + 1) in {"past", "coming"}:
        which, at = tokens.word(at + 1), at + 1
    shift, word = WHICH[which], tokens.word(at + 1)
    if word in PARTS_OF_DAY:
        return _part_of(word, at, clock, shift)
    if shift == 0 and word in {"time", "day"} and tokens.word(at + 2) == "last":
        return _same_time(tokens, at, clock)
    if (which, word) == ("past", "year") or (which == "past" and word in {"month", "week"}):
        return _recent(at, at + 2, 1, word, clock)
    if word in _NAMED_UNITS:
        return _week_and_day(tokens, at, clock, shift) or time_at(
            at, at + 2, clock.unit(word, shift), _GRAINS[word]
        )
    weekday = weekday_number(tokens, at + 1)
    if weekday is not None:
        return time_at(at, at + 2, _weekday(clock, weekday, which), Grain.DAY)
    named = _named(tokens, at + 1, clock, shift)
    if named:
        return named
    return _last_units(tokens, at, clock, shift)


def _last_units(tokens: DateTokens, at: int, clock: Clock, shift: int) -> NamedTime | None:
    counted = count_of(tokens, at + 1)
    if counted is None and tokens.word(at + 1) in HOURS:
        counted = (1.0, at + 1)
    if counted is None:
        return None
    unit = singular(tokens.word(counted[1]))
    if shift < 0 and unit in {*UNITS, *HOURS}:
        return _recent(at, counted[1] + 1, counted[0], unit, clock)
    if shift > 0 and unit in UNITS:
        last = clock.today + (int(counted[0] * UNITS[unit][1]) + 1) * DAY
        return time_at(at, counted[1] + 1, (clock.now, last), UNITS[unit][0])
    return None


def _recent(at: int, to: int, count: float, unit: str, clock: Clock) -> NamedTime:
    """ "The last three months", "the past 24 hours": until now."""
    if unit in HOURS:
        back = timedelta(hours=count * HOURS[unit])
        return time_at(at, to, (clock.now - back, clock.now), Grain.HOUR)
    grain, days = UNITS[unit]
    return time_at(at, to, (clock.today - int(count * days) * DAY, clock.now), grain)


def _part_of(part: str, at: int, clock: Clock, shift: int) -> NamedTime | None:
    if shift > 0 or (shift < 0 and part != "night"):
        return None
    return time_at(at, at + 2, part_of_day(clock.today + shift * DAY, part), Grain.HOUR)


def part_of_day(day: datetime, part: str) -> Span:
    """The hours of a part of a day."""
    first, last = PARTS_OF_DAY[part]
    return day + timedelta(hours=first), day + timedelta(hours=last)


def _same_time(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "This time last year", "this day last week"."""
    unit = tokens.word(at + 3)
    if unit not in UNITS:
        return None
    day = same_day(clock.today, unit, -1)
    half = {"year": 14, "month": 3}.get(unit, 0) if tokens.word(at + 1) == "time" else 0
    return replace(
        time_at(at, at + 4, (day - half * DAY, day + (half + 1) * DAY), Grain.DAY),
        rough=half > 0,
    )


def _week_and_day(tokens: DateTokens, at: int, clock: Clock, shift: int) -> NamedTime | None:
    """ "Next week on Friday", "last week's Monday"."""
    if tokens.word(at + 1) != "week":
        return None
    place = at + 2 + (tokens.word(at + 2) == ",")
    place += tokens.word(place) in {"on", "from", "starting", "beginning"}
    weekday = weekday_number(tokens, place)
    if weekday is None:
        return None
    return time_at(
        at, place + 1, days_from(clock.unit("week", shift)[0] + weekday * DAY), Grain.DAY
    )


def _weekday(clock: Clock, weekday: int, which: str) -> Span:
    if WHICH[which] < 0:
        return clock.weekday(weekday, "past")
    first, last = clock.weekday(weekday, "future")
    is_near = (first - clock.today).days < _TOO_NEAR and weekday > clock.today.weekday()
    later = WEEK if which == "next" and is_near else timedelta(0)
    return first + later, last + later


def _named(tokens: DateTokens, at: int, clock: Clock, shift: int) -> NamedTime | None:
    """ "Last March", "next summer", "this Christmas"."""
    word = tokens.word(at)
    name = holiday_name(tokens, at)
    if not name and word not in MONTHS and word not in SEASONS:
        return None
    if shift == 0 and word in MONTHS and not tokens.is_capital(at):
        return None
    if name:
        lean = clock.lean if shift == 0 else ("past" if shift < 0 else "future")
        return time_at(at - 1, at + len(name.split()), clock.holiday(name, lean=lean), Grain.DAY)
    month, months = (MONTHS[word], 1) if word in MONTHS else (SEASONS[word], 3)
    grain = Grain.MONTH if months == 1 else Grain.SEASON
    if shift < 0:
        span = clock.last_over(month, months)
    elif shift == 0:
        span = months_span(clock.now.year, month, months)
    else:
        begun = clock.in_year(month, None, months, lean="past")[0]
        span = months_span(begun.year + 1, month, months)
    return time_at(at - 1, at + 1, span, grain)


def read_weekday(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Friday", "Friday next week", "Friday week", "Fridays"."""
    word = tokens.word(at)
    if word not in WEEKDAYS and word not in SHORT_WEEKDAYS:
        return every(tokens, at, at, clock) if singular(word) in WEEKDAYS else None
    weekday = weekday_number(tokens, at)
    if weekday is None:
        return None
    place = at + 1 + (tokens.word(at + 1) == "of")
    which, unit = tokens.word(place), tokens.word(place + 1)
    if which in WHICH and unit == "week":
        span = days_from(clock.unit("week", WHICH[which])[0] + weekday * DAY)
        return time_at(at, place + 2, span, Grain.DAY, weekday=weekday)
    if word in WEEKDAYS and which in {"week", "fortnight"} and place == at + 1:
        later = WEEK * (2 if which == "fortnight" else 1)
        first, last = clock.weekday(weekday, "future")
        return time_at(at, at + 2, (first + later, last + later), Grain.DAY, weekday=weekday)
    if tokens.word(at + 1) in PARTS_OF_DAY or singular(tokens.word(at + 1)) not in PARTS_OF_DAY:
        return time_at(at, at + 1, clock.weekday(weekday), Grain.DAY, weekday=weekday)
    # "On Friday afternoons".
    found = time_at(at, at + 2, clock.weekday(weekday), Grain.DAY, weekday=weekday)
    return replace(found, recurring="weekly")


def read_every(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Every Monday", "each second week", "every summer"."""
    place = at + 1
    if tokens.word(place) in {"other", "single"} or tokens.word(place) in ORDINALS:
        place += 1
    return every(tokens, at, place, clock)


def every(tokens: DateTokens, at: int, place: int, clock: Clock) -> NamedTime | None:
    """What comes round on a weekday, in a month or season, or with a unit of the calendar."""
    word = tokens.word(place)
    weekday = WEEKDAYS.get(singular(word))
    if weekday is not None:
        found = time_at(at, place + 1, clock.weekday(weekday), Grain.DAY, weekday=weekday)
        return replace(found, recurring="weekly")
    if word in _EVERY:
        found = time_at(at, place + 1, clock.unit(word, 0), _GRAINS[word])
        return replace(found, recurring=_EVERY[word])
    named = _named(tokens, place, clock, 1) if place > at else None
    return named and replace(named, at=at, recurring="yearly")


def read_around_now(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "The other day", "the weekend", "the week before last", "the week after next"."""
    if tokens.word(at) == "other" and tokens.word(at - 1) == "the":
        least, most = _OTHER.get(tokens.word(at + 1), (0, 0))
        span = clock.today - most * DAY, clock.today - (least - 1) * DAY
        return replace(time_at(at - 1, at + 2, span, Grain.DAY), rough=True) if most else None
    unit = tokens.word(at)
    start = at - (tokens.word(at - 1) == "the")
    if unit not in _GRAINS and unit not in WEEKDAYS:
        return None
    for words, shift in ((("before", "last"), -2), (("after", "next"), 2)):
        if not tokens.has(at + 1, *words):
            continue
        if unit in WEEKDAYS:
            first, last = clock.weekday(WEEKDAYS[unit], "past" if shift < 0 else "future")
            step = WEEK if shift > 0 else -WEEK
            return time_at(start, at + 3, (first + step, last + step), Grain.DAY)
        return time_at(start, at + 3, clock.unit(unit, shift), _GRAINS[unit])
    if unit == "weekend" and start < at and tokens.word(at + 1) not in {"of", "before", "after"}:
        weekends = (clock.unit("weekend", shift) for shift in (-1, 0, 1))
        return time_at(start, at + 1, clock.pick(weekends), Grain.WEEKEND)
    return None
