"""Reads the times in a question: which it names, and on which side of them it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from .periods import Period
from .time_forms import Forms, number
from .time_patterns import OFFSET, UNIT_DAYS, WEEKDAYS

_SINCE, _AFTER = frozenset({"since"}), frozenset({"after"})
_BEFORE, _UNTIL = frozenset({"before"}), frozenset({"until", "till", "by"})
_DIRECTION = re.compile(r"\b(since|after|before|until|till|by)\s+(?:the\s+)?$", re.IGNORECASE)
_LEAD = re.compile(r"(since|after|before|until|till|by)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
_BETWEEN_LEAD = re.compile(r"from\b", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s+(?:the\s+)?", re.IGNORECASE)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME, _A_DAY, _FORTNIGHT = timedelta(0), timedelta(days=1), timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Time:
    """A period, and where in the question (start and end) its words stand."""

    start: int
    end: int
    period: Period


def find_periods(text: str, *, now: datetime) -> tuple[Period, ...]:
    """The periods a question names, in its order; `now` is aware.

    A month or day without a year means that of any year; "last", "next" and "ago" are counted
    from `now`; "before", "until", "after" and "since" mean the time on that side, "between" what
    lies from the one to the other. What is no date ("February 31") is left out.
    """
    return tuple(time.period for time in find_times(text, now=now))


def find_times(text: str, *, now: datetime) -> tuple[Time, ...]:
    """`find_periods` with the places of their words."""
    forms = Forms(now.astimezone(UTC))
    found = sorted(_read(text, forms), key=lambda time: time.start)
    return tuple(_sided(text, found, forms))


def _read(text: str, forms: Forms) -> Iterator[Time]:
    """Each form on what the forms before it have left."""
    left = text
    for pattern, meaning in forms.all():
        for match in list(pattern.finditer(left)):
            try:
                meant = meaning(match)
            except (ValueError, OverflowError):  # a date that the calendar does not have
                continue
            if meant is None:
                continue
            for period in meant if isinstance(meant, tuple) else (meant,):
                yield Time(match.start(), match.end(), period)
            left = left[: match.start()] + " " * len(match[0]) + left[match.end() :]


def _sided(text: str, found: Sequence[Time], forms: Forms) -> list[Time]:
    """The times with what the words before them make of them."""
    waiting = list(found)
    sided: list[Time] = []
    while waiting:
        time = waiting.pop(0)
        if waiting and _is_range(text, time, waiting[0]):
            last = waiting.pop(0)
            sided.append(Time(time.start, last.end, _from_to(time.period, last.period, forms)))
            continue
        lead = _LEAD.match(text, time.start) or _DIRECTION.search(text[: time.start])
        if lead is None:
            sided.append(time)
            continue
        word, start = lead[1].lower(), min(time.start, lead.start())
        offset = OFFSET.search(text[:start]) if word in _BEFORE | _AFTER else None
        if offset is None:
            sided.append(replace(time, start=start, period=_on_side(word, time.period, forms)))
            continue
        # What stands there ("last weekend") is counted from this time, and not from now.
        while sided and sided[-1].end > offset.start():
            sided.pop()
        sided.append(
            replace(time, start=offset.start(), period=_offset(offset, word, time.period, forms))
        )
    return sided


def _is_range(text: str, first: Time, second: Time) -> bool:
    """ "Between January and April", "from 3 May to 5 June"."""
    opens = _BETWEEN.search(text[: first.start]) or _BETWEEN_LEAD.match(text, first.start)
    joined = _JOINED.match(text, first.end)
    return bool(opens and joined and joined.end() >= second.start)


def _from_to(first: Period, second: Period, forms: Forms) -> Period:
    """From the beginning of the one to the end of the other."""
    end = forms.latest(second).end if second.yearly else second.end
    start = first.start
    if first.yearly:
        length = first.end - first.start
        start = max(
            (each for year in (end.year - 1, end.year) if (each := _in(year, first)) < end),
            default=end - length,
        )
    return Period(min(start, end), end)


def _in(year: int, period: Period) -> datetime:
    """The start of a yearly period in a year; 1 March where that has no such day."""
    try:
        return period.start.replace(year=year)
    except ValueError:
        return datetime(year, 3, 1, tzinfo=UTC)


def _offset(match: re.Match[str], word: str, period: Period, forms: Forms) -> Period:
    """ "The week before 3 May", "two weeks before", "the Sunday before"."""
    meant = forms.latest(period) if period.yearly else period
    sign, edge = (-1, meant.start) if word in _BEFORE else (1, meant.end)
    unit = match["unit"].lower()
    if unit in WEEKDAYS or unit == "weekend":
        wanted = WEEKDAYS.get(unit, 5)
        start = edge - _A_DAY if sign < 0 else edge
        while start.weekday() != wanted:
            start += sign * _A_DAY
        return Period(start, start + _A_DAY * (2 if unit == "weekend" else 1))
    width = timedelta(days=UNIT_DAYS[unit])
    if match["count"] is None:
        return Period(edge - width, edge) if sign < 0 else Period(edge, edge + width)
    middle = edge + sign * number(match["count"]) * width - (_A_DAY if sign > 0 else _NO_TIME)
    half = (width - _A_DAY) // 2
    return Period(middle - half, middle + half + _A_DAY)


def _on_side(word: str, period: Period, forms: Forms) -> Period:
    """The time before, until, after or since a period.

    Who asks for what was before a day means the days before it, of a year the years.
    """
    meant = forms.latest(period) if period.yearly else period
    around = max(_FORTNIGHT, 12 * (meant.end - meant.start))
    if word in _BEFORE:
        return Period(max(_LONG_AGO, meant.start - around), meant.start)
    if word in _UNTIL:
        return Period(min(_LONG_AGO, meant.start), meant.end)
    if word in _AFTER:
        return Period(meant.end, meant.end + around)
    return Period(meant.start, max(forms.now, meant.start))
