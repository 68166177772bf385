"""What each kind of date expression means against the day it was said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from .date_expressions import WEEKDAY_NAME
from .moments import Precision, month_day, with_weekday
from .weekday_dates import weekday, weekdays, weekdays_ahead
from .words import MONTHS, NUMBER_WORDS, WEEKDAYS

# The new wording, the preposition it needs where none stands before it, its first day, precision.
Resolved = tuple[str, str, date, Precision]


def _iso(match: re.Match[str], _today: date, _past: bool) -> Resolved | None:
    day = date.fromisoformat(match.group("iso"))
    return month_day(day), "on", day, Precision.CALENDAR


def _nearest(month: int, day: int, today: date, past: bool) -> date:
    """The occurrence of a month and day that the tense points at, within a sensible distance."""
    this = date(today.year, month, day)
    if past:
        return this if this <= today else date(today.year - 1, month, day)
    return this if this >= today - timedelta(days=60) else date(today.year + 1, month, day)


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))


_NTHS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "tenth": 10,
         "twentieth": 20}  # fmt: skip


def _nth(word: str) -> int:
    return _NTHS.get(word.lower()) or int(word.rstrip("stndrh"))


def _calendar(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    key = "md" if match.group("md") else "dm"
    month, number = _month_number(match.group(key + "m")), _nth(match.group(key + "d"))
    year = match.group(key + "y")
    day = date(int(year), month, number) if year else _nearest(month, number, today, past)
    span = match.group(key + "r")
    if span:
        wording = f"{MONTHS[month - 1].capitalize()} {number} {span.strip()}, {day.year}"
        return re.sub(r"\s([–-])\s?", r"\1", wording), "on", day, Precision.CALENDAR
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


def _span(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    relation = match.group("srel").lower()
    unit = match.group("sunit").lower()
    step = (
        1
        if relation in {"next", "coming"}
        else -1
        if relation in {"last", "past", "this past"}
        else 0
    )
    if unit == "week" and match.string[match.end() : match.end() + 4] == " of ":
        return None
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        if step == -1:
            return (
                f"the week before {month_day(today)}",
                "in",
                today - timedelta(7),
                Precision.VAGUE,
            )
        day = monday + timedelta(days=7 * step)
        return f"the week of {month_day(day)}", "in", day, Precision.RELATIVE
    if unit == "weekend":
        saturday = today + timedelta(days=(5 - today.weekday()) % 7)
        if today.weekday() == 6:
            saturday = today - timedelta(days=1)
        if step == -1 or (step == 0 and past and today.weekday() < 5):
            saturday = today - timedelta(days=today.weekday() + 2)
        elif step == 1 and today.weekday() < 5 and relation == "next":
            saturday += timedelta(days=7)
        return f"the weekend of {month_day(saturday)}", "on", saturday, Precision.RELATIVE
    if unit == "month":
        index = today.year * 12 + today.month - 1 + step
        day = date(index // 12, index % 12 + 1, 1)
        return f"{MONTHS[day.month - 1].capitalize()} {day.year}", "in", day, Precision.VAGUE
    if unit == "quarter":
        index = today.year * 4 + (today.month - 1) // 3 + step
        day = date(index // 4, index % 4 * 3 + 1, 1)
        return f"Q{index % 4 + 1} {day.year}", "in", day, Precision.VAGUE
    if unit == "year":
        return str(today.year + step), "in", date(today.year + step, 1, 1), Precision.VAGUE
    return _season_or_month(unit, relation, step, today, past)


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def _season_or_month(
    unit: str, relation: str, step: int, today: date, past: bool
) -> Resolved | None:
    season = unit in _SEASONS
    month = _SEASONS[unit] if season else _month_number(unit)
    year = today.year
    if step == -1 and date(year, month, 1) > today - timedelta(days=80 if season else 28):
        year -= 1
    elif step == 1 and date(year, month, 1) <= today:
        year += 1
    elif relation == "this" and past and date(year, month, 1) > today:
        year -= 1
    wording = f"{unit if season else unit.capitalize()} {year}"
    return wording, "in", date(year, month, 1), Precision.VAGUE


def _counted(count: str, unit: str) -> tuple[int, bool]:
    """Days in a counted span, and whether it is exact."""
    vague = {"a couple of": 2, "a few": 3, "several": 4}
    number = vague.get(count.lower()) or NUMBER_WORDS.get(count.lower()) or int(count)
    size = {"day": 1, "week": 7, "month": 30, "year": 365}[unit.lower()]
    return number * size, count.lower() not in vague and unit.lower() == "day"


def _shift_months(today: date, months: int) -> date:
    index = today.year * 12 + today.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


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
        day = _shift_months(today, sign * days // 30)
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


def _ordinal(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    number = int(match.group("thd"))
    base = _shift_months(today, 1) if (match.group("thm") or "").lower() == "next" else today
    day = date(base.year, base.month, number)
    named = re.match(WEEKDAY_NAME, match.group(), re.IGNORECASE)
    if named:
        # The weekday settles which month is meant.
        wanted = WEEKDAYS.index(named.group().lower())
        for months in (0, 1, -1, 2):
            near = _shift_months(today, months)
            try:
                there = near.replace(day=number)
            except ValueError:
                continue
            if there.weekday() == wanted:
                return with_weekday(there), "on", there, Precision.CALENDAR
    if base == today and not past and day < today:
        base = _shift_months(today, 1)
        day = date(base.year, base.month, number)
    elif past and day > today:
        base = _shift_months(today, -1)
        day = date(base.year, base.month, number)
    named = re.match(WEEKDAY_NAME, match.group(), re.IGNORECASE)
    return with_weekday(day) if named else month_day(day), "on", day, Precision.CALENDAR


def _month(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    month = _month_number(match.group("mon"))
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
    month = _month_number(match.group("partm"))
    day = date(today.year, month, 1)
    if past and day > today:
        day = date(today.year - 1, month, 1)
    elif not past and (today.year, today.month) > (day.year, day.month):
        day = date(today.year + 1, month, 1)
    part = match.group("partp").lower()
    name = f"{MONTHS[month - 1].capitalize()} {day.year}"
    return f"{part}{'-' if part == 'mid' else ' '}{name}", "in", day, Precision.VAGUE


RESOLVERS: dict[str, Callable[[re.Match[str], date, bool], Resolved | None]] = {
    "iso": _iso, "md": _calendar, "dm": _calendar, "ref": _reference, "wds": weekdays,
    "wd": weekday, "wkd": weekdays_ahead, "part": _part_of_month,
    "span": _span, "ago": _ago, "ahead": _ahead, "eom": _edge, "th": _ordinal, "mon": _month,
}  # fmt: skip
