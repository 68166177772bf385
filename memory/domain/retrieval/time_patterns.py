"""Data: the words by which questions name a time, as regular expressions."""

from __future__ import annotations

import calendar
import re


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


MONTHS = {
    form: number
    for number, name in enumerate(calendar.month_name)
    if name
    for form in (name.lower(), name[:3].lower())
} | {"sept": 9}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_NUMBER_WORDS = (
    *("", "a an one", "two couple", "three few several", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "eleven", "twelve"),
)
NUMBERS = {word: number for number, words in enumerate(_NUMBER_WORDS) for word in words.split()}
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}

_MONTH = "|".join(MONTHS)
_NUMBER = rf"\d{{1,3}}|{'|'.join(NUMBERS)}"
_YEAR = r"(?:19|20)\d\d"
_ORDINAL = r"(?:st|nd|rd|th)?"

ISO = _pattern(rf"\b(?P<year>{_YEAR})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
DAY_MONTH = _pattern(
    rf"\b(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<name>{_MONTH})\b(?:,?\s+(?P<year>{_YEAR})\b)?"
)
MONTH_DAY = _pattern(
    rf"\b(?P<name>{_MONTH})\s+(?P<day>\d{{1,2}}){_ORDINAL}\b(?:,?\s+(?P<year>{_YEAR})\b)?"
)
MONTH_SPAN = _pattern(
    rf"\b(?:between|from)\s+(?P<name>{_MONTH})\s+(?:and|to|until|till|through)\s+(?P<last>{_MONTH})\b"
    rf"(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
LAST_MONTH_NAME = _pattern(rf"\blast\s+(?P<name>{_MONTH})\b")
MONTH_ONLY = _pattern(
    r"(?P<lead>\b(?:in|during|since|until|till|by|before|after|of|from|early|late|mid|this)\s+)?"
    rf"\b(?P<name>{_MONTH})\b(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
SEASON = _pattern(
    r"\b(?:(?P<lead>last|this|the|in|during)\s+)?(?P<season>spring|summer|autumn|winter|fall)\b"
    rf"(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
_UNIT = "day|week|fortnight|month|year"
_SPAN = (
    rf"(?:(?P<count>{_NUMBER})\s+(?:of\s+)?(?P<unit>{_UNIT})s?"
    r"|half\s+an?\s+(?P<half>month|year))"
)
AGO = _pattern(rf"\b{_SPAN}\s+(?:ago|back)\b")
AHEAD = _pattern(rf"\b(?:in|within)\s+{_SPAN}(?:['’]?\s+time)?(?=\s*(?:[?.!,;]|$))")
WEEKDAYS_AGO = _pattern(rf"\b(?P<count>{_NUMBER})\s+(?P<weekday>{'|'.join(WEEKDAYS)})s?\s+ago\b")
BEFORE_LAST = _pattern(r"\bthe\s+(?P<unit>weekend|week|month|year)\s+before\s+last\b")
PAST = _pattern(
    rf"\b(?:last|past|previous)\s+(?P<count>{_NUMBER})\s+(?P<unit>day|week|fortnight|month|year)s?\b"
)
RELATIVE = _pattern(
    r"\b(?P<which>last|past|previous|this|next|coming|following)\s+(?P<unit>weekend|week|month|year)\b"
)
LAST_WEEKDAY = _pattern(rf"\b(?:last|on|since)\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b")
NEXT_WEEKDAY = _pattern(
    rf"\b(?:next|this coming|coming|this)\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b"
)
NEIGHBOURS = frozenset({"yesterday", "last night", "tomorrow", "tomorrow night"})
NIGHTS = _pattern(
    r"\b(?:the day before yesterday|the day after tomorrow|yesterday|last night|tomorrow night"
    r"|tomorrow|today|tonight)\b"
)
NUMERIC = _pattern(
    rf"\b(?P<first>\d{{1,2}})(?P<mark>[./-])(?P<second>\d{{1,2}})(?P=mark)(?P<year>{_YEAR})\b"
)
ORDINALS = ("first", "second", "third", "fourth")
QUARTER = _pattern(
    rf"\b(?:Q(?P<number>[1-4])|the\s+(?P<ordinal>{'|'.join(ORDINALS)})\s+quarter)\b"
    rf"(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
# Month, day and how many days one means by it.
FEASTS = {
    "christmas": (12, 24, 3),
    "xmas": (12, 24, 3),
    "christmas eve": (12, 24, 1),
    "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1),
    "new year": (1, 1, 1),
    "new year's day": (1, 1, 1),
    "halloween": (10, 31, 1),
    "valentine's day": (2, 14, 1),
}
FEAST = _pattern(
    rf"\b(?P<name>{'|'.join(sorted((*FEASTS, 'easter'), key=len, reverse=True))})\b"
    rf"(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?".replace("'", "['’]")
)
# In front of "before" or "after": "the week before 3 May", "two days after Christmas".
OFFSET = _pattern(
    rf"\b(?:(?P<count>{_NUMBER})\s+|(?:the|last|next|on|in)\s+)*"
    rf"(?P<unit>{_UNIT}|weekend|{'|'.join(WEEKDAYS)})s?\s+$"
)
YEAR_ONLY = _pattern(
    rf"\b(?:in|during|since|until|by|before|after|of|from|year)\s+(?P<year>{_YEAR})\b"
)

# Words of a time that tell nothing by themselves, unlike the name of a month, a day or a feast.
_COUNTING = (
    "day days week weeks fortnight fortnights month months year years quarter",
    "half time ago back last past previous this next coming following before after since until",
    "till by between from to and in within during of the on today tonight yesterday tomorrow",
    "night now early late mid first second third fourth",
)
COUNTING = frozenset(NUMBERS) | {word for words in _COUNTING for word in words.split()}
