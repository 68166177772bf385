"""Numbers, days and times of day in one form, however they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .judging.reading.units import MONTHS, WEEKDAYS
from .number_words import ONES, ORDINALS, TENS

_DIGITS = re.compile(r"(?:0|[1-9]\d{0,2}(?:,\d{3}){1,4}|[1-9]\d{0,14})\Z", re.ASCII)
_PLACE = re.compile(r"([1-9]\d{0,3})(?:st|nd|rd|th)\Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)
_MONEY = re.compile(r"([$€])(\d[\d,.]*)\Z", re.ASCII)
_SHARE = re.compile(r"(\d[\d,.]*)%\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm)?\Z", re.ASCII)
# "5kg"; what else stands behind a number may be a part of a name ("5G", "3D", "H2O").
_MEASURE = re.compile(
    r"(\d[\d,.]*)(kg|g|mg|km|m|cm|mm|l|ml|lbs?|oz|ft|mph|km/h|h|hrs?|mins?|s|secs?|ms"
    r"|[kKMGT][bB]|[kmgt]b|k?[wW]|kWh|px)\Z",
    re.ASCII,
)
# So written, an hour is one of twenty-four: "10:00", "09:30", but not "9:30".
_OF_DAY = re.compile(r"(?:0\d|1\d|2[0-3]):[0-5]\d\Z", re.ASCII)
_NOON = 12
_NAMED_HOURS = {"noon": _NOON, "midnight": 0}
_HALVES = {"am": "am", "a.m": "am", "pm": "pm", "p.m": "pm"}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MONEY_WORDS = {"$": "dollars", "€": "euros"}
# No text holds these: the database takes no null character.
_DAY, _TIME, _ROW = "\0day ", "\0time ", "\0place "
_OPENERS = frozenset([*MONTHS, *WEEKDAYS, *ONES, *TENS, *ORDINALS, *_NAMED_HOURS])
_IN_FIGURES = frozenset(
    word.rstrip("s") for word in [*_OPENERS, *_SCALES, *_MONEY_WORDS.values(), "percent"]
)
# A month is also a verb or a name in small letters.
_ONLY_CAPITAL = frozenset(["may", "march", "mar", "dec"])


def figures_in_one_form(words: Sequence[str]) -> list[str]:
    """The words with each number in digits and each day, time and place in a row as one word.

    "Twenty-one" and "21", "5 %" and "5 percent", "5kg" and "5 kg", "the 15th of March" (without
    its article) and "March 15", "3 pm" and "15:00", "noon" and "12:00" become equal; a year stands
    behind its day. What is no plain figure stays as it is: "007", "3.10", "9:00" (of the morning
    or the evening), "3/4".
    """
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at].casefold()
        if word not in _OPENERS and word.isalpha():
            found.append(words[at])
            at += 1
            continue
        form, end = _day(words, at) or _time(words, at) or _figure(words, at)
        # "On March 15", "on Friday": the day alone says the same.
        is_day = form[0].startswith(_DAY) or word in WEEKDAYS
        if is_day and found and found[-1].casefold() == "on":
            found.pop()
        found += form
        at = end
    return found


def is_in_figures(word: str) -> bool:
    """Whether a casefolded word, its last s left away, may be written otherwise in one form."""
    return word in _IN_FIGURES


_Form = tuple[list[str], int]


def _figure(words: Sequence[str], at: int) -> _Form:
    """The number that begins there, or the word as it is."""
    word = words[at]
    money, share = _MONEY.match(word), _SHARE.match(word)
    if money:
        return [_digits(money[2]), _MONEY_WORDS[money[1]]], at + 1
    if share:
        return [_digits(share[1]), "percent"], at + 1
    measure = _MEASURE.match(word)
    if measure:
        return [_digits(measure[1]), measure[2]], at + 1
    if word == "%":
        return ["percent"], at + 1
    number = _number(words, at)
    if number is not None:
        return [str(number[0])], number[1]
    place = _place(word)
    return [word if place is None else f"{_ROW}{place}"], at + 1


def _digits(text: str) -> str:
    return text.replace(",", "") if _DIGITS.match(text) else text


def _number(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """A whole number in digits or words, with where it ends: "2,000", "two hundred and five"."""
    value, end = _below_hundred(words, at)
    if value is None:
        return None
    if value and _word(words, end) == "hundred" and value < 10:
        value, end = value * 100, end + 1
        start = end + (_word(words, end) == "and")
        rest, rest_end = _below_hundred(words, start)
        if rest is not None and rest < 100 and not words[start][0].isdigit():
            value, end = value + rest, rest_end
    scale = _word(words, end)
    if value and scale in _SCALES:
        value, end = value * _SCALES[scale], end + 1
    return value, end


def _below_hundred(words: Sequence[str], at: int) -> tuple[int | None, int]:
    """A number in digits, of any size, or one of at most two words."""
    word = _word(words, at)
    if _DIGITS.match(word):
        return int(word.replace(",", "")), at + 1
    ten, _, one = word.partition("-")
    if word in ONES:
        return ONES[word], at + 1
    if ten not in TENS:
        return None, at
    if one:
        return (TENS[ten] + ONES[one], at + 1) if 0 < ONES.get(one, 0) < 10 else (None, at)
    following = ONES.get(_word(words, at + 1), 0)
    return (TENS[ten] + following, at + 2) if 0 < following < 10 else (TENS[ten], at + 1)


def _place(word: str) -> int | None:
    """The number of a place in a row: "15th", "fifteenth", "twenty-first"."""
    lower = word.casefold()
    match = _PLACE.match(lower)
    if match:
        return int(match[1])
    ten, _, one = lower.partition("-")
    if ten in TENS and 0 < ORDINALS.get(one, 0) < 10:
        return TENS[ten] + ORDINALS[one]
    return ORDINALS.get(lower)


def _day(words: Sequence[str], at: int) -> _Form | None:
    """A day of the year, in either order, and the year of one in digits."""
    match = _ISO.match(words[at])
    if match and 1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31:
        return [f"{_DAY}{int(match[2])}-{int(match[3])}", match[1]], at + 1
    month = _month(words, at)
    if month:
        day, end = _day_number(words, at + 1)
        return ([f"{_DAY}{month}-{day}"], end) if day else None
    day, end = _day_number(words, at)
    if not day:
        return None
    month_at = end + (_word(words, end) == "of")
    month = _month(words, month_at)
    return ([f"{_DAY}{month}-{day}"], month_at + 1) if month else None


def _month(words: Sequence[str], at: int) -> int:
    word = _word(words, at)
    if word in _ONLY_CAPITAL and words[at].islower():
        return 0
    return MONTHS.get(word, 0)


def _day_number(words: Sequence[str], at: int) -> tuple[int, int]:
    """The day of a month with where it ends, 0 for none."""
    if at >= len(words):
        return 0, at
    # A second is rarely a day before "of", as in "a second of May's calls".
    place = _place(words[at])
    if place is not None:
        return (place, at + 1) if place <= 31 else (0, at)
    number = _below_hundred(words, at)
    return (number[0], number[1]) if number[0] and number[0] <= 31 else (0, at)


def _time(words: Sequence[str], at: int) -> _Form | None:
    """A time that tells its half of the day: "3 pm", "3:30pm", "15:30"."""
    word = words[at].casefold()
    if word in _NAMED_HOURS:
        return [f"{_TIME}{60 * _NAMED_HOURS[word]}"], at + 1
    match = _CLOCK.match(word)
    if match is None:
        return None
    hour, minute, half, end = int(match[1]), int(match[2] or 0), match[3], at + 1
    if half is None and _word(words, end) in _HALVES:
        half, end = _HALVES[_word(words, end)], end + 1
    if half is None and hour == _NOON and match[2] is None and _word(words, end) in _NAMED_HOURS:
        # "12 noon".
        return _time(words, end)
    if half is not None:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + _NOON * (half == "pm")
    elif not _OF_DAY.match(word):
        return None
    return ([f"{_TIME}{60 * hour + minute}"], end) if minute < 60 else None


def _word(words: Sequence[str], at: int) -> str:
    return words[at].casefold() if at < len(words) else ""
