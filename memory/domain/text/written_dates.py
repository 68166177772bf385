"""Writes the dates of a text in full ("Friday" as "Friday, April 10, 2026")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from .dates import Grain, Lean, NamedTime, read_dates
from .stop_words import word_set

_HALF_A_YEAR: Final = timedelta(days=183)
_YEARLY = re.compile(
    r"\b(?:birthdays?|born|(?:wedding\s)?anniversar(?:y|ies)|name\sday|annual(?:ly)?|yearly"
    r"|(?:every|each)\s(?:year|spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)
_CLOCK_TIME = re.compile(
    r"(?:\s?\bat)?\s?\b(?:\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?|noon|midnight)",
    re.IGNORECASE,
)
_BARE_HOUR = re.compile(r"\sat\s\d{1,2}$", re.IGNORECASE)
_PART_OF_DAY = re.compile(r"\b(?:morning|afternoon|evening|night|tonight)\b", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.IGNORECASE
)
_BARE_WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:\s(?:morning|afternoon|evening|night))?",
    re.IGNORECASE,
)
_LIST_JOINT = re.compile(r",\s(?:and\s|or\s)?|\s(?:and|or|to)\s", re.IGNORECASE)
_ASIDE = re.compile(r",?\s\(?")
_WORD_BEFORE = re.compile(r"([A-Za-z']+|[,:;(–-])\s*$")
_VERB_BEHIND = re.compile(
    r"\s(?:is|was|are|were|will|has|works|suits|would|'s)\b|['’]s\s(?:a|the)\b"
)
_POSSESSIVE_BEHIND = re.compile(r"['’]s\b")
_FULL_YEAR = re.compile(r"\b\d{4}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2}\b")
_JOINT = re.compile(r"\b(?:and|until|till|through)\b", re.IGNORECASE)
_PREPOSITIONS = word_set(
    """
    on by until till since from before after for of to around about due between through starting
    than during in at as early late mid and or is was the every each following ends expires
    """
)
_NOUNS: Final = {Grain.WEEK: "the week of ", Grain.WEEKEND: "the weekend of "}


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a written text: its words there, and the time that they name.

    Where no year was told and none is certain, `has_year` is false and the time is a guess.
    """

    text: str
    expression: NamedTime
    has_year: bool = True


@dataclass(frozen=True, slots=True)
class WrittenDates:
    """A text with its dates in full, and those dates in order; recurring ones are left as said."""

    text: str
    dates: tuple[WrittenDate, ...]


def write_dates(
    text: str, *, anchor: datetime, lean: Lean, completes_years: bool = True
) -> WrittenDates:
    """The text with its dates in full, read against the aware time at which it was said.

    A date without a year stays as it was said where its year is not certain: more than half a
    year away, or of what comes every year, and everywhere unless `completes_years`.
    """
    found = read_dates(text, anchor=anchor, lean=lean)
    if not found:
        return WrittenDates(text, ())
    completes_years = completes_years and _YEARLY.search(text) is None
    pieces: list[str] = []
    dates: list[WrittenDate] = []
    end = 0
    beside = _told_by_neighbours(text, found)
    days = Counter(_day_of_year(each) for each in found if _names_a_day(each))
    for each in found:
        said = text[each.start : each.end]
        if each.recurring or each in beside or _is_clock_time(each, said):
            continue
        # Another date names the same day: "4 April 2026" beside "April 4".
        is_told = each.grain is Grain.DAY and days[_day_of_year(each)] > _names_a_day(each)
        if each.yearless and (
            is_told or not (completes_years and abs(each.first - anchor) <= _HALF_A_YEAR)
        ):
            dates.append(WrittenDate(said, each, has_year=False))
            continue
        written, behind = _written(text, each, said)
        dates.append(WrittenDate(written.removeprefix("on ").removeprefix("in "), each))
        pieces += [text[end : each.start], written]
        end = behind
    return WrittenDates("".join(pieces) + text[end:], tuple(dates))


def day_in_full(day: datetime, *, with_weekday: bool = False) -> str:
    """A day as memories write it: "March 18, 2026", "Wednesday, March 18, 2026"."""
    written = f"{day:%B} {day.day}, {day.year}"
    return f"{day:%A}, {written}" if with_weekday else written


def _names_a_day(each: NamedTime) -> bool:
    """Whether it is a day of the calendar, whenever that is said."""
    return each.grain is Grain.DAY and not each.relative


def _day_of_year(each: NamedTime) -> tuple[int, int]:
    return each.first.month, each.first.day


def _told_by_neighbours(text: str, found: Sequence[NamedTime]) -> set[NamedTime]:
    """What the time beside it explains, so that the anchor has no say in it.

    Bare weekdays in a row ("Monday, Wednesday and Friday") are those of every week; "14 May and
    3 June 2025" share a year; the weekday in "14 May 2025 (Wednesday)" is that of the date.
    """
    told: set[NamedTime] = set()
    for first, second in pairwise(found):
        between = text[first.end : second.start]
        bare = [
            bool(_BARE_WEEKDAY.fullmatch(text[each.start : each.end])) for each in (first, second)
        ]
        is_list = _LIST_JOINT.fullmatch(between) is not None
        if all(bare) and is_list:
            told |= {first, second}
        elif first.yearless and not second.relative and is_list:
            told.add(first)
        elif (
            bare[1]
            and not first.relative
            and first.grain <= Grain.DAY
            and first.first.weekday() == second.weekday
            and _ASIDE.fullmatch(between)
        ):
            told.add(second)
    return told


def _is_clock_time(each: NamedTime, said: str) -> bool:
    """Whether the words name an hour and no day."""
    if each.grain > Grain.HOUR:
        return False
    left = _CLOCK_TIME.sub("", _BARE_HOUR.sub("", said)).strip(" -–").lower()
    return left in {"", "at", "to", "and", "until", "from"} or left.isdigit()


def _written(text: str, each: NamedTime, said: str) -> tuple[str, int]:
    """The words to put in place of an expression, and where the text goes on behind them."""
    if not each.relative and (not each.yearless or _FULL_YEAR.search(said)):
        return said, each.end
    named = _named(each, said)
    before = _WORD_BEFORE.search(text[max(0, each.start - 30) : each.start])
    word = before.group(1).lower() if before else ""
    behind = text[each.end : each.end + 10]
    possessive = _POSSESSIVE_BEHIND.match(behind)
    if possessive and not _VERB_BEHIND.match(behind):
        article = "" if word == "the" else "the "
        return article + named, each.end + possessive.end()
    if word in _PREPOSITIONS or said.lower().startswith(("the ", "in ", "on ")):
        return (named.removeprefix("in ") if word in _PREPOSITIONS else named), each.end
    if _VERB_BEHIND.match(behind) or (word in {",", "("} and not each.relative):
        return named, each.end
    if named.startswith(("in ", "on ", "around ")):
        return named, each.end
    return ("on " if each.grain <= Grain.DAY else "in ") + named, each.end


def _named(each: NamedTime, said: str) -> str:
    last = each.last - timedelta(microseconds=1)
    if each.rough and each.yearless and not each.relative:
        return f"{said} {each.first.year}"
    if each.rough:
        middle = each.first + (each.last - each.first) / 2
        near = each.last - each.first <= timedelta(days=14)
        return "around " + (day_in_full(middle) if near else f"{middle:%B %Y}")
    if each.grain <= Grain.DAY:
        return _day_named(each, said, last)
    if each.grain in _NOUNS:
        return _NOUNS[each.grain] + day_in_full(each.first)
    if each.yearless:
        bare = said.removesuffix(" on")
        return f"{bare} {each.first.year}{said[len(bare) :]}"
    if each.grain is Grain.MONTH:
        return f"{each.first:%B %Y}"
    if each.grain is Grain.SEASON:
        season = said.split()[-1].lower()
        return f"{'autumn' if season == 'fall' else season} {each.first.year}"
    if each.grain is Grain.QUARTER:
        return f"Q{(each.first.month + 2) // 3} {each.first.year}"
    return str(each.first.year)


def _day_named(each: NamedTime, said: str, last: datetime) -> str:
    with_weekday = _WEEKDAY.search(said) is not None
    first = day_in_full(each.first, with_weekday=with_weekday)
    if each.grain is Grain.DAY and last.date() != each.first.date():
        joint = _JOINT.search(said)
        word = joint.group().lower() if joint else "to"
        if (last.year, last.month) == (each.first.year, each.first.month) and not with_weekday:
            return f"{each.first:%B} {each.first.day} {word} {last.day}, {last.year}"
        return f"{first} {word} {day_in_full(last, with_weekday=with_weekday)}"
    clock = _CLOCK_TIME.search(said) or _BARE_HOUR.search(said)
    part = _PART_OF_DAY.search(said)
    if part is not None:
        name = part.group().lower().removeprefix("to")
        first = f"in the {name} of {first}"
    return f"{first} {clock.group().strip()}" if clock else first
