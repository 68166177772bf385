"""Weekdays of a plan: what is done on them every week, though it does not say so of each day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ..language.syntax import has_verb
from ..language.tense import is_past
from ..language.words import MONTHS, PREPOSITIONS
from .date_expressions import WEEKDAY_NAME
from .recurring import DAY, WEEKLY

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


def _asks_for_week(*, question: str) -> bool:
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
    if not DAY.search(text) or _ONE_WEEK.search(text) or _ONCE.search(text):
        return False
    named = any(_PLANNED.search(each) and not _ONE_WEEK.search(each) for each in before)
    return _asks_for_week(question=question) or (named and bool(_BEGINS.match(text)))


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
    found = list(DAY.finditer(text))
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
    if any(cue.search(text) for cue in (_SAYS_SO, WEEKLY, _ASKS_REGULAR)):
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
