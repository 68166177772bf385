"""Spans from one day of the calendar to another: both ends lie in one stretch of time."""

from __future__ import annotations

import re
from datetime import date, timedelta

from .date_expressions import DATE_EXPRESSION
from .far_dates import nth
from .span_dates import month_number

_TO = re.compile(r"\s(?:to|until|till|through|thru)\s|\s?[–—-]\s?", re.IGNORECASE)
_AND = re.compile(r"\sand\s", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s(?:the\s)?$", re.IGNORECASE)
# What began so long ago may still be spoken of as if it went on.
_JUST_OVER = timedelta(days=60)


def is_span(*, text: str, start: int, end: int) -> bool:
    """Whether what stands between two dates of a text joins them to a span."""
    return bool(_TO.fullmatch(text, start, end))


def first_day_of_span(*, match: re.Match[str], today: date, past: bool) -> date | None:
    """The day meant by a date without a year that another date follows as the end of its span.

    None where nothing follows, or no such day exists.
    """
    text = match.string
    joined = _TO.match(text, match.end())
    if joined is None and _BETWEEN.search(text, 0, match.start()):
        joined = _AND.match(text, match.end())
    other = DATE_EXPRESSION.match(text, joined.end()) if joined else None
    if other is None or not (other.group("md") or other.group("dm")):
        return None
    try:
        (month, day, _), (last_month, last_day, year) = _parts(match), _parts(other)
        if year:
            return date(year - ((month, day) > (last_month, last_day)), month, day)
        starts = [date(today.year + step, month, day) for step in (-1, 0, 1)]
        ends = [
            date(start.year + ((last_month, last_day) < (month, day)), last_month, last_day)
            for start in starts
        ]
    except ValueError:
        return None
    if past:
        return max((start for start in starts if start <= today), default=None)
    over = today - _JUST_OVER
    return next((start for start, end in zip(starts, ends, strict=True) if end >= over), None)


def _parts(match: re.Match[str]) -> tuple[int, int, int]:
    """Month, day and year of a date of the calendar; the year is 0 where none is named."""
    key = "md" if match.group("md") else "dm"
    named = (match.group(key + "m"), match.group(key + "d"), match.group(key + "y"))
    return month_number(named[0]), nth(named[1]), int(named[2] or 0)
