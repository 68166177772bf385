"""Relative and partial dates in a sentence, written out against the time of its message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from .date_expressions import DATE_EXPRESSION, WEEKDAY_NAME
from .date_resolvers import RESOLVERS
from .moments import FoundDate
from .span_dates import Resolved
from .tense import is_past
from .verbs import BASES, THIRD, UNMARKED, is_finite, is_past_form
from .words import DETERMINERS, word_set, words_of

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
    "easter whit good black ash palm cyber"
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


def resolve_dates(*, text: str, today: date, past: bool) -> Dated:
    """The sentence with its dates absolute; `past` says which way a bare weekday points.

    What is vague stays vague but is anchored ("last autumn" becomes "autumn 2025"), and anything
    that names no real date is left as it is.
    """
    if not _MAY_NAME_ONE.search(text):
        return Dated(text, ())
    found: list[FoundDate] = []
    pieces: list[str] = []
    end = 0
    for match in DATE_EXPRESSION.finditer(text):
        if match.start() < end:
            continue
        resolved = _resolve(match, text, today, past)
        if resolved is None:
            continue
        if found and _follows(match, resolved, found[-1].day, past):
            resolved = RESOLVERS["th"](match, found[-1].day, False) or resolved
        wording, preposition, day, precision = resolved
        before = words_of(text[max(0, match.start() - 16) : match.start()])
        start = match.start()
        stop = match.end()
        if text[stop : stop + 2] in {"'s", "’s"}:
            stop += 2
            preposition = "" if before and before[-1] == "the" else "the"
        elif before and before[-1] in _KEEPS_PREPOSITION:
            preposition = ""
            if before[-1] == "on" and wording[:1].islower() and wording.startswith("the "):
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


def _resolve(match: re.Match[str], text: str, today: date, past: bool) -> Resolved | None:
    before = words_of(text[max(0, match.start() - 12) : match.start()])
    previous = before[-1] if before else ""
    group = match.lastgroup or ""
    name = next((key for key in RESOLVERS if match.group(key)), group)
    if not _ANSWERED.search(text[: match.start()]):
        past = _local_tense(text[: match.start()], past)
    if past and _OPENS_CLAUSE.search(text[: match.start()]):
        past = is_past(text=text[match.end() :].lstrip(" ,"))
    past = past or (name == "wd" and previous == "since")
    moved = previous == "to" and bool(_MOVED.search(text[: match.start()]))
    if moved:
        past = False
    if name == "ahead" and previous == "every":
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
    try:
        found = RESOLVERS[name](match, today, past)
        if (
            found
            and found[2] < today
            and name in {"md", "dm"}
            and not match.group(name + "y")
            and _AHEAD.search(text[: match.start()])
        ):
            # What starts, opens or is due on a date still lies ahead.
            next_year = found[2].replace(year=found[2].year + 1)
            return RESOLVERS[name](match, next_year, False)
        return found
    except (ValueError, OverflowError):
        return None


def _follows(match: re.Match[str], resolved: Resolved, before: date, past: bool) -> bool:
    """ "On the 3rd and back on the 10th": a bare day of the month lies after the one before it."""
    return bool(match.group("th")) and not past and resolved[2] < before


def _is_verb(word: str) -> bool:
    return word in THIRD or is_finite(word=word)


def _local_tense(before: str, past: bool) -> bool:
    """The tense of the nearest finite verb before a date, else of the whole sentence."""
    words = words_of(before[-80:])
    for index in range(len(words) - 1, -1, -1):
        word = words[index]
        if index and is_past_form(word=word) and words[index - 1] in _PRESENT_PASSIVE:
            return False
        if (
            index
            and words[index - 1] in _SUBJECTS
            and (
                word in THIRD
                or (
                    word in BASES
                    and word not in UNMARKED
                    and words[index - 1] not in {"he", "she", "it"}
                )
            )
        ):
            return False
        if word in THIRD and _named_before(before, word):
            return False
        if word in _SCHEDULED and (not index or words[index - 1] not in DETERMINERS):
            return False
        if is_past_form(word=word) and _WILL_HAVE.search(
            " ".join(words[max(0, index - 8) : index])
        ):
            return False
        if word in _PAST_AUXILIARIES or is_past_form(word=word):
            return True
        if word == "to" and index + 1 < len(words) and words[index + 1] in BASES:
            return False
        if word in _PRESENT_AUXILIARIES or word.endswith("'ll"):
            return False
    return past


def _named_before(text: str, verb: str) -> bool:
    """ "Tarek drives": a name carries the verb, which is no plural then."""
    return bool(re.search(rf"[A-ZÀ-Þ][\w'’-]+\s(?:\w+ly\s)?{re.escape(verb)}\b", text))


# "she'll have the export fixed by the 27th"
_WILL_HAVE = re.compile(r"(?:'ll|\bwill|\bgoing\sto)\s(?:have|get|be)\b")
# The tense of an answer is not that of the words that say so.
_ANSWERED = re.compile(r"\banswered: [^.]{0,20}$")
# "They raised prices, so as of 1 May we …": the verb that counts comes after the date.
_OPENS_CLAUSE = re.compile(
    r"[,;:]\s(?:(?:so|and|but)\s)?(?:as\sof|from|starting|by|until|till)\s(?:the\s)?$",
    re.IGNORECASE,
)
_SCHEDULED = word_set(
    "starts begins opens reopens ends closes expires launches arrives leaves joins comes returns "
    "retires takes goes runs moves"
)
_SUBJECTS = frozenset({"i", "we", "you", "they", "he", "she", "it", "who", "which"})
_PRESENT_PASSIVE = frozenset({"be", "is", "are", "get", "gets", "being"})
_PAST_AUXILIARIES = word_set("was were did had been born didn't wasn't")
_PRESENT_AUXILIARIES = word_set("will is are must has have can should won't shall")
