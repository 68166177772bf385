"""Times of the day: "at 15:30", "3pm", "noon", "in the evening", "from 9am to 5pm"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.domain.text.calendar import DAY, days_from
from memory.domain.text.date_types import DateTokens

from .calendar import PARTS_OF_DAY
from .date_types import Grain, NamedTime
from .stop_words import STOP_WORDS

_NAMED = frozenset({"noon", "midday", "midnight"})
OPENERS = frozenset({"at", "around"}) | _NAMED


@dataclass(frozen=True, slots=True)
class Hour:
    """Hours of a day, counted from its midnight, up to the token `to`."""

    to: int
    first: timedelta
    last: timedelta
    grain: Grain


def hours_from_to(first: NamedTime, second: NamedTime, today: datetime) -> NamedTime:
    """Between two times of the day: on the day that is said with either of them."""
    is_today = second.first >= today and second.first < today + DAY
    day = days_from(first.first if is_today else second.first)[0]
    start = day + (first.first - days_from(first.first)[0])
    end = day + (second.last - days_from(second.first)[0])
    end += DAY if end <= start else timedelta(0)
    return replace(second, at=first.at, first=start, last=end, grain=first.grain)


def read_hour(tokens: DateTokens, at: int, *, is_after_day: bool) -> Hour | None:
    """ "At 15:30", "3pm", "noon", "in the evening"; behind a day "at 9", "morning", too."""
    place = at
    if tokens.word(place) in {"at", "around"}:
        place += 1
    elif is_after_day and tokens.has(place, "in", "the"):
        place += 2
    part = tokens.word(place)
    if part in PARTS_OF_DAY:
        if not is_after_day and part not in _NAMED:
            return None
        first, last = PARTS_OF_DAY[part]
        return Hour(place + 1, timedelta(hours=first), timedelta(hours=last), Grain.HOUR)
    number = tokens.number(place)
    if (
        number is None
        or number > 24
        or (tokens.is_joined(place) and tokens.word(place - 1) in ".:-/$")
    ):
        return None
    minutes = tokens.number(place + 2)
    has_minutes = (
        tokens.word(place + 1) in {":", "."}
        and tokens.is_joined(place + 1)
        and tokens.is_joined(place + 2)
        and minutes is not None
        and minutes < 60
        and len(tokens.word(place + 2)) == 2
    )
    end = place + (3 if has_minutes else 1)
    half = tokens.word(end)
    is_dotted = half in {"a", "p"} and tokens.has(end + 1, ".", "m")
    if half in {"am", "pm"} or is_dotted:
        if number > 12:
            return None
        number = number % 12 + 12 * half.startswith("p")
        end += (4 if tokens.word(end + 3) == "." else 3) if is_dotted else 1
    elif tokens.has(end, "o", "'", "clock"):
        end += 3
    elif not (has_minutes and tokens.word(place + 1) == ":") and not (
        is_after_day and place > at and _stands_alone(tokens, end)
    ):
        return None
    if number == 24 and minutes:
        return None
    start = timedelta(hours=number, minutes=(minutes or 0) if has_minutes else 0)
    length = timedelta(minutes=1) if has_minutes else timedelta(hours=1)
    return Hour(end, start, start + length, Grain.MINUTE if has_minutes else Grain.HOUR)


def _stands_alone(tokens: DateTokens, at: int) -> bool:
    word = tokens.word(at)
    return (
        not word
        or not (word[0].isalnum() or (tokens.is_joined(at) and word in "%€$£/"))
        or (word in STOP_WORDS)
    )
