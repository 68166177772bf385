"""A date as memories write it, and how exactly a sentence named it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from ..language.words import MONTHS, WEEKDAYS


class Precision(StrEnum):
    """How a sentence names a date: by the calendar, against today, every year, or vaguely."""

    CALENDAR = "calendar"
    RELATIVE = "relative"
    VAGUE = "vague"
    YEARLY = "yearly"


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date that a sentence names; `day` is its first day where it is a span."""

    day: date
    precision: Precision
    text: str


def month_day(day: date) -> str:
    """A date as memories write it: "March 18, 2026"."""
    return f"{MONTHS[day.month - 1].capitalize()} {day.day}, {day.year}"


def with_weekday(day: date) -> str:
    """A date with its weekday: "Friday, April 10, 2026"."""
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {month_day(day)}"
