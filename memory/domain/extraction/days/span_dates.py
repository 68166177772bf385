"""What weeks, months, quarters, seasons and years mean against the day they were said."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..language.words import MONTHS
from .moments import Precision, month_day

# The new wording, the preposition it needs where none stands before it, its first day, precision.
Resolved = tuple[str, str, date, Precision]


def month_number(name: str) -> int:
    """1 for January or "jan"; ValueError for what is no month."""
    return [month[:3] for month in MONTHS].index(name.lower()[:3]) + 1


def shift_months(today: date, months: int) -> date:
    index = today.year * 12 + today.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def span(match: re.Match[str], today: date, past: bool) -> Resolved | None:
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
        elif step == 1 and (relation == "next" or today.weekday() > 4):
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
    month = _SEASONS[unit] if season else month_number(unit)
    year = today.year
    if step == -1 and date(year, month, 1) > today - timedelta(days=80 if season else 28):
        year -= 1
    elif step == 1 and date(year, month, 1) <= today:
        year += 1
    elif relation == "this" and past and date(year, month, 1) > today:
        year -= 1
    wording = f"{unit if season else unit.capitalize()} {year}"
    return wording, "in", date(year, month, 1), Precision.VAGUE


def months(match: re.Match[str], today: date, past: bool) -> Resolved:
    """ "From November to February": both in one stretch of time, over the turn of a year or not."""
    first, last = month_number(match.group("msa")), month_number(match.group("msb"))
    over = int(last < first)
    named = match.group("msy")
    if named:
        year = int(named) - over
    elif past:
        year = today.year - (first > today.month)
    else:
        year = today.year - over + (last < today.month)
    begun = MONTHS[first - 1].capitalize() + (f" {year}" if over else "")
    wording = f"{begun} {match.group('msj').lower()} {MONTHS[last - 1].capitalize()} {year + over}"
    return wording, "", date(year, first, 1), Precision.VAGUE
