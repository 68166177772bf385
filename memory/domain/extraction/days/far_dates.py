"""Days counted from other days: "a week from Monday", "the last Friday of May", "30.6."."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ...number_words import ORDINALS
from ..language.words import NUMBER_WORDS, WEEKDAYS
from .moments import Precision, month_day, with_weekday
from .span_dates import Resolved, month_number, shift_months


def nth(word: str) -> int:
    """The number of a day: "3rd", "third" and "twenty-third" are 3, 3 and 23."""
    word = word.lower()
    tens = re.match(r"(twenty|thirty)[\s-]", word)
    if tens:
        return NUMBER_WORDS[tens.group(1)] + ORDINALS[word[tens.end() :]]
    return ORDINALS.get(word) or int(re.sub(r"\D+$", "", word))


def _coming(name: str, today: date) -> date:
    if name in {"today", "tonight"}:
        return today
    if name == "tomorrow":
        return today + timedelta(days=1)
    return today + timedelta(days=(WEEKDAYS.index(name) - today.weekday() - 1) % 7 + 1)


def offset_weekday(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    """ "A week from Monday", "two weeks from tomorrow", "Tuesday week"."""
    if match.group("wdo"):
        weeks = 2 if match.group("wdou").lower() == "fortnight" else 1
        day = _coming(match.group("wdon").lower(), today) + timedelta(weeks=weeks)
        return with_weekday(day), "on", day, Precision.RELATIVE
    count = match.group("offn").lower()
    weeks = NUMBER_WORDS.get(count) or int(count)
    weeks *= 2 if match.group("offu").lower() == "fortnight" else 1
    day = _coming(match.group("offd").lower(), today) + timedelta(weeks=weeks)
    return with_weekday(day), "on", day, Precision.RELATIVE


def far(match: re.Match[str], today: date, _past: bool) -> Resolved | None:
    """ "The week after next", "the Tuesday before last"."""
    unit, later = match.group("farw").lower(), match.group("fark").lower().startswith("after")
    if unit == "month":
        day = shift_months(today.replace(day=1), 2 if later else -2)
        return f"{day:%B %Y}", "in", day, Precision.VAGUE
    monday = today - timedelta(days=today.weekday())
    if unit in {"week", "weekend"}:
        day = monday + timedelta(weeks=2 if later else -2)
        wording = f"the {unit} of {month_day(day + timedelta(days=5 * (unit == 'weekend')))}"
        return wording, "in" if unit == "week" else "on", day, Precision.RELATIVE
    target = WEEKDAYS.index(unit)
    if later:
        day = _coming(unit, today) + timedelta(weeks=1)
    else:
        day = today - timedelta(days=(today.weekday() - target - 1) % 7 + 8)
    return with_weekday(day), "on", day, Precision.RELATIVE


def nth_weekday(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    """ "The last Saturday of April", "the first Tuesday of next month"."""
    named, relative = match.group("nwdm"), (match.group("nwdr") or "").lower()
    if relative == "the":
        return None
    first = shift_months(today.replace(day=1), 1 if relative == "next" else 0)
    if named:
        first = date(today.year, month_number(named), 1)
        if past and first > today:
            first = first.replace(year=today.year - 1)
        elif not past and (first.year, first.month) < (today.year, today.month):
            first = first.replace(year=today.year + 1)
    target = WEEKDAYS.index(match.group("nwdd").lower())
    days = [first + timedelta(days=number) for number in range(31)]
    days = [day for day in days if day.month == first.month and day.weekday() == target]
    which = match.group("nwdn").lower()
    day = days[-1 if which == "last" else ORDINALS[which] - 1]
    return with_weekday(day), "on", day, Precision.CALENDAR


def numeric(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    """ "30.6." and "30/06/2026", the day first; a day that could be a month stays as it is."""
    number = int(match.group("numd"))
    month = int(match.group("numm") or match.group("nums"))
    year = match.group("numy") or match.group("numz")
    if match.group("nums") and number < 13 and number != month:
        return None
    day = date(int(year) if year else today.year, month, number)
    if not year and past and day > today:
        day = day.replace(year=today.year - 1)
    elif not year and not past and day < today - timedelta(days=60):
        day = day.replace(year=today.year + 1)
    return month_day(day), "on", day, Precision.CALENDAR
