"""What comes round again: every week on its days, every month or year on its date.

Such a day has no date of its own, and giving it one would be an invention.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..language.syntax import has_verb, is_imperative
from ..language.tense import is_past
from ..language.words import MONTHS, WEEKDAYS
from .date_expressions import WEEKDAY_NAME
from .moments import Precision
from .monthly import falls_due_monthly
from .span_dates import Resolved

_COUNT = r"(?:(?:single|other|second|third|two|three|four|five|six|ten|\d{1,2})\s)?"
_OFTEN = r"(?:once|twice|(?:two|three|four|five|\d)\stimes)\s(?:a|per|every|each)\s"
_AS_ALWAYS = r"(?<!\bas\s)(?<!\blike\s)"
_OFTEN_DONE = (
    r"\b(?:always|usually|normally|typically|generally|regularly|traditionally|ordinarily)\b"
)
# "The usually quiet street" says nothing of what is done on the day.
_HABIT = (
    r"(?<!\bthe\s)(?<!\ba\s)(?<!\ban\s)(?<!\bthis\s)(?<!\bthat\s)(?<!\bmy\s)(?<!\bour\s)(?<!\bhis\s)"
    rf"(?<!\bher\s)(?<!\btheir\s)(?<!\bits\s)(?<!\byour\s){_OFTEN_DONE}"
    r"(?!\s(?:remember|forget|wanted|known|thought)\b)"
)
# "Paid monthly on", and not "the monthly ticket runs out on".
_ADVERB = r"(?=\s(?:on|in|by|at|from|around|every|each)\b|[,.;:]|$)"
WEEKLY = re.compile(
    rf"{_AS_ALWAYS}\b(?:(?:every|each)\s{_COUNT}(?:weeks?|fortnight)\b|{_OFTEN}week\b|"
    r"(?<!\bour\s)(?<!\bthe\s)(?<!\bmy\s)(?<!['’]s\s)weekly\b"
    r"(?!\s(?!(?:on|in|by|at|from|around|and|or|with|to)\b)[a-z])|fortnightly\b|"
    r"in\s(?:odd|even|alternate)\sweeks\b|in\s(?:winter|spring|summer|autumn)\b(?!\s\d))"
    rf"|{_AS_ALWAYS}{_HABIT}",
    re.IGNORECASE,
)
"""What says of a clause that it is so every week."""
# "On Sunday I never work"; but "he never came on Sunday" tells of one.
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
# "No mowing on Sunday"
_RULED = re.compile(r"(?:^|[:,;]\s)no\s[a-z]+ing(?:\s[a-z]+){0,2}\s(?:on\s)?$", re.IGNORECASE)
_MONTHLY = re.compile(
    rf"{_AS_ALWAYS}\b(?:(?:every|each)\s{_COUNT}(?:months?|quarters?)\b|{_OFTEN}(?:month|quarter)\b|"
    rf"(?:monthly|quarterly)\b{_ADVERB})|{_AS_ALWAYS}{_HABIT}",
    re.IGNORECASE,
)
_YEARLY = re.compile(
    rf"{_AS_ALWAYS}\b(?:(?:every|each)\s{_COUNT}(?:years?|spring|summer|autumn|fall|winter|season|"
    rf"{'|'.join(MONTHS)})\b|{_OFTEN}year\b|(?:annually|yearly)\b{_ADVERB}|year\s(?:after|by)\syear\b)"
    rf"|{_AS_ALWAYS}{_HABIT}",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:every|each)\s(?:the\s)?$", re.IGNORECASE)
_YEARLY_BEFORE = re.compile(
    r"(?:\b(?:birthdays?|anniversary|name\sday|jubilee)(?:['’]s|\s(?:is|are|was|falls|comes))?"
    r"(?:\s(?:always|already))?"
    r"|\bborn(?:\s[^.;]{1,40}?(?:,|\sand)(?:\s[\w’'-]+){1,4})?)\s(?:on\s)?(?:the\s)?$",
    re.IGNORECASE,
)
# "The fiscal year starts on 1 October", "the season runs from May to …": so every year.
_PERIOD = re.compile(
    r"\b(?:(?:fiscal|financial|tax|school|academic|business|budget|accounting|church)\s(?:year|calendar)"
    r"|(?:hunting|fishing|rainy|dry|wet|flu|hay\s?fever|pollen|growing|tourist|ski|mating|nesting|breeding|hurricane|harvest|asparagus|"
    r"strawberry|mushroom|berry|football|high|low|peak|off|monsoon)[\s-]season|monsoon|daylight\ssaving(?:s)?(?:\stime)?|summer\stime"
    r"|(?:independence|national|labou?r|republic|constitution|bastille|australia|canada|veterans|memorial|mother['’]?s|father['’]?s|women['’]?s|earth)['’]?s?\sday)\b"
    r"[^.;]{0,25}?\b(?:starts?|begins?|ends?|runs?|goes|opens?|closes?|finish(?:es)?|lasts?|falls|is|kicks\soff|comes)\s[^.;]{0,30}$",
    re.IGNORECASE,
)
_THIS_ONE = re.compile(
    r"\b(?:this|next|last|coming|new|current|upcoming|(?:19|20)\d\d)\b", re.IGNORECASE
)
_SUBJECT = (
    r"(?:(?:this\stime|now|then|today)\s)?(?:(?:I|we|he|she|they|it|you|the|my|our|his|her|their|"
    rf"this|there)\b|(?-i:(?!{WEEKDAY_NAME}|(?:{'|'.join(name.capitalize() for name in MONTHS)})\b)"
    r"[A-ZÀ-Þ]))"
)
_ENDS = re.compile(
    r"[.;!?]\s|\b(?:but|because|so|that|which|who|where|while|though|although|whereas)\b",
    re.IGNORECASE,
)
# ", who is always late," and "who usually waters the plants": of someone, and not of the day.
_ASIDE = re.compile(rf",\s(?:who|which|whose|where|{_OFTEN_DONE})[^,]*,\s", re.IGNORECASE)
_OF_SOMEONE = re.compile(rf"\b(?:who|which|that)\s{_OFTEN_DONE}\s\w+(?P<rest>.*)$", re.IGNORECASE)
_BREAK = re.compile(r"(?:,|\s[–—-]|\s(?:and|or))\s")
_JOINT = re.compile(rf"(?:,|,?\sand|,?\sor)\s(?={_SUBJECT})", re.IGNORECASE)
# "I swim every week and on 2 May I run": what is done on the date comes after it.
_ANEW_BEFORE = re.compile(r"(?:\band|,)\s(?:on\s)?(?:the\s)?$", re.IGNORECASE)
_ANEW_AFTER = re.compile(rf",?\s{_SUBJECT}", re.IGNORECASE)
# "The weekly call is on Monday", "we have a weekly call"; but "I host the weekly call on Monday".
_OF_KIND = re.compile(r"\b(?:bi-?)?weekly(?=\s(?!(?:and|or|with|to)\b)[a-z])", re.IGNORECASE)
_HELD = re.compile(
    r"(?:\b(?:have|has|holds?|do|does|is|are|gets?|runs?)|['’]s|['’]ve\sgot)\s"
    r"(?:(?:the|a|an|our|my|his|her|their|its)\s)?$",
    re.IGNORECASE,
)
# What is otherwise than always is so once.
_OTHERWISE = re.compile(r"\binstead\b(?!\sof\b)|\b(?:exceptionally|just\sonce)\b", re.IGNORECASE)
_ONE_OFF = re.compile(
    r"\b(?:because|instead|exceptionally|(?:due|owing|thanks)\sto|cancel\w*|calls?\soff|called\soff|"
    r"(?:falls?|drops?)\sout|skip\w*|miss(?:es|ed|ing)?|expires?|(?:runs?|ran)\sout|ends?|moved|moving|"
    r"postponed|rescheduled|pushed|shifted|switched|will|going\sto|not|no|without|earlier|later|early|"
    r"late|already)\b|n['’]t\b|['’]ll\b",
    re.IGNORECASE,
)
# "The weekly meeting was on Monday", "starts on Monday, every week": of one week only.
_MOVED = re.compile(
    r"\b(?:start(?:s|ed|ing)?|begin(?:s|ning)?|began|first|resum(?:e|es|ed)|moved|moves|postponed|rescheduled|pushed|shifted|brought|switched|changed)\b",
    re.I,
)
_ONE_WEEK_NOW = re.compile(
    r"\b(?:this|next|last)\s(?:time|week|month|year|spring|summer|autumn|fall|winter)\b", re.I
)
_DATES = frozenset({"md", "dm"})
_WITHIN_MONTH = frozenset({"th"})
_WITHIN_YEAR = frozenset({"md", "dm", "th", "mon", "part", "mspan", "feast", "nwd", "num", "eom"})

DAY = re.compile(
    rf"\b(?:{WEEKDAY_NAME}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))(?P<several>s?)\b(?!['’])",
    re.IGNORECASE,
)
"""A weekday by its name, whole or short; "several" where it has an s."""
_NO_HABIT_BEFORE = frozenset({"until", "till", "by", "from", "since", "before", "after", "next"})


def is_yearly(match: re.Match[str]) -> bool:
    """Whether a day comes round every year: a birthday, the fiscal year, or one said to."""
    before = match.string[max(0, match.start() - 70) : match.start()]
    if _YEARLY_BEFORE.search(before) or (match.lastgroup in _DATES and _EVERY.search(before)):
        return True
    period = _PERIOD.search(before)
    return (bool(period) and not _THIS_ONE.search(before)) or _said_with(_YEARLY, match)


def recurs(
    *, name: str, match: re.Match[str], past: bool, previous: str, is_listed: bool, weekly: bool
) -> bool:
    """Whether an expression of kind `name` names no single day.

    `past` says that its verb is past, `previous` is the word before it, `is_listed` says that it is
    one of several days of the week, `weekly` that its talk is of every week.
    """
    if name in {"wd", "wds"}:
        if any(match.groupdict().get(key) for key in ("wdrel", "wdw", "wdv", "wdsw", "wdsp")):
            return False
        if (is_listed or (weekly and not past)) and previous not in _NO_HABIT_BEFORE:
            return True
        of_kind = _OF_KIND.search(match.string, 0, match.start())
        if (past and of_kind) or _MOVED.search(match.string, 0, match.start()):
            return False
        if _OTHERWISE.search(match.string):
            return False
        if _RULED.search(match.string, 0, match.start()) or _said_with(WEEKLY, match):
            return True
        if of_kind or _OF_KIND.search(match.string, match.end()):
            return _is_held(match)
        return not past and not is_past(text=match.string) and _said_with(_NEVER, match)
    if name in _DATES:
        return False
    if name in _WITHIN_MONTH and (
        _said_with(_MONTHLY, match) or (not past and falls_due_monthly(match=match))
    ):
        return True
    return name in _WITHIN_YEAR and is_yearly(match)


def every_week(
    *, match: re.Match[str], today: date, previous: str, is_listed: bool, alone: bool
) -> Resolved | None:
    """A weekday of every week: "on Mondays", or as it was said where its sentence tells the rest.

    `previous` is the word before it, `is_listed` says that it is one of several, `alone` that its
    sentence does not tell that it comes round. None where it is to be left as it is.
    """
    day = None if match.groupdict().get("wds") else DAY.match(match.group())
    if day is None or match.string[match.end() : match.end() + 1] in {"'", "’"}:
        return None
    number = next(
        (at for at, name in enumerate(WEEKDAYS) if name[:2] == day.group()[:2].lower()), 0
    )
    ahead = today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)
    if is_listed or (previous != "on" and not alone):
        return match.group(), "", ahead, Precision.YEARLY
    name, part = WEEKDAYS[number].capitalize(), match.groupdict().get("wdp")
    if part in {"noon", "lunchtime"}:
        return f"{name}s at {part}", "on", ahead, Precision.YEARLY
    return f"{name} {part}s" if part else f"{name}s", "on", ahead, Precision.YEARLY


def _said_with(cue: re.Pattern[str], match: re.Match[str]) -> bool:
    """Whether the clause of a date says how often it comes round."""
    before, after = _clause(match)
    is_now = _ONE_WEEK_NOW.search(f"{before} … {after}")
    return bool(cue.search(before) or cue.search(after)) and not is_now


def _is_held(match: re.Match[str]) -> bool:
    """Whether what is weekly by its name ("the weekly call") is said to be on a weekday."""
    if _ONE_OFF.search(match.string) or _ONE_WEEK_NOW.search(match.string):
        return False
    for part in _clause(match):
        named = _OF_KIND.search(part)
        if named:
            lead = part[: named.start()]
            return bool(_HELD.search(lead)) or not has_verb(text=lead)
    return False


def _clause(match: re.Match[str]) -> tuple[str, str]:
    """What stands in the clause of a date before it and after it."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if _ANEW_BEFORE.search(before) and _ANEW_AFTER.match(after) and has_verb(text=before):
        before = ""
    before = _ASIDE.sub(" ", before)
    of_someone = _OF_SOMEONE.search(before)
    if of_someone and has_verb(text=of_someone["rest"]):
        before = of_someone["rest"]
    before = _ENDS.split(before)[-1]
    for joint in reversed(list(_BREAK.finditer(before))):
        rest = before[joint.end() :]
        begins = _JOINT.match(before, joint.start()) or (
            joint.group().strip(" ,–—-") == "" and is_imperative(text=rest)
        )
        if begins and has_verb(text=before[: joint.start()]):
            before = rest
            break
    after = _ENDS.split(after)[0]
    for joint in _JOINT.finditer(after):
        if has_verb(text=after[joint.end() :]):
            after = after[: joint.start()]
            break
    return before, after
