"""Dates that a sentence takes from the one before it: "that day", "the Thursday before"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from ..language.words import WEEKDAYS
from .date_expressions import WEEKDAY_NAME
from .moments import FoundDate, Precision, month_day, with_weekday

_ANCHORED = re.compile(
    rf"\b(?P<then>by\sthen)\b|\b(?:on\s)?(?P<same>(?:that|the\ssame)\sday)\b"
    rf"|\b(?:on\s)?the\s(?P<weekday>{WEEKDAY_NAME})\s(?P<side>before|after)\b(?!\s(?:the|that|\w+day))"
    r"|\b(?:on\s|in\s)?the\s(?P<part>day|morning|afternoon|evening|night)\s(?P<next>before|after)\b(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)


_BARE_DAY = re.compile(
    r"\b(?P<before>(?:on|until|till|by|from|since|before|after|is|for)\s)the\s(?P<day>\d{1,2})(?:st|nd|rd|th)\b"
    r"(?=[.,;!)]|$|\s(?:at|and|to|from|with|because|so|in\sthe)\b)",
    re.IGNORECASE,
)


def last_day(dates: Sequence[FoundDate]) -> date | None:
    """The last day that was named exactly."""
    exact = [
        found.day for found in dates if found.precision in {Precision.CALENDAR, Precision.RELATIVE}
    ]
    return exact[-1] if exact else None


def is_anchored(*, text: str) -> bool:
    """Whether a text takes a date from the one before it."""
    return _ANCHORED.search(text) is not None


def without_anchors(*, text: str) -> str:
    """The text without such expressions, so that only its own dates are left."""
    return _ANCHORED.sub(" ", text)


def anchored(*, text: str, day: date | None) -> str:
    """The text with such expressions as dates; unchanged where no day was named before."""
    return _ANCHORED.sub(lambda match: _written(match, day), text) if day else text


def of_known_day(*, text: str, days: Sequence[date], today: date) -> str:
    """ "on the 18th" as the 18th of `days` that was named last and lies ahead of `today`."""

    def written(match: re.Match[str]) -> str:
        number = int(match.group("day"))
        known = [day for day in days if day.day == number and day > today]
        return match.group("before") + month_day(known[-1]) if known else match.group()

    return _BARE_DAY.sub(written, text)


def _written(match: re.Match[str], day: date) -> str:
    if match.group("then"):
        return f"by {month_day(day)}"
    if match.group("same"):
        return f"on {month_day(day)}"
    if match.group("next"):
        step = -1 if match.group("next").lower() == "before" else 1
        part = match.group("part").lower()
        of_day = "" if part == "day" else f"the {part} of "
        return f"on {of_day}{month_day(day + timedelta(days=step))}"
    named = match.group("weekday").lower()
    if named not in WEEKDAYS:
        return match.group()
    wanted = WEEKDAYS.index(named)
    if match.group("side").lower() == "before":
        return f"on {with_weekday(day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1))}"
    return f"on {with_weekday(day + timedelta(days=(wanted - day.weekday() - 1) % 7 + 1))}"
