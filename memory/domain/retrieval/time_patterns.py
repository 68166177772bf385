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
    *("nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
    *("seventeen", "eighteen", "nineteen", "twenty"),
)
NUMBERS = {word: number for number, words in enumerate(_NUMBER_WORDS) for word in words.split()}
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365, "decade": 3652}

_MONTH = "|".join(MONTHS)
_NUMBER = rf"\d{{1,3}}|{'|'.join(NUMBERS)}"
_YEAR = r"(?:19|20)\d\d"
_SHORT_OR_YEAR = rf"{_YEAR}|['’]\d\d"
_ORDINAL = r"(?:st|nd|rd|th)?"

ISO = _pattern(rf"\b(?P<year>{_YEAR})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
DAY_MONTH = _pattern(
    rf"\b(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<name>{_MONTH})\b\.?(?:,?\s+(?P<year>{_SHORT_OR_YEAR})\b)?"
)
MONTH_DAY = _pattern(
    rf"\b(?P<name>{_MONTH})\.?\s+(?P<day>\d{{1,2}}){_ORDINAL}\b(?:,?\s+(?P<year>{_SHORT_OR_YEAR})\b)?"
)
MONTH_SPAN = _pattern(
    rf"\b(?:between|from)\s+(?P<name>{_MONTH})\s+(?:and|to|until|till|through)\s+(?P<last>{_MONTH})\b"
    rf"(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
MONTH_OF_YEAR = _pattern(rf"\b(?P<month>0?[1-9]|1[0-2])/(?P<year>{_YEAR})\b")
DAY_SLASH_MONTH = _pattern(
    r"(?<=\b(?:on|by) )(?P<first>\d{1,2})(?P<mark>/)(?P<second>\d{1,2})(?P<year>)(?![\w/])"
)
DAY_OF_MONTH = _pattern(r"\bon\s+the\s+(?P<day>\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[?.!,;]|$))")
DECADE = _pattern(
    r"(?:\b(?P<lead>in|during|since|from)\s+)?\bthe\s+(?:(?P<part>early|mid|late)[\s-]+)?"
    r"(?:(?P<year>(?:19|20)\d0)['’]?s|(?P<sign>['’])?(?P<short>\d0)s"
    r"|(?P<word>twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties))\b"
)
DECADE_WORDS = {
    word: 20 + 10 * place
    for place, word in enumerate(
        [
            "twenties",
            "thirties",
            "forties",
            "fifties",
            "sixties",
            "seventies",
            "eighties",
            "nineties",
        ]
    )
}
SHORT_YEAR = _pattern(r"\b(?:in|of|since|during|before|after|until|by)\s+['’](?P<year>\d\d)\b")
HALF = _pattern(rf"\bH(?P<number>[12])\b(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?")
ISO_WEEK = _pattern(
    rf"\b(?:(?P<sure>calendar\s+week|CW|KW)|week)\s+(?P<week>\d{{1,2}})\b"
    rf"(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?(?!\s+of\b)"
)
TURN_OF_YEAR = _pattern(r"\b(?:at|around|over)\s+the\s+turn\s+of\s+the\s+year\b")
LAST_MONTH_NAME = _pattern(rf"\blast\s+(?P<name>{_MONTH})\b")
MONTH_ONLY = _pattern(
    r"(?P<lead>\b(?:in|during|since|until|till|by|before|after|of|from|this|around"
    r"|(?P<part>early|late|mid)(?=[\s-]))[\s-]+)?"
    rf"\b(?P<name>{_MONTH})\b\.?(?:,?\s+(?:of\s+)?(?P<year>{_SHORT_OR_YEAR})\b)?"
)
SEASON = _pattern(
    r"\b(?:(?P<lead>last|this|next|the|in|during|that)\s+)?(?P<season>spring|summer|autumn|winter|fall)\b"
    r"(?:\s+(?:holidays?|break|vacation|term|semester|season)\b)?"
    rf"(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
SEASONS_AGO = _pattern(
    rf"\b(?P<count>{_NUMBER})\s+(?P<season>spring|summer|autumn|winter|fall)s\s+(?:ago|back)\b"
)
_UNIT = "day|week|fortnight|month|year|decade"
_SPAN = (
    rf"(?:(?P<count>{_NUMBER})\s+(?:of\s+)?(?P<unit>{_UNIT})s?"
    r"|half\s+an?\s+(?P<half>month|year))"
)
AGO = _pattern(rf"\b{_SPAN}\s+(?:ago|back)\b")
# "A year ago today", "today two weeks ago", "a week from tomorrow": that very day.
_THIS_DAY = r"(?:on\s+)?this\s+(?:very\s+|same\s+)?day"
DAY_AGO = _pattern(
    rf"\b(?:(?P<lead>today|yesterday|tomorrow|{_THIS_DAY}),?\s+)?{_SPAN}\s+(?:ago|back)"
    rf"(?(lead)|,?\s+(?P<day>today|yesterday|tomorrow|to\s+the\s+day|{_THIS_DAY}))\b"
)
DAY_LAST = _pattern(
    rf"\b(?P<lead>today|{_THIS_DAY})\s+last\s+(?P<unit>week|month|year)\b(?P<count>)(?P<day>)"
)
DAY_AHEAD = _pattern(rf"\b{_SPAN}\s+from\s+(?P<day>today|tomorrow)\b(?P<lead>)")
MOMENTS_AGO = _pattern(
    rf"\b(?:(?P<count>{_NUMBER}|half\s+an?)\s+(?:of\s+)?)(?P<unit>second|minute|hour)s?\s+ago\b"
)
LAST_HOURS = _pattern(
    r"\b(?:last|past|previous)\s+(?:(?P<count>\d{1,3}|few|couple\s+of|two|three)\s+)?hours?\b"
)
OTHER_DAY = _pattern(r"\bthe\s+other\s+(?P<unit>day|night|evening|morning|week|month)\b")
SAME_TIME = _pattern(
    r"\b(?:(?:at|around|about)\s+)?this\s+(?:same\s+)?time\s+last\s+(?P<unit>week|month|year)\b"
)
AHEAD = _pattern(rf"\b(?:in|within)\s+{_SPAN}(?:['’]?\s+time)?(?=\s*(?:[?.!,;]|$))")
WEEKDAYS_AGO = _pattern(rf"\b(?P<count>{_NUMBER})\s+(?P<weekday>{'|'.join(WEEKDAYS)})s?\s+ago\b")
BEFORE_LAST = _pattern(r"\bthe\s+(?P<unit>weekend|week|month|year)\s+before\s+last\b")
PAST = _pattern(
    rf"\b(?:(?:last|previous|past)\s+(?P<count>{_NUMBER})\s+(?:of\s+)?|past\s+)"
    rf"(?P<unit>{_UNIT})s?\b"
)
RELATIVE = _pattern(
    r"\b(?P<which>last|past|previous|this|next|coming|following)\s+(?P<unit>weekend|week|month|year)\b"
)
_THIS_UNIT = r"(?P<unit>weekend|week|month|year)"
PART_OF_THIS = _pattern(
    rf"\b(?P<part>start|beginning|middle|end)\s+of\s+(?:the|this)\s+{_THIS_UNIT}\b"
)
THE_WEEKEND = _pattern(r"\b(?:at|over|on|during|for)\s+the\s+weekend\b(?!\s+(?:of|before|after)\b)")
_DAYS = "|".join(WEEKDAYS)
WEEKDAY_OF_WEEK = _pattern(
    rf"\b(?:(?P<first>{_DAYS})\s+(?:of\s+)?(?P<which>last|this|next)\s+week"
    rf"|(?P<after>last|this|next)\s+week(?:['’]s|\s+on|,)?\s+(?P<second>{_DAYS}))\b"
)
LAST_WEEKDAY = _pattern(rf"\b(?:last|on|since|after|between|from)\s+(?P<weekday>{_DAYS})\b")
BARE_WEEKDAY = _pattern(
    rf"\b(?P<weekday>{_DAYS})(?:\s+(?:morning|afternoon|evening|night))?(?=\s*[?.!]*\s*$)"
)
NEXT_WEEKDAY = _pattern(
    rf"\b(?:next|this coming|coming|this|for|by|until|till|before)\s+(?P<weekday>{_DAYS})\b"
)
NEIGHBOURS = frozenset({"yesterday", "last night", "tomorrow", "tomorrow night"})
NIGHTS = _pattern(
    r"\b(?:the day before yesterday|the night before last|the day after tomorrow|yesterday"
    r"|last night|tomorrow night|tomorrow|today|tonight|this (?:morning|afternoon|evening))\b"
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
    "midsummer": (6, 20, 7),
}
MOVABLE = ("easter", "good friday", "thanksgiving", "pentecost")
FEAST = _pattern(
    rf"\b(?:(?P<lead>last)\s+)?"
    rf"(?P<name>{'|'.join(sorted((*FEASTS, *MOVABLE), key=len, reverse=True))})\b"
    rf"(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?".replace("'", "['’]")
)
# In front of a time, which part of it is meant: "the end of last month", "the first week of May".
# The "of" may belong to the time: "of May".
PART = _pattern(
    r"\b(?:(?:(?:the\s+)?(?:(?P<edge>start|beginning|middle|end)"
    rf"|(?P<nth>first|second|third|fourth|last)\s+(?P<unit>half|week|weekend|{_DAYS})"
    r"|(?P<whole>week|weekend|night|morning|evening)|(?P<date>\d{1,2})(?:st|nd|rd|th)))(?P<of>\s+(?:of|in))?\s+(?:the\s+)?"
    r"|(?P<third>early|late|mid)(?:\s+(?:in\s+)?|-)(?:the\s+)?"
    r"|(?P<side>earlier|later|so\s+far)\s+)$"
)
# Between two times that are one: "March last year", "last year in June".
TOGETHER = _pattern(r"[\s,]*(?:\b(?:in|of|on|the)\s+)*$")
# In front of "before" or "after": "the week before 3 May", "two days after Christmas".
OFFSET = _pattern(
    rf"\b(?:(?P<count>{_NUMBER})\s+|(?:the|last|next|on|in)\s+)*"
    rf"(?P<unit>{_UNIT}|weekend|{'|'.join(WEEKDAYS)})s?\s+$"
)
YEAR_ONLY = _pattern(
    rf"\b(?:in|during|since|until|by|before|after|of|from|year|around"
    rf"|(?P<part>early|late|mid)(?=[\s-]))[\s-]+(?P<year>{_YEAR})\b"
)

# Words of a time that tell nothing by themselves, unlike the name of a month, a day or a feast.
_COUNTING = (
    "day days week weeks fortnight fortnights month months year years quarter",
    "half time ago back last past previous this next coming following before after since until",
    "till by between from to and in within during of the on today tonight yesterday tomorrow",
    "night now early late mid first second third fourth start beginning middle end earlier later",
    "other same around decade decades hour hours minute minutes",
)
COUNTING = frozenset(NUMBERS) | {word for words in _COUNTING for word in words.split()}
