"""What each kind of date expression means against the day it was said."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from ..language.words import MONTHS, NUMBER_WORDS, WEEKDAYS
from .date_expressions import WEEKDAY_NAME
from .far_dates import far, nth, nth_weekday, numeric, offset_weekday
from .feast_days import feast
from .moments import Precision, month_day, with_weekday
from .recurring import is_yearly
from .span_dates import Resolved, month_number, months, shift_months, span
from .weekday_dates import weekday, weekdays, weekdays_ahead


def _iso(match: re.Match[str], _today: date, _past: bool) -> Resolved | None:
    day = date.fromisoformat(match.group("iso"))
    return month_day(day), "on", day, Precision.CALENDAR


def _nearest(month: int, day: int, today: date, past: bool) -> date:
    """The occurrence of a month and day that the tense points at, within a sensible distance."""
    this = date(today.year, month, day)
    if past:
        return this if this <= today else date(today.year - 1, month, day)
    return this if this >= today - timedelta(days=60) else date(today.year + 1, month, day)


def _calendar(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    key = "md" if match.group("md") else "dm"
    month, number = month_number(match.group(key + "m")), nth(match.group(key + "d"))
    year = match.group(key + "y")
    day = date(int(year), month, number) if year else _nearest(month, number, today, past)
    span = match.group(key + "r")
    wording = f"{MONTHS[month - 1].capitalize()} {number}"
    if span:
        wording = re.sub(r"\s([–-])\s?", r"\1", f"{wording} {span.strip()}")
    if not year and is_yearly(match):
        return wording, "on", day, Precision.YEARLY
    if span:
        return f"{wording}, {day.year}", "on", day, Precision.CALENDAR
    named = re.match(WEEKDAY_NAME, match.group(), re.IGNORECASE)
    return with_weekday(day) if named else month_day(day), "on", day, Precision.CALENDAR


def _reference(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    phrase = match.group("ref").lower()
    offset = 0
    if "after tomorrow" in phrase:
        offset = 2
    elif "before yesterday" in phrase:
        offset = -2
    elif phrase.startswith("tomorrow"):
        offset = 1
    elif phrase.startswith("yesterday") or phrase == "last night":
        offset = -1
    day = today + timedelta(days=offset)
    part = match.group("refp") or ("evening" if phrase == "tonight" else "")
    part = "night" if phrase == "last night" else part
    if phrase.startswith("this "):
        part = phrase.split()[-1]
    if part in {"noon", "night"}:
        return f"{month_day(day)} at {part}", "on", day, Precision.RELATIVE
    wording = f"the {part} of {month_day(day)}" if part else month_day(day)
    return (
        wording,
        "in" if part in {"morning", "afternoon", "evening"} else "on",
        day,
        Precision.RELATIVE,
    )


def _counted(count: str, unit: str) -> tuple[int, bool]:
    """Days in a counted span, and whether it is exact."""
    vague = {"a couple of": 2, "a few": 3, "several": 4}
    number = vague.get(count.lower()) or NUMBER_WORDS.get(count.lower()) or int(count)
    size = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}[unit.lower()]
    return number * size, count.lower() not in vague and unit.lower() == "day"


def _ago(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    return _offset(match.group("agon"), match.group("agou").lower(), today, -1)


def _ahead(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    count, unit = match.group("ahn") or match.group("fnn"), match.group("ahu") or match.group("fnu")
    return _offset(count, unit.lower(), today, 1)


def _offset(count: str, unit: str, today: date, sign: int) -> Resolved | None:
    days, exact = _counted(count, unit)
    day = today + timedelta(days=sign * days)
    if exact:
        return month_day(day), "on", day, Precision.RELATIVE
    if unit == "month":
        day = shift_months(today, sign * days // 30)
        return f"{MONTHS[day.month - 1].capitalize()} {day.year}", "in", day, Precision.VAGUE
    if unit == "year":
        year = today.year + sign * (days // 365)
        return str(year), "in", date(year, 1, 1), Precision.VAGUE
    return f"around {month_day(day)}", "", day, Precision.VAGUE


def _edge(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    kind, unit = match.group("eomk").lower(), match.group("eomu").lower()
    if unit == "week":
        day = today + timedelta(days=max(0, 4 - today.weekday()))
        return f"the {kind} of the week of {month_day(day)}", "at", day, Precision.VAGUE
    if unit == "year":
        return f"the {kind} of {today.year}", "at", date(today.year, 12, 1), Precision.VAGUE
    if unit == "quarter":
        quarter = (today.month - 1) // 3
        return f"the {kind} of Q{quarter + 1} {today.year}", "at", today, Precision.VAGUE
    name = f"{MONTHS[today.month - 1].capitalize()} {today.year}"
    return f"the {kind} of {name}", "at", today, Precision.VAGUE


# "From the 14th to the 15th of May": both lie in May.
_SHARED_MONTH = re.compile(
    r"\s(?:to|and|or|until|till|[–-])\s(?:the\s)?\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>"
    + "|".join(name.capitalize() for name in MONTHS)
    + r")\b"
)
_PUT_OFF = re.compile(
    r"\b(?:moved|postponed|rescheduled|pushed|shifted|brought|delayed)\b", re.IGNORECASE
)


def _ordinal(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    number = nth(match.group("thd"))
    shared = _SHARED_MONTH.match(match.string, match.end())
    if shared:
        behind = past and not _PUT_OFF.search(match.string, 0, match.start())
        day = _nearest(month_number(shared.group("month")), number, today, behind)
        return month_day(day), "on", day, Precision.CALENDAR
    base = shift_months(today, 1) if (match.group("thm") or "").lower() == "next" else today
    if base == today and number > monthrange(today.year, today.month)[1]:
        # "The 31st" in a month of thirty days: that of the month before or after.
        base = shift_months(today, -1 if past else 1)
    day = date(base.year, base.month, number)
    named = re.match(WEEKDAY_NAME, match.group(), re.IGNORECASE)
    if named:
        # The weekday settles which month is meant.
        wanted = WEEKDAYS.index(named.group().lower())
        for months in (0, 1, -1, 2):
            near = shift_months(today, months)
            try:
                there = near.replace(day=number)
            except ValueError:
                continue
            if there.weekday() == wanted:
                return with_weekday(there), "on", there, Precision.CALENDAR
    if base == today and not past and day < today:
        base = shift_months(today, 1)
        day = date(base.year, base.month, number)
    elif past and day > today:
        base = shift_months(today, -1)
        if number <= monthrange(base.year, base.month)[1]:
            day = date(base.year, base.month, number)
    named = re.match(WEEKDAY_NAME, match.group(), re.IGNORECASE)
    return with_weekday(day) if named else month_day(day), "on", day, Precision.CALENDAR


def _month(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    if is_yearly(match):
        return None
    month = month_number(match.group("mon"))
    day = date(today.year, month, 1)
    if past and day > today:
        day = date(today.year - 1, month, 1)
    elif not past and (today.year, today.month) > (day.year, day.month):
        day = date(today.year + 1, month, 1)
    following = match.string[match.end() : match.end() + 6]
    if re.match(r",?\s(?:19|20)\d\d", following):
        return None
    return f"{MONTHS[month - 1].capitalize()} {day.year}", "", day, Precision.VAGUE


def _part_of_month(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    """ "mid August": a third of the month that the tense points at."""
    month = month_number(match.group("partm"))
    day = date(today.year, month, 1)
    if past and day > today:
        day = date(today.year - 1, month, 1)
    elif not past and (today.year, today.month) > (day.year, day.month):
        day = date(today.year + 1, month, 1)
    part = match.group("partp").lower()
    name = f"{MONTHS[month - 1].capitalize()} {day.year}"
    return f"{part}{'-' if part == 'mid' else ' '}{name}", "in", day, Precision.VAGUE


RESOLVERS: dict[str, Callable[[re.Match[str], date, bool], Resolved | None]] = {
    "feast": feast, "iso": _iso, "md": _calendar, "dm": _calendar, "ref": _reference,
    "wds": weekdays, "wd": weekday, "wkd": weekdays_ahead, "part": _part_of_month,
    "span": span, "ago": _ago, "ahead": _ahead, "eom": _edge, "th": _ordinal, "mon": _month,
    "mspan": months, "off": offset_weekday, "wdo": offset_weekday, "far": far,
    "nwd": nth_weekday, "num": numeric,
}  # fmt: skip
