"""Dates and times written with numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from memory.domain.text.calendar import (
    DAY,
    MONTHS,
    PARTS_OF_DAY,
    Clock,
    DateTokens,
    Grain,
    NamedTime,
    days_from,
    midnight,
    months_from,
)
from memory.domain.text.words import STOP_WORDS, TENS, ordinal_value, word_set

LEADS: Final = word_set(
    """
    in on during since until till by before after of from around early late mid this last next
    between for to past through
    """
)
"""Words that lead a month, a season or a year."""

RANGE_WORDS: Final = frozenset({"to", "until", "till", "through", "-", "–"})
DECADES: Final = {tens.removesuffix("y") + "ies": value for tens, value in TENS.items()}
_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_JOINTS = frozenset({".", "-", "/", ":", "_", "#", "$", "€", "£", "+"})
_LAST_YEAR, _FIRST_YEAR = 2099, 1900


def read_number_date(tokens: DateTokens, at: int, clock: Clock, *, bare: bool) -> NamedTime | None:
    """A date that begins with a number; `bare` says that a year alone is to be expected."""
    if tokens.is_joined(at) and (tokens.word(at - 1) in _JOINTS or tokens.word(at - 1).isalpha()):
        return None
    return (
        _iso(tokens, at)
        or _numeric(tokens, at, clock)
        or read_day_of_month(tokens, at, clock)
        or _decade(tokens, at, clock)
        or _year_alone(tokens, at, bare=bare)
    )


def read_day_of_month(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "3 May 2026", "3rd to 7th of May", "the twenty-third", "the 3rd"."""
    day, after = day_number(tokens, at)
    if not day:
        return None
    last, place = day, after
    if tokens.word(after) in RANGE_WORDS:
        last, place = day_number(tokens, after + 1)
    joint = place
    place += tokens.word(place) == "of"
    if last > day - 1 and tokens.word(place) in MONTHS:
        return day_in_month(tokens, at, clock, day=day, last=last, month_at=place, end=place + 1)
    is_ordinal = tokens.word(after - 1) in _SUFFIXES or not tokens.word(at).isdecimal()
    if tokens.word(at - 1) != "the" or not is_ordinal:
        return None
    if tokens.word(joint) == "of" and tokens.word(joint + 1) in {"each", "every"}:
        first, end = clock.day_of_month(day)
        found = NamedTime(at - 1, joint + 3, first, end, Grain.DAY, relative=True)
        is_month = tokens.word(joint + 2) == "month"
        return replace(found, recurring="monthly", day=day) if is_month else None
    following = tokens.word(after)
    # "The third" alone is seldom a day, nor is "the 3rd floor".
    is_word = not tokens.word(at).isdecimal() and tokens.word(at + 1) != "-"
    if is_word or (following.isalpha() and following not in STOP_WORDS):
        return None
    first, end = clock.day_of_month(day)
    return NamedTime(at - 1, after, first, end, Grain.DAY, relative=True, day=day)


def day_in_month(
    tokens: DateTokens, at: int, clock: Clock, *, day: int, last: int, month_at: int, end: int
) -> NamedTime | None:
    """A day, or those up to the `last`, in the month at a token; its year may stand at `end`."""
    month = MONTHS[tokens.word(month_at)]
    year, after = year_number(tokens, end, clock)
    if year:
        start = midnight(year, month, day)
        close = midnight(year, month, last)
        return NamedTime(at, after, start, days_from(close)[1], Grain.DAY)
    first, close = clock.in_year(month, day)
    close = days_from(first.replace(day=last))[1]
    return NamedTime(at, end, first, close, Grain.DAY, relative=True, yearless=True)


def day_number(tokens: DateTokens, at: int) -> tuple[int, int]:
    """A day of a month in figures or words with the place behind it; the day is 0 for none."""
    number = tokens.number(at)
    if number is None:
        word, after = tokens.word(at), at + 1
        if word in TENS and tokens.word(at + 1) == "-":
            word, after = f"{word}-{tokens.word(at + 2)}", at + 3
        value = ordinal_value(word) or 0
        return (value, after) if value <= 31 else (0, at)
    after = at + 1
    if tokens.is_joined(after) and tokens.word(after) in _SUFFIXES:
        after += 1
    elif tokens.is_joined(after) and tokens.word(after) in set(":%.,/"):
        # "3:30", "3 %", "3.5", but "3, 4 or 5".
        is_number = tokens.is_joined(after + 1) and tokens.number(after + 1) is not None
        if is_number or tokens.word(after) in set(":%"):
            return 0, at
    return (number, after) if 1 <= number <= 31 else (0, at)


def year_number(tokens: DateTokens, at: int, clock: Clock) -> tuple[int, int]:
    """A year behind a date (", 2026", "of 2026", "'26") with the place behind it; 0 for none."""
    at_year = at + (tokens.word(at) in {",", "of"})
    number = tokens.number(at_year)
    if number is not None and _is_year(number) and tokens.word(at_year + 1) != ":":
        return number, at_year + 1
    short = tokens.number(at_year + 1)
    if tokens.word(at_year) == "'" and short is not None and len(tokens.word(at_year + 1)) == 2:
        return _last_ending(clock, short), at_year + 2
    return 0, at


def _is_year(number: int) -> bool:
    return _FIRST_YEAR <= number <= _LAST_YEAR


def _iso(tokens: DateTokens, at: int) -> NamedTime | None:
    year, month = tokens.number(at), tokens.number(at + 2)
    mark = tokens.word(at + 1)
    if year is None or not _is_year(year) or mark not in {"-", "/"}:
        return None
    if month is None or not (tokens.is_joined(at + 1) and tokens.is_joined(at + 2)):
        return None
    day = tokens.number(at + 4)
    if tokens.word(at + 3) != mark or not tokens.is_joined(at + 3) or day is None:
        if len(tokens.word(at + 2)) != 2:
            return None
        return NamedTime(at, at + 3, *months_from(*_month(year, month), 1), Grain.MONTH)
    return NamedTime(at, at + 5, *days_from(midnight(year, month, day)), Grain.DAY)


def _month(year: int, month: int) -> tuple[int, int]:
    if not 1 <= month <= 12:
        raise ValueError("no such month")
    return year, month


def _numeric(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "05.11.2026", "5/11/2026", "05/2026", "on 5/11"."""
    first, mark, second = tokens.number(at), tokens.word(at + 1), tokens.number(at + 2)
    if first is None or second is None or mark not in {".", "/", "-"}:
        return None
    if not (tokens.is_joined(at + 1) and tokens.is_joined(at + 2)):
        return None
    third = tokens.number(at + 4)
    if tokens.word(at + 3) == mark and tokens.is_joined(at + 4) and third is not None:
        if not _is_year(third) or tokens.is_joined(at + 6):
            return None
        return _either(at, at + 5, year=third, first=first, second=second, swap=mark != ".")
    if mark == "/" and _is_year(second):
        span = months_from(*_month(second, first), 1)
        return NamedTime(at, at + 3, *span, Grain.MONTH)
    if mark == "/" and tokens.word(at - 1) in {"on", "by", "until", "since"}:
        day, month = (first, second) if second <= 12 else (second, first)
        if month <= 12:
            span = clock.in_year(*_month(month, day))
            return NamedTime(at, at + 3, *span, Grain.DAY, relative=True, yearless=True)
    return None


def _either(at: int, to: int, *, year: int, first: int, second: int, swap: bool) -> NamedTime:
    if second > 12 and swap:
        first, second = second, first
    found = NamedTime(at, to, *days_from(midnight(year, second, first)), Grain.DAY)
    if swap and first <= 12 and first != second:
        return replace(found, rough=True, alternative=midnight(year, first, second))
    return found


def _decade(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "The 1990s", "the '90s", "in the 90s"."""
    number = tokens.number(at)
    if number is None or number % 10 or tokens.word(at + 1) != "s" or not tokens.is_joined(at + 1):
        return None
    if number >= _FIRST_YEAR:
        return _decade_from(at, at + 2, number)
    before = tokens.word(at - 1)
    is_led = before == "'" or (before == "the" and tokens.word(at - 2) in LEADS - {"of"})
    if number > 90 or len(tokens.word(at)) != 2 or not is_led:
        return None
    return _decade_from(at, at + 2, _last_ending(clock, number))


def read_decade_name(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "The nineties"."""
    if tokens.word(at - 1) not in {"the", "early", "late", "mid", "-"}:
        return None
    return _decade_from(at, at + 1, _last_ending(clock, DECADES[tokens.word(at)]))


def _last_ending(clock: Clock, number: int) -> int:
    """The last year that has begun and ends in these two figures."""
    return clock.now.year - (clock.now.year - number) % 100


def _decade_from(at: int, to: int, year: int) -> NamedTime:
    return NamedTime(at, to, *months_from(year, 1, 120), Grain.DECADE)


def _year_alone(tokens: DateTokens, at: int, *, bare: bool) -> NamedTime | None:
    year, before, following = tokens.number(at), tokens.word(at - 1), tokens.word(at + 1)
    if year is None or not _is_year(year):
        return None
    if tokens.is_joined(at + 1) and following in _JOINTS - {"."}:
        return None
    is_noun_next = following.isalpha() and following not in STOP_WORDS
    sure = before in LEADS - {"of", "to", "for", "on"} or before == "year"
    if not (bare or sure or before in {"of", "to", "for"}) or (is_noun_next and not sure):
        return None
    return NamedTime(at, at + 1, *months_from(year, 1, 12), Grain.YEAR)


def read_short_year(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "In '24", "the '90s": a year or decade behind an apostrophe."""
    if tokens.number(at + 1) is None or not tokens.is_joined(at + 1):
        return None
    found = _decade(tokens, at + 1, clock)
    year, after = year_number(tokens, at, clock)
    if found or not year or tokens.word(at - 1) not in LEADS:
        return found and replace(found, at=at)
    return NamedTime(at, after, *months_from(year, 1, 12), Grain.YEAR)


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
