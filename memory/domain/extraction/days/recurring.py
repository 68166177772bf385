"""What comes round again: every week on its days, every month or year on its date.

Such a day has no date of its own, and giving it one would be an invention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

from ..language.syntax import has_verb, is_imperative
from ..language.tense import is_past
from ..language.words import MONTHS, PREPOSITIONS, WEEKDAYS
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
_WEEKLY = re.compile(
    rf"{_AS_ALWAYS}\b(?:(?:every|each)\s{_COUNT}(?:weeks?|fortnight)\b|{_OFTEN}week\b|"
    r"(?<!\bour\s)(?<!\bthe\s)(?<!\bmy\s)(?<!['’]s\s)weekly\b"
    r"(?!\s(?!(?:on|in|by|at|from|around|and|or|with|to)\b)[a-z])|fortnightly\b|"
    r"in\s(?:odd|even|alternate)\sweeks\b|in\s(?:winter|spring|summer|autumn)\b(?!\s\d))"
    rf"|{_AS_ALWAYS}{_HABIT}",
    re.IGNORECASE,
)
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

_DAY = re.compile(
    rf"\b(?:{WEEKDAY_NAME}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))(?P<several>s?)\b(?!['’])",
    re.IGNORECASE,
)
_SHORT_DAY = re.compile(r"\b(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b")
_FEW = 3
_PLANNED = re.compile(
    r"\b(?:rota|roster|timetable|routine|rotation|curriculum|(?:opening|office|surgery|consulting|"
    r"working|visiting)\shours|(?:training|workout|gym|exercise|running|fitness|meal|dinner|lunch|"
    r"menu|food|cleaning|chores?|shift|duty|work|study|class|lessons?|school|weekly|watering|bins?|"
    r"feeding|practice|rehearsal|course|teaching|delivery|collection|household|kitchen|week)\s"
    r"(?:plan|schedule|split|calendar|programme|program)|"
    r"(?:normal|typical|usual|regular|ordinary|average|standard)\s(?:\w+\s)?week|"
    r"(?:group|club|choir|band|orchestra|class|course|circle)\s(?:meets|trains|rehearses|practi[sc]es))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:which|what)\s(?:days|day\sof\sthe\sweek|weekdays?)\s(?:do|does|are|is)\b"
    r"|\bweek\s(?:usually\s|normally\s)?looks?\slike\b|\bhow\soften\b|\bwhen\s(?:do|does|are|is)\s[^?]{2,30}?"
    r"\b(?:usually|normally|always|typically|generally)\b",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"(?:\w+[,.!]\s)?(?:and\s|so\s)?(?:what|how\s(?:is|does)|tell\sme)\b", re.IGNORECASE
)
_ONE_WEEK = re.compile(
    r"(?<!\bfrom\s)(?<!\bsince\s)\b(?:this|next|last|past|coming|following)\s(?:coming\s)?(?:week|weekend|\w+day)\b"
    r"|\b(?:today|tonight|tomorrow|yesterday|will|going\sto|gonna|due|deadline|trip|holiday|vacation)\b|['’]ll\b"
    rf"|\d(?:st|nd|rd|th)\b|\b\d{{1,2}}\s(?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(MONTHS)})\s\d{{1,2}}\b",
    re.IGNORECASE,
)
# What says of several days of the week that they come round.
_SAYS_SO = re.compile(
    r"\b(?:every|each)\s(?:\w+\s)?(?:day|week|weekday|morning|evening)\b|\b(?:my|our|his|her|their)\sweek\b|"
    r"\bschedule\b",
    re.IGNORECASE,
)
# A present that is of every week in itself: "Kim cooks on Monday", "yoga is Tuesday".
_TASK = (
    r"(?:work|cook|bake|open|close|train|teach|coach|swim|jog|run|box|climb|dance|sing|practi[sc]e|"
    r"rehearse|exercise|clean|iron)"
)
_PASTIME = (
    r"(?:yoga|pilates|zumba|judo|karate|boxing|swimming|football|soccer|tennis|hockey|basketball|handball|"
    r"volleyball|badminton|gymnastics|ballet|dance|dancing|pottery|piano|violin|guitar|drums|chess|scouts|"
    r"choir|orchestra|band|gym|cardio|training|practice|rehearsals?|lessons?|class(?:es)?)"
)
_REGULAR = re.compile(
    rf"\b(?:(?:I|we|you|they|who)\s{_TASK}|{_TASK}e?s|(?:is|are)\sopen|"
    rf"{_PASTIME}(?:\s(?:is|are))?|(?:bins?|recycling|rubbish|trash|garbage)\s(?:goe?s?\sout|(?:is|are)\scollected))"
    r"(?:\s(?:from|at|in)\s(?:the\s)?\w+)?\s(?:on\s)?$",
    re.IGNORECASE,
)
_ASKS_REGULAR = re.compile(rf"\bwhen\s(?:do|does)\s(?:\w+\s){{1,3}}{_TASK}\b", re.IGNORECASE)
_JOINED = re.compile(
    r"(?:\s\w+)?(?:,|,?\s(?:and|or|to|until|till)|\s?[–-])\s?(?:on\s)?", re.IGNORECASE
)
_HEADS = re.compile(r"(?:^|[,:;–—-]\s|\band\s)$", re.IGNORECASE)
_HEADED = re.compile(
    r":?\s(?:(?:morning|afternoon|evening|night)\s)?(?!and\b|or\b)(?P<first>\w+)[^,;]*",
    re.IGNORECASE,
)
_CAUSED = re.compile(
    r"\b(?:because|so|since|instead|cancel\w*|moved|only|off\ssick|ill|sick|strikes?|(?:due|owing)\sto)\b",
    re.IGNORECASE,
)
# What is done once on its day, however many such days are named.
_ONCE = re.compile(
    r"\b(?:fl(?:y|ies|ying|ights?)|land(?:s|ing)?|arriv(?:e|es|ing|al)|leav(?:e|es|ing)|depart\w*|appointments?|dentist|"
    r"interviews?|exams?|tests?|funeral|wedding|party|concert|viewings?|launch\w*|kick-?off|release|conference|"
    r"mov(?:e|es|ing)|handover|inspection|visit(?:s|ing)?|meet\s(?:with\s)?(?:the|[A-Z]))\b",
    re.IGNORECASE,
)
_TRAVELS = re.compile(rf"\b(?:in|to|from)\s(?!{WEEKDAY_NAME})[A-ZÀ-Þ][a-zà-ÿ]+")
_BEGINS = re.compile(
    rf"(?:on\s)?(?:{WEEKDAY_NAME}|(?-i:Mon|Tue|Wed|Thu|Fri|Sat|Sun))\b", re.IGNORECASE
)
_NO_HABIT_BEFORE = frozenset({"until", "till", "by", "from", "since", "before", "after", "next"})


def asks_for_week(*, question: str) -> bool:
    """Whether the days that answer a question come round every week."""
    asked = _ASKS.search(question) or (_WHAT.match(question) and _PLANNED.search(question))
    return bool(asked) and not _ONE_WEEK.search(question)


def of_every_week(*, text: str, before: Sequence[str], question: str) -> bool:
    """Whether the weekdays of a sentence come round though it does not say so.

    It opens with one after a sentence of the same message that names a rota or the like (`before`),
    or it answers a `question` for such days.
    """
    if "day" not in text and not _SHORT_DAY.search(text):
        return False
    if not _DAY.search(text) or _ONE_WEEK.search(text) or _ONCE.search(text):
        return False
    named = any(_PLANNED.search(each) and not _ONE_WEEK.search(each) for each in before)
    return asks_for_week(question=question) or (named and bool(_BEGINS.match(text)))


# A sentence is asked for it by each step that could take it apart.
@lru_cache(maxsize=512)
def is_weekly_list(*, text: str) -> bool:
    """Whether a sentence gives several weekdays what is done on them every week.

    "Monday legs, Tuesday swimming, Thursday rest" does, and two days of a rota, or three of what is
    regular in itself ("Kim cooks on Monday, …"). Without such a sign they are days of one week, and
    so are a journey, several appointments and what was done.
    """
    if text.count("day") < 2 and not _SHORT_DAY.search(text):
        return False
    found = list(_DAY.finditer(text))
    days = {each.group()[:2].lower() for each in found}
    if len(days) < 2:
        return False
    is_planned = any(each["several"] for each in found) or _PLANNED.search(text)
    if not is_planned and (len(days) < _FEW or not _is_regular(text, found)):
        return False
    if _ONE_WEEK.search(text) or _ONCE.search(text) or len(_TRAVELS.findall(text)) > 1:
        return False
    heading = text.rfind(": ", 0, found[0].start())
    return not is_past(text=text[heading + 1 :].strip())


def _is_regular(text: str, found: Sequence[re.Match[str]]) -> bool:
    """Whether the days `found` in a sentence are said to come round, or are the heads of a plan."""
    if any(cue.search(text) for cue in (_SAYS_SO, _WEEKLY, _ASKS_REGULAR)):
        return True
    if _CAUSED.search(text):
        return False
    if all(_heads_what_is_done(text, day) for day in found):
        return True
    between = [text[day.end() : then.start()] for day, then in pairwise(found)]
    are_joined = all(_JOINED.fullmatch(each) for each in between)
    regular = [bool(_REGULAR.search(text, 0, day.start())) for day in found]
    if are_joined:
        return regular[0]
    # "Kim opens on Monday, Lars on Tuesday": one verb, or each day what is regular.
    return sum(regular) > 1 or (regular[0] and not any(has_verb(text=each) for each in between))


def _heads_what_is_done(text: str, day: re.Match[str]) -> bool:
    """Whether a day stands bare before what is done on it: "Tuesday swimming"."""
    headed = _HEADED.match(text, day.end())
    if headed is None or not _HEADS.search(text, 0, day.start()):
        return False
    done = headed.group().strip(": ")
    return headed["first"].lower() not in PREPOSITIONS and not has_verb(text=done)


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
        if _RULED.search(match.string, 0, match.start()) or _said_with(_WEEKLY, match):
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
    day = None if match.groupdict().get("wds") else _DAY.match(match.group())
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
