"""Patterns of the words that times are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory.domain.text.calendar import (
    HOLIDAYS,
    HOURS,
    MONTHS,
    PARTS_OF_DAY,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEKDAYS,
    Grain,
)
from memory.domain.text.words import ONES, ORDINALS, QUANTIFIERS, STOP_WORDS, TENS, word_set

LEADS = word_set(
    """
    in on during since until till by before after of from around early late mid this last next
    between for to past through
    """
)
NO_DAY_BEFORE = word_set("a an any some most black palm ash cyber")
NEAR_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
WHICH = {
    "last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "following": 1,
}  # fmt: skip
# How long ago "the other day" may be, in days, at least and at most.
OTHER = {"day": (1, 14), "night": (1, 14), "week": (4, 28), "month": (20, 90)}
THIRDS = {"early": 0, "start": 0, "beginning": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
GRAINS = {"weekend": Grain.WEEKEND} | {unit: grain for unit, (grain, _) in UNITS.items()}
MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
DECADES = {tens.removesuffix("y") + "ies": value for tens, value in TENS.items()}


def any_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


YEAR = r"(?:19|20)\d\d(?!\d)"
TAIL = rf"(?:(?:,? of|,)? ?(?P<year>{YEAR})(?!:)|,? ?['’](?P<short>\d\d)(?!\d))?"
MONTH = rf"(?P<month>{any_of(MONTHS)})(?!\w)\.?"
DAY_WORD = rf"(?:(?:twenty|thirty)-)?{any_of(ORDINALS)}"
DAY_NUMBER = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?![\w%]|[:.,/]\d)|{DAY_WORD}\b)"
DAYS = rf"(?P<day>{DAY_NUMBER})(?:(?: ?[-–] ?| (?:to|until|till|through) )(?P<last>{DAY_NUMBER}))?"
TENS_WORD = rf"{any_of(TENS)}(?:-{any_of(ONES)})?"
NUMBER = rf"(?:\d{{1,4}}|{TENS_WORD}|{any_of(ONES)})"
COUNT = (
    rf"(?P<count>half an?|an?(?: {any_of(QUANTIFIERS)})?|{any_of(QUANTIFIERS)}|{NUMBER})(?: of)?"
)
UNIT = rf"(?P<unit>{any_of([*UNITS, *HOURS])})s?\b"
WEEKDAY = any_of(WEEKDAYS)
SHORT = "(?-i:" + any_of(day.title() for day in SHORT_WEEKDAYS) + r")(?!['’\w]|-(?!\d|[A-Z]))"
HOLIDAY = any_of(name.replace(" ", "(?:['’]s)? ") for name in HOLIDAYS) + r"(?:['’]s)?(?!\w)"
PERIOD = any_of(["week", "weekend", "month", "quarter", "year", "decade"])
NO_NOUN = rf"(?! ?(?!{any_of(STOP_WORDS)}\b)[^\W\d_])"
HOUR = (
    r"(?:(?:at|around) )?(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?"
    r"(?: ?(?P<half>[ap])(?:m\b|\.m\.?)| o['’]clock)"
    r"|(?P<hour24>\d{1,2}):(?P<minute24>[0-5]\d)(?::\d\d)?(?!:?\d)|(?P<part>noon|midday|midnight)\b"
)


def pattern(*parts: str) -> re.Pattern[str]:
    """Compiles the parts of a pattern, in which a space stands for some white space."""
    spaced = "".join(parts).replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")
    return re.compile(spaced, re.IGNORECASE)


HOUR_ALONE = pattern(rf"(?<![\w.:/$-]){HOUR})")
HOUR_OF_DAY = pattern(
    rf"(?:,? |T){HOUR}|(?:in the )?(?P<partly>{any_of(PARTS_OF_DAY)})\b"
    rf"|(?:at|around) (?P<full>\d{{1,2}})(?![\w%€$£/:.]*\w){NO_NOUN})"
)  # fmt: skip
RANGE = pattern(r" ?[-–] ?| (?:to|until|till|through|(?P<both>and)) ")
ONWARDS = pattern(r" on(?:wards?)?\b")
JOINT = pattern(r",? (?:(?:in|of|on) )?")
# Between an hour and its day, and between a weekday and its date.
TO_DAY = pattern(r"(?:,| on)? ")
TO_DATE = pattern(r"[,.]? ")
NUMBER_NEXT = re.compile(r"[\s,-]*\d|-")
THE = pattern(r"the (?!the\b)")
THE_PRESENT = pattern(rf"the (?P<unit>{PERIOD})\b")
SIDE = re.compile(
    r"\b(?:(?P<since>since|starting|effective|as\s+of)|(?P<before>before|prior\s+to|ahead\s+of)"
    r"|(?P<until>until|till|by|(?:leading\s+)?up\s+to)|(?P<after>after|following))"
    r"(?:\s+the)?\s+$",
    re.IGNORECASE,
)
# "What are you up to today?" is no end of a time.
DOING = re.compile(
    r"(?:\b(?:am|is|are|was|were|be|been|being|get|gets|got|i|you|he|she|it|we|they)|['’](?:s|m|re)"
    r"|(?-i:\b[A-Z]\w*))\s+up\s+to\s+$",
    re.IGNORECASE,
)
WORD_BEFORE = re.compile(r"([^\W\d_]+|\d|['’])[\s-]*$")
THE_BEFORE = re.compile(r"\bthe\s+$", re.IGNORECASE)
OPENERS = word_set(
    """
    the half in every each at around noon midday midnight so earlier later cw kw calendar q h
    evening
    """
)
STARTS = pattern(
    r"(?<![^\W\d_])(?=['’]?\d|"
    + any_of(
        OPENERS.union(
            *(MONTHS, WEEKDAYS, SHORT_WEEKDAYS, SEASONS, UNITS, HOURS, ONES, TENS, ORDINALS),
            *(QUANTIFIERS, NEAR_DAYS, WHICH, THIRDS, DECADES),
            (name.split()[0] for name in HOLIDAYS),
        )
    )
    + ")"
)
