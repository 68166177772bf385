"""Relative and partial dates in a sentence, written out against the time of its message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from ..language.verbs import THIRD, is_finite
from ..language.words import word_set, words_of
from .date_expressions import DATE_EXPRESSION
from .day_spans import is_span
from .moments import FoundDate, Precision
from .one_date import day_of, meant_by
from .span_dates import Resolved
from .week_plans import is_weekly_list

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
    starting than during in at as or early late mid next last this is was every each
    """
)
_OF_YEAR = re.compile(r"(?:\sof|,)?\s(?P<which>this|next|last)\syear\b(?!['’])", re.IGNORECASE)
# "Next week we …", "this week: …"
_OPENS_WEEK = re.compile(r"(?:^|[:;]\s|\band\s)(?:in\s)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dated:
    """A sentence with its dates written absolutely, and what they are."""

    text: str
    dates: tuple[FoundDate, ...]


def resolve_dates(
    *, text: str, today: date, past: bool, said_before: str = "", weekly: bool = False
) -> Dated:
    """The sentence with its dates absolute; `past` says which way a bare weekday points.

    `said_before` is the sentence that it goes on from, which lends a past date its year; `weekly`
    says that its weekdays are those of every week, as of a rota. What is vague stays vague but is
    anchored ("last autumn" becomes "autumn 2025"), what comes round names no single day, and
    anything that names no real date is left as it is.
    """
    if not _MAY_NAME_ONE.search(text):
        return Dated(text, ())
    found: list[FoundDate] = []
    pieces: list[str] = []
    end = 0
    week: date | None = None
    for match in DATE_EXPRESSION.finditer(text):
        if match.start() < end:
            continue
        is_listed = is_weekly_list(text=text)
        resolved = day_of(
            match=match,
            today=today,
            past=past,
            said_before=said_before,
            is_listed=is_listed,
            weekly=weekly,
        )
        if resolved is None:
            continue
        if match.group("span") and _OPENS_WEEK.search(text[: match.start()]):
            is_week = match.group("sunit").lower() == "week"
            week = resolved[2] - timedelta(days=resolved[2].weekday() + 1) if is_week else None
        elif week and match.group("wdn") and resolved[3] is Precision.RELATIVE:
            # "Next week Ana is away on Monday": of that week.
            is_bare = not any(match.group(key) for key in ("wdrel", "wdw", "wdv"))
            resolved = (
                meant_by(name="wd", match=match, today=week) if is_bare else None
            ) or resolved
        named = {each.day.day: each.day for each in found}
        if match.group("th") and resolved[2].day in named:
            # "From the 31st to the 2nd, the 31st is a Saturday": the day that was just named.
            resolved = meant_by(name="th", match=match, today=named[resolved[2].day]) or resolved
        elif found and _follows(match, resolved, found[-1].day, past):
            resolved = meant_by(name="th", match=match, today=found[-1].day) or resolved
        elif found and is_span(text=text, start=end, end=match.start()):
            resolved = _not_before(found[-1].day, match, resolved)
        stop = match.end()
        of_year = _OF_YEAR.match(text, stop) if match.group("md") or match.group("dm") else None
        if of_year and resolved[3] is not Precision.YEARLY:
            said = _in_year(match, of_year, today)
            resolved, stop = (said, of_year.end()) if said else (resolved, stop)
        wording, preposition, day, precision = resolved
        before = words_of(text[max(0, match.start() - 16) : match.start()])
        start = match.start()
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


def _in_year(match: re.Match[str], said: re.Match[str], today: date) -> Resolved | None:
    """ "On 16 May next year": the day in the year that is `said` after it, or None."""
    key = "md" if match.group("md") else "dm"
    if match.group(key + "y") or match.group(key + "r"):
        return None
    step = {"next": 1, "last": -1}.get(said.group("which").lower(), 0)
    return meant_by(name=key, match=match, today=date(today.year + step, 1, 1))


def _not_before(start: date, match: re.Match[str], resolved: Resolved) -> Resolved:
    """The end of a span: not before the day on which it began."""
    name = next((key for key in ("md", "dm") if match.group(key)), "")
    for base in (start, start + timedelta(days=365)):
        if name and resolved[2] < start:
            resolved = meant_by(name=name, match=match, today=base) or resolved
    return resolved


def _follows(match: re.Match[str], resolved: Resolved, before: date, past: bool) -> bool:
    """ "On the 3rd and back on the 10th": a bare day of the month lies after the one before it."""
    return bool(match.group("th")) and not past and resolved[2] < before


def _is_verb(word: str) -> bool:
    return not word.endswith("'s") and (word in THIRD or is_finite(word=word))
