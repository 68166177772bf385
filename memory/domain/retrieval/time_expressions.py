"""Reads the times in a question: which it names, and on which side of them it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from .counted_times import number
from .periods import Period
from .sides import is_doing
from .time_forms import Forms
from .time_parts import is_yearly, one_of, part_of
from .time_patterns import OFFSET, PART, TOGETHER, UNIT_DAYS, WEEKDAYS
from .timely import may_name_time

_SINCE, _AFTER = frozenset({"since"}), frozenset({"after"})
_BEFORE, _UNTIL = frozenset({"before"}), frozenset({"until", "till", "by"})
_DIRECTION = re.compile(
    r"(?<![\w-])(since|after|following|before|ahead\s+of|until|till|by|as\s+of"
    r"|(?:leading\s+)?up\s+to|prior\s+to)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_SAME = {
    "ahead of": "before",
    "as of": "until",
    "following": "after",
    "leading up to": "before",
    "prior to": "before",
    "up to": "until",
}
_LEAD = re.compile(r"(since|after|before|until|till|by)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
_BETWEEN_LEAD = re.compile(r"(?:between|from)\b", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:and|to|until|till|through|-|–)\s+(?:the\s+)?", re.IGNORECASE)
_OF = re.compile(r"(?:of|in)\b", re.IGNORECASE)
_ONWARDS = re.compile(r"\s+on(?:wards?)?\b", re.IGNORECASE)
_DAY_NAME = re.compile(rf"(?:on\s+)?(?:{'|'.join(WEEKDAYS)})$", re.IGNORECASE)
# Patterns that ignore case take these for an i, and no table has a word with them.
_PLAIN = {ord("İ"): "i", ord("ı"): "i"}
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_NO_TIME, _A_DAY, _FORTNIGHT = timedelta(0), timedelta(days=1), timedelta(days=14)
_A_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class Time:
    """A period, and where in the question (start and end) its words stand."""

    start: int
    end: int
    period: Period


def find_periods(text: str, *, now: datetime) -> tuple[Period, ...]:
    """The periods a question names, in its order, on the calendar and clock of `now`'s zone.

    A month or day without a year means that of any year; "last", "next" and "ago" are counted
    from `now`; "before", "until", "after" and "since" mean the time on that side, "between" what
    lies from the one to the other. What is no date ("February 31") is left out.
    """
    return tuple(time.period for time in find_times(text, now=now))


def find_times(text: str, *, now: datetime) -> tuple[Time, ...]:
    """`find_periods` with the places of their words."""
    text = text.translate(_PLAIN)
    if not may_name_time(text):
        return ()
    forms = Forms(now.replace(tzinfo=UTC))
    found = sorted(_read(text, forms), key=lambda time: time.start)
    return tuple(_sided(text, _narrowed(text, _together(text, found), forms), forms))


def _read(text: str, forms: Forms) -> Iterator[Time]:
    """Each form on what the forms before it have left."""
    left = text
    for pattern, meaning in forms.all:
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


def _together(text: str, found: Sequence[Time]) -> list[Time]:
    """The times with those side by side that are one: "March last year", "last year in June"."""
    joined: list[Time] = []
    for time in found:
        last = joined[-1] if joined else None
        if last is not None and TOGETHER.match(text[last.end : time.start]):
            if _DAY_NAME.match(text[last.start : last.end]) and _is_day(time.period):
                # "On Tuesday 9 June": the date tells which Tuesday.
                joined[-1] = replace(time, start=last.start)
                continue
            one = one_of(last.period, time.period) or one_of(time.period, last.period)
            if one is not None:
                joined[-1] = Time(last.start, time.end, one)
                continue
        joined.append(time)
    return joined


def _is_day(period: Period) -> bool:
    return period.end - period.start == _A_DAY


def _narrowed(text: str, found: Sequence[Time], forms: Forms) -> list[Time]:
    """The times with what the words in front of them mean of them: "the end of last month"."""
    narrowed: list[Time] = []
    for time in found:
        match = PART.search(text[: time.start])
        if match is None or not (_OF.match(text, time.start) or _is_said_of(match)):
            narrowed.append(time)
            continue
        period = time.period
        try:
            if period.yearly and not is_yearly(match):
                period = forms.nearest(period) if match["whole"] else forms.latest(period)
            period = part_of(match, period, forms.now)
        except (ValueError, OverflowError):
            narrowed.append(time)
            continue
        while narrowed and narrowed[-1].end > match.start():
            narrowed.pop()
        narrowed.append(Time(match.start(), time.end, period))
    return narrowed


def _is_said_of(match: re.Match[str]) -> bool:
    return bool(match["of"] or match["third"] or match["side"])


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
        if _ONWARDS.match(text, time.end) and (
            _BETWEEN_LEAD.match(text, time.start) or _BETWEEN.search(text[: time.start])
        ):
            sided.append(replace(time, period=_on_side("since", time.period, forms)))
            continue
        lead = _LEAD.match(text, time.start) or _DIRECTION.search(text[: time.start])
        said = " ".join(lead[1].lower().split()) if lead else ""
        if lead is None or (said == "up to" and is_doing(text[: lead.start()])):
            sided.append(time)
            continue
        word, start = _SAME.get(said, said), min(time.start, lead.start())
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
    if end < start < end + _A_WEEK and _is_day(first):
        # "Between Monday and Wednesday last week".
        start -= _A_WEEK
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
