"""The day that one date expression names, by the words and the verb around it."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..language.tense import is_past
from ..language.words import word_set, words_of
from .arranged import is_day_meant, was_meant
from .date_expressions import WEEKDAY_NAME
from .date_resolvers import RESOLVERS
from .date_tense import is_past_at
from .day_spans import first_day_of_span
from .named_years import in_named_year
from .recurring import every_week, recurs
from .span_dates import Resolved

_NOT_A_DATE_BEFORE = word_set(
    "second other third first fourth every each a any per another most to through "
    "easter whit good black ash palm cyber advent"
)


# "for a normal Sunday": any such day.
_ANY_DAY = re.compile(r"\b(?:an?|any|every|each|most|some)\s[a-z]+\s$", re.IGNORECASE)
_MOVED = re.compile(
    r"\b(?:moved|moves|postponed|rescheduled|pushed|shifted|brought|changed|back|delayed|"
    r"switched)\b[^.;]{0,30}$",
    re.IGNORECASE,
)


_HABITUAL_DAY = re.compile(
    r"\s(?:is|are)\s(?:(?:my|our|his|her|their|the|a|always|usually|"
    r"(?:the\s)?[\w-]+['’]s)\s)+"
    r"(?!(?:last|first|big|final|next)\b|launch|release|wedding|moving)"
    r"(?:[\w-]+\s){0,2}day\b"
    # "Friday is for the lab"
    r"|\s(?:is|are)\s(?:always\s|usually\s)?for\s",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"(?:\b(?:starts|begins|opens|reopens|ends|closes|expires|launches|will|due|deadline|runs|"
    r"arrives|leaves|joins|retires|moves|comes|going\sto|takes\splace|happens|planned|"
    r"scheduled|(?:we|they|i|you)\s(?:start|begin|open|launch|leave|move|close|meet))|['’]ll)\s"
    r"(?:(?!\b(?:was|were|did|had|since|until)\b)[\w'’-]+\s){0,6}?"
    r"(?:(?:until|till)\s)?(?:on\s|by\s|from\s|for\s|at\s)?(?:the\s)?$",
    re.IGNORECASE,
)
# The tense of an answer is not that of the words that say so.
_ANSWERED = re.compile(r"\banswered: [^.]{0,20}$")
# "They raised prices, so as of 1 May we …": the verb that counts comes after the date.
_OPENS_CLAUSE = re.compile(
    r"[,;:]\s(?:(?:so|and|but)\s)?(?:as\sof|from|starting|by|until|till)\s(?:the\s)?$",
    re.IGNORECASE,
)
_WITHOUT_YEAR = frozenset({"mon", "md", "dm", "part"})
_YEAR = timedelta(days=365)
_MAY_LIE_AHEAD = frozenset({"wd", "mon", "md", "dm", "part", "th", "num", "feast"})
# "We put it up in June": said in May it tells a plan, said in September what was done.
_NEAR = timedelta(days=60)
_UP_TO = frozenset({"until", "till"})
_SINCE_THEN = frozenset({"wd", "mon", "md", "dm", "part", "th"})
_VERSION_BEFORE = re.compile(
    r"(?:^|(?<!on)(?<!by)(?<!until)(?<!till)(?<!from)(?<!since)(?<!before)(?<!after)(?<!due)|"
    r"\b(?:is|are|was|be|runs?|stays?|remains?)\s(?:\w+\s)?on)\s$",
    re.IGNORECASE,
)


def day_of(
    *,
    match: re.Match[str],
    today: date,
    past: bool,
    said_before: str,
    is_listed: bool,
    weekly: bool,
) -> Resolved | None:
    """What a date expression names where it stands, or None where it is to be left as it is.

    `past` is the tense of its sentence and `said_before` the sentence that it goes on from;
    `is_listed` says that it is one of several days of the week, `weekly` that its talk is of every
    week.
    """
    text = match.string
    before = words_of(text[max(0, match.start() - 12) : match.start()])
    previous = before[-1] if before else ""
    group = match.lastgroup or ""
    name = next((key for key in RESOLVERS if match.group(key)), group)
    if not _ANSWERED.search(text[: match.start()]):
        told = is_past_at(before=text[: match.start()], past=past)
        past = not _is_near(name, match, today) if told is None else told
    if past and _OPENS_CLAUSE.search(text[: match.start()]):
        past = is_past(text=text[match.end() :].lstrip(" ,"))
    past = past or (name in _SINCE_THEN and previous == "since")
    moved = previous == "to" and bool(_MOVED.search(text[: match.start()]))
    if moved:
        past = False
    if name in {"ahead", "off"} and previous in {"every", "each"}:
        return None
    if (
        name == "num"
        and not text[match.end() :].strip()
        and _VERSION_BEFORE.search(text[: match.start()])
    ):
        # "Production runs on 7.2." is a version and a full stop.
        return None
    if (
        name == "wd"
        and not moved
        and (
            previous in _NOT_A_DATE_BEFORE
            or _ANY_DAY.search(text[max(0, match.start() - 24) : match.start()])
            or (previous == "the" and re.match(r"\s[a-z]", text[match.end() :]))
            or re.match(
                r"\s?(?:to|through|–|-|and|or)\s?" + WEEKDAY_NAME, text[match.end() :], re.I
            )
        )
    ):
        return None
    if name == "wd" and not match.start() and _HABITUAL_DAY.match(text[match.end() :]):
        return None
    if recurs(
        name=name, match=match, past=past, previous=previous, is_listed=is_listed, weekly=weekly
    ):
        if name != "wd":
            return None
        return every_week(
            match=match, today=today, previous=previous, is_listed=is_listed, alone=weekly
        )
    if name in {"md", "dm"} and not match.group(name + "y"):
        begins = first_day_of_span(match=match, today=today, past=past)
        if begins:
            return meant_by(name=name, match=match, today=begins)
    found = meant_by(name=name, match=match, today=today, past=past)
    if found and past and name in _WITHOUT_YEAR and not match.groupdict().get(name + "y"):
        begun = in_named_year(match=match, found=found, today=today, before=said_before)
        counted = begun and meant_by(name=name, match=match, today=begun)
        if begun and counted:
            return (
                counted
                if counted[2] >= begun
                else meant_by(name=name, match=match, today=begun + _YEAR)
            )
    if (
        past
        and name in _MAY_LIE_AHEAD
        and (
            is_day_meant(before=text[: match.start()])
            or was_meant(before=text[: match.start()], after=text[match.end() :])
        )
    ):
        ahead = meant_by(name=name, match=match, today=today)
        if found and ahead and (name == "wd" or ahead[2] - today < today - found[2]):
            return ahead
    if (
        found
        and found[2] < today
        and name in {"md", "dm"}
        and not match.group(name + "y")
        and not past
        and (previous in _UP_TO or _AHEAD.search(text[: match.start()]))
    ):
        # What starts, opens or is due on a date still lies ahead.
        return meant_by(name=name, match=match, today=found[2] + timedelta(days=365))
    return found


def meant_by(
    *, name: str, match: re.Match[str], today: date, past: bool = False
) -> Resolved | None:
    """What an expression of kind `name` means against a day; None where there is no such day."""
    try:
        return RESOLVERS[name](match, today, past)
    except (LookupError, ValueError, OverflowError):
        return None


def _is_near(name: str, match: re.Match[str], today: date) -> bool:
    """Whether the day ahead is meant where the verb leaves it open: "we quit on June 30"."""
    ahead, behind = (
        meant_by(name=name, match=match, today=today),
        meant_by(name=name, match=match, today=today, past=True),
    )
    if ahead is None or name == "wd" or not today <= ahead[2] <= today + _NEAR:
        return False
    return behind is None or ahead[2] - today <= today - behind[2]
