"""Relative and partial dates in a sentence, written out against the time of its message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from ..language.tense import is_past
from ..language.verbs import THIRD, is_finite
from ..language.words import word_set, words_of
from .arranged import is_day_meant, was_meant
from .date_expressions import DATE_EXPRESSION, WEEKDAY_NAME
from .date_resolvers import RESOLVERS
from .date_tense import is_past_at
from .day_spans import first_day_of_span, is_span
from .moments import FoundDate
from .named_years import in_named_year
from .span_dates import Resolved

# Every date expression holds a figure or one of these; most sentences hold none.
_MAY_NAME_ONE = re.compile(
    r"\d|day|night|eve\b|fortnight|week|eenth\b|ieth\b|(?:twenty|thirty)[\s-]|\b(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b|halloween|valentine|morr|week|month|year|quarter|spring|summer|autumn|fall|winter|morn|noon|evening"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b",
    re.IGNORECASE,
)
_KEEPS_PREPOSITION = word_set(
    """
    on by until till since from before after for of to around about due between and through
    starting than during in at as or early late mid next last this is was
    """
)
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
    r"(?:[\w-]+\s){0,2}day\b",
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


@dataclass(frozen=True, slots=True)
class Dated:
    """A sentence with its dates written absolutely, and what they are."""

    text: str
    dates: tuple[FoundDate, ...]


def resolve_dates(*, text: str, today: date, past: bool, said_before: str = "") -> Dated:
    """The sentence with its dates absolute; `past` says which way a bare weekday points.

    `said_before` is the sentence that it goes on from, which lends a past date its year. What is
    vague stays vague but is anchored ("last autumn" becomes "autumn 2025"), and anything that names
    no real date is left as it is.
    """
    if not _MAY_NAME_ONE.search(text):
        return Dated(text, ())
    found: list[FoundDate] = []
    pieces: list[str] = []
    end = 0
    for match in DATE_EXPRESSION.finditer(text):
        if match.start() < end:
            continue
        resolved = _resolve(match, text, today, past, said_before)
        if resolved is None:
            continue
        named = {each.day.day: each.day for each in found}
        if match.group("th") and resolved[2].day in named:
            # "From the 31st to the 2nd, the 31st is a Saturday": the day that was just named.
            resolved = _meant("th", match, named[resolved[2].day], False) or resolved
        elif found and _follows(match, resolved, found[-1].day, past):
            resolved = _meant("th", match, found[-1].day, False) or resolved
        elif found and is_span(text=text, start=end, end=match.start()):
            resolved = _not_before(found[-1].day, match, resolved)
        wording, preposition, day, precision = resolved
        before = words_of(text[max(0, match.start() - 16) : match.start()])
        start = match.start()
        stop = match.end()
        if text[stop : stop + 2] in {"'s", "’s"}:
            stop += 2
            preposition = "" if before and before[-1] == "the" else "the"
        elif before and (
            before[-1] in _KEEPS_PREPOSITION or (before[-1] == "the" and wording[:1].isupper())
        ):
            preposition = ""
        phrase = f"{preposition} {wording}".strip()
        following = words_of(text[stop : stop + 24])
        if start == 0 and following and preposition in {"on", "in"} and _is_verb(following[0]):
            phrase = wording
            preposition = ""
        if start == 0:
            phrase = phrase[:1].upper() + phrase[1:]
            if preposition in {"on", "in"} and text[stop : stop + 1] == " ":
                phrase += ","
        pieces += [text[end:start], phrase]
        end = stop
        found.append(FoundDate(day, precision, wording))
    pieces.append(text[end:])
    return Dated("".join(pieces), tuple(found))


def _resolve(
    match: re.Match[str], text: str, today: date, past: bool, said_before: str
) -> Resolved | None:
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
    if name == "ahead" and previous == "every":
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
    if name in {"md", "dm"} and not match.group(name + "y"):
        begins = first_day_of_span(match=match, today=today, past=past)
        if begins:
            return _meant(name, match, begins, False)
    found = _meant(name, match, today, past)
    if found and past and name in _WITHOUT_YEAR and not match.groupdict().get(name + "y"):
        begun = in_named_year(match=match, found=found, today=today, before=said_before)
        counted = begun and _meant(name, match, begun, False)
        if begun and counted:
            return counted if counted[2] >= begun else _meant(name, match, begun + _YEAR, False)
    if (
        past
        and name in _MAY_LIE_AHEAD
        and (
            is_day_meant(before=text[: match.start()])
            or was_meant(before=text[: match.start()], after=text[match.end() :])
        )
    ):
        ahead = _meant(name, match, today, False)
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
        return _meant(name, match, found[2] + timedelta(days=365), False)
    return found


def _meant(name: str, match: re.Match[str], today: date, past: bool) -> Resolved | None:
    """What an expression means against a day; None where there is no such day."""
    try:
        return RESOLVERS[name](match, today, past)
    except (LookupError, ValueError, OverflowError):
        return None


def _is_near(name: str, match: re.Match[str], today: date) -> bool:
    """Whether the day ahead is meant where the verb leaves it open: "we quit on June 30"."""
    ahead, behind = _meant(name, match, today, False), _meant(name, match, today, True)
    if ahead is None or name == "wd" or not today <= ahead[2] <= today + _NEAR:
        return False
    return behind is None or ahead[2] - today <= today - behind[2]


def _not_before(start: date, match: re.Match[str], resolved: Resolved) -> Resolved:
    """The end of a span: not before the day on which it began."""
    name = next((key for key in ("md", "dm") if match.group(key)), "")
    for base in (start, start + timedelta(days=365)):
        if name and resolved[2] < start:
            resolved = _meant(name, match, base, False) or resolved
    return resolved


def _follows(match: re.Match[str], resolved: Resolved, before: date, past: bool) -> bool:
    """ "On the 3rd and back on the 10th": a bare day of the month lies after the one before it."""
    return bool(match.group("th")) and not past and resolved[2] < before


def _is_verb(word: str) -> bool:
    return not word.endswith("'s") and (word in THIRD or is_finite(word=word))


# The tense of an answer is not that of the words that say so.
_ANSWERED = re.compile(r"\banswered: [^.]{0,20}$")
# "They raised prices, so as of 1 May we …": the verb that counts comes after the date.
_OPENS_CLAUSE = re.compile(
    r"[,;:]\s(?:(?:so|and|but)\s)?(?:as\sof|from|starting|by|until|till)\s(?:the\s)?$",
    re.IGNORECASE,
)
_WITHOUT_YEAR = frozenset({"mon", "md", "dm", "part"})
_YEAR = timedelta(days=365)
_MAY_LIE_AHEAD = frozenset({"wd", "mon", "md", "dm", "part", "th", "num"})
# "We put it up in June": said in May it tells a plan, said in September what was done.
_NEAR = timedelta(days=60)
_UP_TO = frozenset({"until", "till"})
_SINCE_THEN = frozenset({"wd", "mon", "md", "dm", "part", "th"})
_VERSION_BEFORE = re.compile(
    r"(?:^|(?<!on)(?<!by)(?<!until)(?<!till)(?<!from)(?<!since)(?<!before)(?<!after)(?<!due)|"
    r"\b(?:is|are|was|be|runs?|stays?|remains?)\s(?:\w+\s)?on)\s$",
    re.IGNORECASE,
)
